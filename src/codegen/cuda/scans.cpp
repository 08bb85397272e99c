// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/scans.cpp — running combinations along an axis. Where the layout allows it they are
// made in registers (register_scans.cpp), else here, over operands and results in shared memory.
// Where there are fewer lines than threads, several threads share a line: each combines its own
// stretch, learns from lanes and warps what comes before it, and goes over its stretch once more.
// Where there are many lines, a thread has whole ones for itself.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/cuda/emitter.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

struct Emitter::ScanShape {
  int axis_low = 0;     // the axis' first bit in an index
  int log_stretch = 0;  // elements of a thread
  int log_threads = 0;  // threads of a line
  int log_lines = 0;
  int bits = 0;  // of an index
  bool is_reverse = false;

  int workers() const { return 1 << (log_threads + log_lines); }
  // From the number within a stretch and that of the thread to an element.
  IndexMap place() const {
    const int threads = log_stretch + log_threads;  // first bit of the line in the space
    const int above = log_lines - axis_low;
    IndexMap map = run_map(bits, bits,
                           {{0, axis_low, threads},
                            {threads, 0, axis_low},
                            {threads + axis_low, axis_low + threads, above}});
    if (is_reverse) map.offset = ((std::uint64_t{1} << threads) - 1) << axis_low;
    return map;
  }
};

void Emitter::emit_scan(const Step& step) {
  const ir::Op& op = *step.op;
  if (const ScanPlan* plan = layouts_.scan_plan_of(op)) return emit_register_scan(step, *plan);
  for (ir::Value result : op.results) declare_array(result);
  note_line(op.location);
  Frame anywhere{.step = &step};
  synchronize(anywhere, reads_of(kernel_, schedule_, step, op.operands), op.results);
  const ir::Type& type = kernel_.type(op.operands[0]);
  const int axis = static_cast<int>(op.integer("axis"));
  const int length = type.log_sizes[static_cast<std::size_t>(axis)];
  ScanShape shape{.axis_low = first_bit(sizes_of(type), axis),
                  .log_lines = bits_of_type(type) - length,
                  .bits = bits_of_type(type),
                  .is_reverse = op.integer("reverse") != 0};
  const int log_threads = std::countr_zero(static_cast<unsigned>(threads_));
  shape.log_threads = std::clamp(log_threads - shape.log_lines, 0, length);
  shape.log_stretch = length - shape.log_threads;
  parts_.insert("scan");
  const std::string type_name = group_type(op);
  const std::string lambda = combine_lambda(op, type_name);
  if (shape.log_threads > 0) emit_shared_lines(step, shape, type_name, lambda);
  else emit_own_lines(step, shape, type_name, lambda);
  // The threads that hold the elements are others than those that wrote them.
  barrier();
}

// The elements of a thread's stretch one after the other; `first` is what `running` starts with.
void Emitter::scan_stretch(const Step& step, const ScanShape& shape, const StretchText& text) {
  const ir::Op& op = *step.op;
  const std::string at = names_.make("at");
  Frame frame{.step = &step};
  frame.space.variables = {{at, shape.log_stretch}, {text.worker, shape.bits - shape.log_stretch}};
  frame.place = shape.place();
  out_.line(shape.log_stretch <= 4 ? "#pragma unroll" : "#pragma unroll 1");
  out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", at, 1 << shape.log_stretch));
  std::vector<std::string> values;
  for (ir::Value operand : op.operands)
    values.push_back(bare(element(frame, operand, frame.place)));
  const std::string x = names_.make("x");
  out_.format(
      "const {} {} = {};", text.type, x,
      values.size() == 1 ? values[0] : fmt::format("{}{{{}}}", text.type, fmt::join(values, ", ")));
  const std::string first =
      text.before.empty()
          ? x
          : fmt::format("{0} ? {1}({2}, {3}) : {3}", text.has_before, text.combine, text.before, x);
  if (shape.log_stretch == 0) out_.format("{} = {};", text.running, first);
  else
    out_.format("{0} = {1} > 0 ? {2}({0}, {3}) : {4};", text.running, at, text.combine, x,
                text.before.empty() ? first : "(" + first + ")");
  if (text.keeps)
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const std::string index = shared_index(frame, op.results[i], frame.place);
      out_.format("{}{}[{}] = {}{};", text.owner, array_name(op.results[i]), index, text.running,
                  op.results.size() == 1 ? "" : fmt::format(".v{}", i));
    }
  out_.close();
}

void Emitter::emit_shared_lines(const Step& step, const ScanShape& shape, const std::string& type,
                                const std::string& lambda) {
  StretchText text{.type = type, .combine = lambda, .worker = "thread"};
  if (shape.workers() < threads_) {
    text.worker = names_.make("worker");
    out_.format("const int {} = thread % {};", text.worker, shape.workers());
    text.owner = fmt::format("if (thread < {}) ", shape.workers());
  }
  text.running = names_.make("running");
  out_.format("{} {} = {{}};", type, text.running);
  scan_stretch(step, shape, text);
  text.before = names_.make("before");
  text.has_before = names_.make("has_before");
  const int lanes = std::min(1 << shape.log_threads, lanes_);
  const int warps = std::max((1 << shape.log_threads) / lanes_, 1);
  std::string slots = fmt::format("static_cast<{}*>(nullptr)", type);
  if (warps > 1) {
    slots = names_.make(text.running + "_slots");
    shared_.add(slots, type, threads_ / lanes_, scratch_of(*step.op), loop_depth_ > 0);
    if (shared_.write_needs_barrier(slots)) barrier();
  }
  out_.format("{} {};", type, text.before);
  if (warps > 1) show_written();
  out_.format("const bool {} = tw::scan_before<{}, {}>({}, {}, {}, {});", text.has_before, lanes,
              warps, text.running, text.before, slots, lambda);
  if (warps > 1) {
    shared_.note_barrier();
    global_.note_barrier();
    shared_.note_read(slots);
    for (ir::Value result : step.op->results) shared_.note_write(array_name(result));
  }
  text.keeps = true;
  scan_stretch(step, shape, text);
}

void Emitter::emit_own_lines(const Step& step, const ScanShape& shape, const std::string& type,
                             const std::string& lambda) {
  StretchText text{.type = type, .combine = lambda, .worker = names_.make("line")};
  out_.open(fmt::format("for (int {0} = thread; {0} < {1}; {0} += {2})", text.worker,
                        1 << shape.log_lines, threads_));
  text.running = names_.make("running");
  out_.format("{} {} = {{}};", type, text.running);
  text.keeps = true;
  scan_stretch(step, shape, text);
  out_.close();
}

}  // namespace tilewright
