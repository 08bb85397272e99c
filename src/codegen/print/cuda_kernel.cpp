// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_kernel.cpp — the function of one thread: its signature, its number,
// statements.
#include "codegen/print/cuda_kernel.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/print/cuda_expressions.h"
#include "codegen/print/cuda_moves.h"
#include "codegen/print/thread_calls.h"
#include "codegen/text/expressions.h"
#include "codegen/text/names.h"
#include "ir/calls.h"
#include "ir/roles.h"
#include "ir/shared_extent.h"
#include "machine/cuda.h"

namespace tilewright {

using ir::OpKind;

namespace {

// Whether shared memory comes from the launch.
bool is_dynamic(const ir::SharedExtent& shared) { return shared.bytes > most_static_bytes; }

// Whether arrays are parts of one array.
bool is_one(const ir::SharedExtent& shared) { return shared.overlap || is_dynamic(shared); }

class CudaStatements : public StatementPrinter {
 public:
  CudaStatements(const ir::Kernel& kernel, const LineText& line_text, bool has_directives,
                 TextWriter& out)
      : StatementPrinter(kernel, line_text, out, std::make_unique<CudaExpressions>(kernel)),
        has_directives_(has_directives),
        shared_(ir::shared_extent(kernel)) {
    opens_values_ = has_short_branches_ = true;
    ir::walk(kernel.body, [&](const ir::Op& op) {
      if (op.kind == OpKind::Group) groups_.try_emplace(std::string(op.text("type")), &op);
      if (op.find("rotates") && !rotated_) rotated_ = &op;
    });
  }

  void function(const std::string& symbol);
  const std::set<std::string>& parts() const { return cuda().parts(); }
  const ir::SharedExtent& shared() const { return shared_; }

 protected:
  void filled_array(const std::string& element, const ir::Op& op);
  void array(const ir::Op& op) override;
  void group(const ir::Op& op) override;
  void barrier(const ir::Op& op) override;
  void call_of_thread(const ir::Op& op) override;
  void move(const ir::Op& op) override;
  void check(const ir::Op& op) override;
  void print(const ir::Op& op) override;
  void comment(const ir::Location& place) override;
  void loop_pragma(const ir::Op& loop) override;
  std::string index_type(ir::Value) const override { return "int"; }
  std::string round_step(const std::string& index, const std::string& by) const override {
    return fmt::format("{} += {}", index, by);
  }
  bool is_rising(const ir::Op& loop) const override;
  void roles(const ir::Op& op) override;

 private:
  const CudaExpressions& cuda() const { return static_cast<const CudaExpressions&>(*owned_); }
  void thread_lines(std::int64_t threads);
  void cluster_lines();
  void shared_array(const std::string& element, const ir::Op& op);
  std::string barrier_text(std::string_view of) const;
  void combine(const ir::Op& op);

  const bool has_directives_;
  const ir::SharedExtent shared_;
  // The first op of each structure writes it, however often that op is printed: branches are
  // printed once more to see how long they are.
  std::map<std::string, const ir::Op*> groups_;
  const ir::Op* rotated_ = nullptr;  // the first vector of a row that is turned round
  bool is_in_function_ = false;      // of a call
};

void CudaStatements::function(const std::string& symbol) {
  const ir::Op& thread = *kernel_.body.ops.front();
  TW_CHECK(thread.kind == OpKind::Thread, "kernel '{}' is no program of a thread", kernel_.name);
  const std::int64_t threads = thread.integer("count");
  std::string parameters;
  for (const ir::KernelArgument& argument : kernel_.arguments)
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ",
                              expressions_.type(argument.value), kernel_.name_of(argument.value));
  for (const ir::KernelMap& map : kernel_.maps)
    parameters += fmt::format(", const __grid_constant__ tw::TensorMap {}", map.name);
  if (kernel_.shape.programs > 1 || ir::is_persistent(kernel_))
    parameters += parameters.empty() ? "i32 programs" : ", i32 programs";
  const int resident = kernel_.shape.resident;
  const ir::Op* producer = ir::producer_of(kernel_);
  const std::int64_t more = producer ? producer->integer("warps") * thread.integer("lanes") : 0;
  const std::string bounds = fmt::format(
      "__launch_bounds__({}{})", threads * kernel_.shape.programs / kernel_.shape.cluster + more,
      resident > 0 ? fmt::format(", {}", resident) : "");
  out_.open(fmt::format("extern \"C\" __global__ void {} {}({})", bounds, symbol, parameters));
  thread_lines(threads);
  const ir::Op* first_shared = nullptr;
  for (const ir::Op* op : kernel_.body.ops)
    if (!first_shared && ir::makes_shared(kernel_, *op)) first_shared = op;
  for (std::size_t k = 1; k < kernel_.body.ops.size(); ++k) {
    const ir::Op& op = *kernel_.body.ops[k];
    if (rotated_ && !op.results.empty() && op.results[0] == rotated_->operands[4]) {
      out_.format(
          "// Rows begin anywhere: slot i of a tile holds element (i - {}) % {} of it, so that",
          kernel_.name_of(op.result()), rotated_->integer("rotates"));
      out_.line("// vectors are aligned in memory.");
    }
    if (ir::calls(op, LibraryKind::OwnRow))
      out_.line("extern __shared__ __align__(16) unsigned char shared_row[];");
    if (&op == first_shared && is_one(shared_))
      out_.line(is_dynamic(shared_)
                    ? fmt::format("extern __shared__ __align__({}) unsigned char shared[];",
                                  shared_.align)
                    : fmt::format("__shared__ __align__({}) u8 shared[{}];", shared_.align,
                                  shared_.bytes));
    if (!op.facts().is(ir::Family::Ends)) statement(op);
  }
  out_.close();
}

// The number of the thread in its program, and that of the program where several share a block.
void CudaStatements::thread_lines(std::int64_t threads) {
  if (kernel_.shape.cluster > 1) return cluster_lines();
  if (kernel_.shape.programs == 1) return out_.line("const int thread = int(threadIdx.x);");
  out_.format("const int thread = int(threadIdx.x) % {};", threads);
  out_.format("const int program_id = int(blockIdx.{} * (blockDim.x / {}) + threadIdx.x / {});",
              CudaExpressions::axes[static_cast<std::size_t>(cuda().shared_axis())], threads,
              threads);
  out_.line("if (program_id >= programs) return;");
}

// The number of the thread among those of all blocks, which say that they have begun where it is
// waited for.
void CudaStatements::cluster_lines() {
  for (const char* part : {"reduce", "cluster"}) cuda().need(part);
  out_.format("const int thread = tw::cluster_thread<{}>();", kernel_.shape.cluster);
  const auto waits = [](const ir::Op* op) { return ir::calls(*op, LibraryKind::ClusterWait); };
  if (std::any_of(kernel_.body.ops.begin(), kernel_.body.ops.end(), waits))
    out_.line("tw::cluster_arrive();");
}

// ---- Statements

// An array of registers, all elements of which are one number at first, if there is one.
void CudaStatements::filled_array(const std::string& element, const ir::Op& op) {
  constexpr std::int64_t most_listed = 8;
  const std::string& name = kernel_.name_of(op.result());
  const std::int64_t count = op.integer("count");
  const std::string number = op.operands.empty() ? "" : operand(op.operands[0]);
  const std::vector<std::string> each(static_cast<std::size_t>(count), number);
  std::string filling;
  if (number == "0" || number == "0.0f" || number == "0.0") filling = " = {}";
  else if (!number.empty() && count <= most_listed)
    filling = fmt::format(" = {{{}}}", fmt::join(each, ", "));
  out_.format("{} {}[{}]{};", element, name, count, filling);
  if (number.empty() || !filling.empty()) return;
  out_.line("#pragma unroll");
  out_.format("for (int k = 0; k < {}; ++k) {}[k] = {};", count, name, number);
}

void CudaStatements::array(const ir::Op& op) {
  const ir::Type& type = kernel_.type(op.result());
  const std::string element = type_text(type.element());
  if (type.space == ir::Space::Shared) return shared_array(element, op);
  if (type.space == ir::Space::Stack) return filled_array(element, op);
  if (op.integer("unset") != 0) return out_.format("{} {};", element, kernel_.name_of(op.result()));
  StatementPrinter::array(op);
}

void CudaStatements::shared_array(const std::string& element, const ir::Op& op) {
  const std::string& name = kernel_.name_of(op.result());
  if (is_one(shared_))
    return out_.format("{0}* const {1} = reinterpret_cast<{0}*>(shared + {2});", element, name,
                       op.integer("offset"));
  out_.format("__shared__ __align__({}) {} {}[{}];", op.integer("align", 16), element, name,
              op.integer("count"));
}

void CudaStatements::group(const ir::Op& op) {
  const std::string type(op.text("type"));
  if (groups_.at(type) == &op) {
    std::string members;
    for (std::size_t k = 0; k < op.results.size(); ++k)
      members += fmt::format("{} v{}; ", type_text(kernel_.type(op.results[k]).element()), k);
    out_.format("struct {} {{ {}}};", type, members);
  }
  const ir::Space space = kernel_.type(op.result()).space;
  if (space == ir::Space::Shared) return shared_array(type, op);
  const std::string& name = kernel_.name_of(op.result());
  if (space == ir::Space::Registers) out_.format("{} {};", type, name);
  else out_.format("{} {}[{}];", type, name, op.integer("count"));
}

// ---- Threads that meet

void CudaStatements::barrier(const ir::Op& op) {
  if (op.kind == OpKind::Barrier) return out_.line(barrier_text(op.text("of")));
  if (op.kind == OpKind::CommitCopies || op.kind == OpKind::WaitCopies) {
    cuda().need("async_copy");
    return op.kind == OpKind::CommitCopies
               ? out_.line("tw::commit_copies();")
               : out_.format("tw::wait_copies<{}>();", op.integer("pending"));
  }
  TW_CHECK(op.kind == OpKind::Fence, "'{}' has no text at stage final", op.facts().name);
  cuda().need("atomics");
  out_.format("tw::fence<tw::Scope::{}>();", camel_case(op.text("scope")));
}

std::string CudaStatements::barrier_text(std::string_view of) const {
  if (of.empty()) return "__syncthreads();";
  if (of == "warp") return "__syncwarp();";
  cuda().need("ring");
  return fmt::format("tw::meet_consumers<{}>();", kernel_.body.ops.front()->integer("count"));
}

// One thread behind the others produces.
void CudaStatements::roles(const ir::Op& op) {
  const std::int64_t threads = kernel_.body.ops.front()->integer("count");
  const std::vector<std::int64_t> registers = kernel_.maker(op.operands[0])->integers("registers");
  cuda().need("ring");
  out_.open(fmt::format("if (thread >= {})", threads));
  if (!registers.empty()) out_.format("tw::fewer_registers<{}>();", registers[0]);
  out_.open(fmt::format("if (thread == {})", threads));
  region(op.regions[0]);
  out_.close();
  out_.outdent();
  out_.open("} else");
  if (!registers.empty()) out_.format("tw::more_registers<{}>();", registers[1]);
  region(op.regions[1]);
  out_.close();
}

void CudaStatements::call_of_thread(const ir::Op& op) {
  if (!op.regions.empty()) combine(op);
  for (const std::string& line : thread_call_lines(cuda(), kernel_, op)) out_.line(line);
}

// The function that is handed over, under its name.
void CudaStatements::combine(const ir::Op& op) {
  const ir::Region& body = op.regions[0];
  const std::size_t members = body.arguments.size() / 2;
  const std::string type = combined_type(kernel_, op);
  const auto name = [&](std::size_t k) { return kernel_.name_of(body.arguments[k]); };
  const std::vector<ir::Value>& given = body.ops.back()->operands;
  const std::string left = members == 1 ? name(0) : "left",
                    right = members == 1 ? name(1) : "right";
  const std::string function =
      fmt::format("const auto {} = [&]({} {}, {} {})", op.text("named"), type, left, type, right);
  const bool is_short =
      members == 1 && std::all_of(body.ops.begin(), body.ops.end(), [&](auto* in) {
        return in->facts().is(ir::Family::Ends) || expressions_.is_inlined(*in);
      });
  if (is_short)
    return out_.format("{} {{ return {}; }};", function, expressions_.condition(given[0]));
  const bool was_in_function = std::exchange(is_in_function_, true);
  out_.open(function);
  for (std::size_t k = 0; k < 2 * members && members > 1; ++k)
    out_.format("const {} {} = {}.v{};", expressions_.type(body.arguments[k]), name(k),
                k < members ? left : right, k % members);
  region(body);
  std::string value = expressions_.condition(given[0]);
  for (std::size_t k = 1; k < members; ++k) value += ", " + expressions_.condition(given[k]);
  out_.format("return {};", members == 1 ? value : fmt::format("{}{{{}}}", type, value));
  out_.close(";");
  is_in_function_ = was_in_function;
}

void CudaStatements::move(const ir::Op& op) { out_.line(move_text(cuda(), kernel_, op)); }

void CudaStatements::check(const ir::Op& op) {
  if (op.kind == OpKind::Assume) return;
  cuda().need("check");
  std::string condition = "!" + operand(op.operands[0]);
  if (op.mask()) condition += " && " + operand(op.mask());
  out_.format("if ({}) tw::assert_failed({});", condition, cpp_string(op.text("message")));
}

void CudaStatements::print(const ir::Op& op) {
  std::string format = "pid (%u, %u, %u)", arguments = ", blockIdx.x, blockIdx.y, blockIdx.z";
  if (op.operands.size() > 1) {
    format += " idx %d";
    arguments += ", " + expressions_.argument(op.operands[1]);
  }
  format += " %s";
  arguments += ", " + cpp_string(op.text("prefix"));
  if (!op.operands.empty()) {
    const ir::Type& type = kernel_.type(op.operands[0]);
    const bool is_hex = (op.integer("hex") != 0 && !type.is_float()) || type.is_pointer;
    const bool is_wide = type.dtype == DType::Float64 || type.dtype == DType::Float32;
    format += is_hex ? "0x%llx" : type.is_float() ? "%g" : is_signed(type.dtype) ? "%lld" : "%llu";
    if (type.is_float())
      arguments += fmt::format(", f64({}{}{})", is_wide ? "" : "tw::to_f32(",
                               expressions_.condition(op.operands[0]), is_wide ? "" : ")");
    else
      arguments += fmt::format(", ({}){}", is_hex || !is_signed(type.dtype) ? "u64" : "i64",
                               operand(op.operands[0]));
  }
  out_.format("printf(\"{}\\n\"{});", format, arguments);
}

void CudaStatements::comment(const ir::Location& place) {
  if (is_in_function_ || place.line <= 0 || place.file >= kernel_.files.size() ||
      (place.line == last_location_.line && place.file == last_location_.file))
    return;
  last_location_ = place;
  out_.line(source_comment(kernel_, line_text_, place));
  if (has_directives_) out_.raw(line_directive(place.line, kernel_.files[place.file]));
}

// A loop of the user's stays one unless its rounds are known.
void CudaStatements::loop_pragma(const ir::Op& loop) {
  const auto is_known = [&](ir::Value value) {
    const ir::Op* maker = kernel_.maker(value);
    return maker && maker->kind == OpKind::Constant;
  };
  const std::int64_t unroll = loop.integer("unroll");
  if (unroll < 0) return out_.line("#pragma unroll");
  if (unroll > 1) return out_.format("#pragma unroll {}", unroll);
  if (unroll == 1 || loop.kind == OpKind::While ||
      !(is_known(loop.operands[0]) && is_known(loop.operands[1])))
    out_.line("#pragma unroll 1");
}

// The number of programs, unless it was cut to fewer bits.
bool CudaStatements::is_rising(const ir::Op& loop) const {
  ir::Value step = loop.operands[2];
  const ir::Op* maker = kernel_.maker(step);
  while (maker && maker->kind == OpKind::Cast &&
         kernel_.type(step).element_bytes() >= kernel_.type(maker->operands[0]).element_bytes()) {
    step = maker->operands[0];
    maker = kernel_.maker(step);
  }
  return maker && (maker->kind == OpKind::NumPrograms || maker->kind == OpKind::NumBlocks);
}

}  // namespace

CudaFunction print_cuda_kernel(const ir::Kernel& kernel, const std::string& symbol,
                               const LineText& line_text, bool has_directives) {
  TextWriter out;
  CudaStatements statements(kernel, line_text, has_directives, out);
  statements.function(symbol);
  const ir::SharedExtent& shared = statements.shared();
  return {out.take(), statements.parts(), is_dynamic(shared) ? shared.bytes : shared.row_bytes,
          products_of(kernel), boxes_of(kernel)};
}

}  // namespace tilewright
