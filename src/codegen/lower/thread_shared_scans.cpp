// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_shared_scans.cpp — scans of more elements than registers hold, over operands
// and results in shared memory. Where there are fewer lines than threads, several threads share a
// line: each combines its own stretch, learns from lanes and warps what comes before it, and goes
// over its stretch once more. Where there are many lines, a thread has whole ones for itself.
#include <algorithm>

#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

struct ThreadScans::ScanShape {
  int axis_low = 0;     // the axis' first bit in an index
  int log_stretch = 0;  // elements of a thread
  int log_threads = 0;  // threads of a line
  int log_lines = 0;
  int bits = 0;  // of an index
  bool is_reverse = false;

  std::int64_t workers() const { return std::int64_t{1} << (log_threads + log_lines); }
  // From the number within a stretch and that of the thread to an element.
  IndexMap place() const {
    const int along = log_stretch + log_threads;  // first bit of the line in the space
    IndexMap map = run_map(bits, bits,
                           {{0, axis_low, along},
                            {along, 0, axis_low},
                            {along + axis_low, axis_low + along, log_lines - axis_low}});
    if (is_reverse) map.offset = ((std::uint64_t{1} << along) - 1) << axis_low;
    return map;
  }
};

// One walk over a thread's part of a line.
struct ThreadScans::Stretch {
  const Reduction& running;
  std::vector<SpaceVariable> variables;  // behind the number within the stretch
  std::vector<ir::Value> values;         // of these
  const Reduction* before = nullptr;     // what its first element is added to,
  ir::Value has_before = {};             // where it holds
  bool keeps = false;
  ir::Value owner = {};                  // who keeps; none: everyone
};

void ThreadScans::scan_shared(const Step& step) {
  for (const ir::Value result : step.op->results) declare(result);
  const ScanShape shape = scan_shape(*step.op);
  if (shape.log_threads > 0) shared_lines(step, shape);
  else own_lines(step, shape);
}

ThreadScans::ScanShape ThreadScans::scan_shape(const ir::Op& op) const {
  const Type& type = kernel_.type(op.operands[0]);
  const int axis = static_cast<int>(op.integer("axis"));
  const int length = type.log_sizes[static_cast<std::size_t>(axis)];
  ScanShape out{.axis_low = first_bit(sizes_of(type), axis),
                .log_lines = bits_of_type(type) - length,
                .bits = bits_of_type(type),
                .is_reverse = op.integer("reverse") != 0};
  out.log_threads = std::clamp(log_threads() - out.log_lines, 0, length);
  out.log_stretch = length - out.log_threads;
  return out;
}

// A variable for each operand.
ThreadScans::Reduction ThreadScans::begin_running(const ir::Op& op, const char* name,
                                                  const std::string& type) {
  Reduction out{.op = &op, .name = names_.make(name), .type = type};
  if (op.operands.size() > 1) {
    out.totals = families().reductions.make_group(out, ir::Space::Registers, 1, *list_);
    return out;
  }
  const Type variable =
      Type::array(kernel_.type(op.operands[0]).element(), ir::Space::Registers);
  out.totals = {named(FinalBuilder::make(OpKind::Array, {}, variable, {{"count", std::int64_t{1}}},
                                         op.location),
                      out.name, *list_)};
  return out;
}

void ThreadScans::shared_lines(const Step& step, const ScanShape& shape) {
  const ir::Op& op = *step.op;
  const std::int64_t threads = std::int64_t{1} << log_threads();
  const auto lanes_of_warp = static_cast<std::int64_t>(options_.target.warp_size);
  const auto number_in = [&](std::int64_t count) {
    return FinalBuilder::make(OpKind::Digit, {thread_}, Type::scalar(i32),
                              {{"over", std::int64_t{1}}, {"of", count}});
  };
  ir::Value worker = thread_, owner = {};
  if (shape.workers() < threads) {
    worker = named(number_in(shape.workers()), names_.make("worker"), *list_);
    owner = compare("lt", thread_, number(shape.workers()));
  }
  const std::string type = op.operands.size() > 1 ? names_.make("Group") : "";
  Reduction running = begin_running(op, "running", type);
  running.plan.slots = threads / lanes_of_warp;
  const std::vector<SpaceVariable> variables = {{"worker", shape.bits - shape.log_stretch}};
  scan_stretch(step, shape, {.running = running, .variables = variables, .values = {worker}});
  const Reduction before = begin_running(op, "before", type);
  const std::int64_t of_line = std::int64_t{1} << shape.log_threads;
  std::vector<std::int64_t> numbers = {std::min(of_line, lanes_of_warp) - 1};
  const bool is_block = of_line > lanes_of_warp;
  if (is_block) numbers.push_back(of_line / lanes_of_warp - 1);
  numbers.insert(numbers.end(), {1, 0});
  families().reductions.call_combining(
      running, is_block ? LibraryKind::BeforeBlock : LibraryKind::BeforeLanes, std::move(numbers),
      before.totals);
  const ir::Value has_before = named(compare("ne", number_in(of_line), number(0)),
                                     names_.make("has_before"), *list_);
  scan_stretch(step, shape,
               {.running = running,
                .variables = variables,
                .values = {worker},
                .before = &before,
                .has_before = has_before,
                .keeps = true,
                .owner = owner});
}

void ThreadScans::own_lines(const Step& step, const ScanShape& shape) {
  const ir::Op& op = *step.op;
  const std::string type = op.operands.size() > 1 ? names_.make("Group") : "";
  const Reduction running = begin_running(op, "running", type);
  const int threads = log_threads();
  Loop lines;
  lines.plan.frame.space = {{{names_.make("line"), shape.log_lines - threads}}};
  lines.variables = {number(0)};
  open(lines, 0, "elements", false);
  scan_stretch(step, shape,
               {.running = running,
                .variables = {{"thread", threads}, {"line", shape.log_lines - threads}},
                .values = {thread_, lines.variables[0]},
                .keeps = true});
  close(lines, 0);
}

void ThreadScans::scan_stretch(const Step& step, const ScanShape& shape, const Stretch& stretch) {
  constexpr int log_unrolled = 4;
  const ir::Op& op = *step.op;
  Loop loop;
  Frame& frame = loop.plan.frame;
  frame.step = &step;
  frame.space.variables = {{names_.make("e"), shape.log_stretch}};
  frame.space.variables.insert(frame.space.variables.end(), stretch.variables.begin(),
                               stretch.variables.end());
  frame.place = shape.place();
  loop.variables = {number(0)};
  loop.variables.insert(loop.variables.end(), stretch.values.begin(), stretch.values.end());
  open_rounds(loop, 0, "elements", shape.log_stretch <= log_unrolled ? -1 : 1, op.location);
  std::vector<ir::Value> values;
  for (const ir::Value operand : op.operands)
    values.push_back(named(element(loop, operand, frame.place), names_.make("x"), *list_));
  if (shape.log_stretch == 0) {
    add_first(stretch, values);
  } else {
    choose(compare("eq", loop.variables[0], number(0)), [&] { add_first(stretch, values); },
           [&] { set_all(stretch.running, added(stretch.running, values)); });
  }
  for (std::size_t k = 0; k < op.results.size() && stretch.keeps; ++k) {
    std::vector<ir::Value> operands = {
        array(op.results[k]), array_index(loop, op.results[k], frame.place),
        FinalBuilder::make(OpKind::Read, {stretch.running.totals[k], number(0)},
                           kernel_.type(op.results[k]).element())};
    if (stretch.owner) operands.push_back(stretch.owner);
    statement(OpKind::Write, operands, *list_, {}, op.location);
  }
  close(loop, 0);
}

// The first element of a stretch comes after what is before it.
void ThreadScans::add_first(const Stretch& stretch, const std::vector<ir::Value>& values) {
  const auto alone = [&] { set_all(stretch.running, values); };
  if (!stretch.before) return alone();
  choose(stretch.has_before,
         [&] { set_all(stretch.running, added(*stretch.before, values)); }, alone);
}

std::vector<ir::Value> ThreadScans::added(const Reduction& to,
                                          const std::vector<ir::Value>& values) {
  std::vector<ir::Value> both;
  for (const ir::Value total : to.totals)
    both.push_back(FinalBuilder::make(OpKind::Read, {total, number(0)}, type_of(total).element()));
  both.insert(both.end(), values.begin(), values.end());
  std::vector<ir::Value> out = families().reductions.combined(to.op->regions[0], both);
  // None is written while another one is still to be computed.
  if (out.size() > 1)
    for (ir::Value& value : out) value = named(value, names_.make("next"), *list_);
  return out;
}

void ThreadScans::set_all(const Reduction& to, const std::vector<ir::Value>& values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    statement(OpKind::Write, {to.totals[k], number(0), values[k]}, *list_, {}, to.op->location);
}

}  // namespace tilewright
