// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_kernel.cpp — the function of one thread: its signature, its number,
// statements.
#include "codegen/print/cuda_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/print/cuda_expressions.h"
#include "codegen/text/expressions.h"

namespace tilewright {

using ir::OpKind;

namespace {

class CudaStatements : public StatementPrinter {
 public:
  CudaStatements(const ir::Kernel& kernel, const LineText& line_text, bool has_directives,
                 TextWriter& out)
      : StatementPrinter(kernel, line_text, out, std::make_unique<CudaExpressions>(kernel)),
        has_directives_(has_directives) {
    opens_values_ = true;
  }

  void function(const std::string& symbol);
  const std::set<std::string>& parts() const { return cuda().parts(); }

 protected:
  void array(const ir::Op& op) override;
  void vector(const ir::Op& op) override;
  void store(const ir::Op& op) override;
  void check(const ir::Op& op) override;
  void comment(const ir::Location& place) override;
  void loop_pragma(const ir::Op& loop) override;
  std::string index_type(ir::Value) const override { return "int"; }
  std::string round_step(const std::string& index, const std::string& by) const override {
    return fmt::format("{} += {}", index, by);
  }
  bool is_rising(const ir::Op& loop) const override;

 private:
  const CudaExpressions& cuda() const { return static_cast<const CudaExpressions&>(*owned_); }
  void thread_lines(std::int64_t threads);
  std::string template_arguments(const ir::Op& op) const;

  const bool has_directives_;
};

void CudaStatements::function(const std::string& symbol) {
  const ir::Op& thread = *kernel_.body.ops.front();
  TW_CHECK(thread.kind == OpKind::Thread, "kernel '{}' is no program of a thread", kernel_.name);
  const std::int64_t threads = thread.integer("count");
  std::string parameters;
  for (const ir::KernelArgument& argument : kernel_.arguments)
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ",
                              expressions_.type(argument.value), kernel_.name_of(argument.value));
  if (kernel_.shape.programs > 1)
    parameters += parameters.empty() ? "i32 programs" : ", i32 programs";
  const int resident = kernel_.shape.resident;
  const std::string bounds =
      fmt::format("__launch_bounds__({}{})", threads * kernel_.shape.programs,
                  resident > 0 ? fmt::format(", {}", resident) : "");
  out_.open(fmt::format("extern \"C\" __global__ void {} {}({})", bounds, symbol, parameters));
  thread_lines(threads);
  for (std::size_t k = 1; k < kernel_.body.ops.size(); ++k)
    if (!kernel_.body.ops[k]->facts().is(ir::Family::Ends)) statement(*kernel_.body.ops[k]);
  out_.close();
}

// The number of the thread in its program, and that of the program where several share a block.
void CudaStatements::thread_lines(std::int64_t threads) {
  if (kernel_.shape.programs == 1) return out_.line("const int thread = int(threadIdx.x);");
  out_.format("const int thread = int(threadIdx.x) % {};", threads);
  out_.format("const int program_id = int(blockIdx.{} * (blockDim.x / {}) + threadIdx.x / {});",
              CudaExpressions::axes[static_cast<std::size_t>(cuda().shared_axis())], threads,
              threads);
  out_.line("if (program_id >= programs) return;");
}

// ---- Statements

void CudaStatements::array(const ir::Op& op) {
  const ir::Type& type = kernel_.type(op.result());
  if (type.space != ir::Space::Stack) return StatementPrinter::array(op);
  out_.format("{} {}[{}];", type_text(type.element()), kernel_.name_of(op.result()),
              op.integer("count"));
}

std::string CudaStatements::template_arguments(const ir::Op& op) const {
  const std::int64_t count = op.integer("count"), width = op.integer("width");
  const std::string cache = CudaExpressions::cache(op);
  std::string out = fmt::format("{}", count);
  if (width != count || !cache.empty()) out += fmt::format(", {}", width);
  if (!cache.empty()) out += ", " + cache.substr(1, cache.size() - 2);
  return out;
}

void CudaStatements::vector(const ir::Op& op) {
  cuda().need("memory");
  const bool loads = op.kind == OpKind::LoadTo;
  const std::size_t guards = op.operands.size() == 2 ? 0 : op.operands.size() - (loads ? 3 : 2);
  std::string arguments;
  for (const ir::Value value : op.operands)
    arguments += (arguments.empty() ? "" : ", ") + expressions_.condition(value);
  out_.format("tw::{}{}<{}>({});", loads ? "load" : "store",
              guards == 0   ? ""
              : guards == 1 ? "_whole"
                            : "_guarded",
              template_arguments(op), arguments);
}

void CudaStatements::store(const ir::Op& op) {
  cuda().need("memory");
  const std::string cache = CudaExpressions::cache(op);
  const std::string pointer = expressions_.condition(op.operands[0]);
  std::string value = expressions_.condition(op.operands[1]);
  if (kernel_.type(op.operands[1]).is_bool()) value = "u8(" + value + ")";
  if (op.operands.size() < 3) out_.format("tw::store_one{}({}, {});", cache, pointer, value);
  else
    out_.format("tw::store_if{}({}, {}, {});", cache, expressions_.condition(op.operands[2]),
                pointer, value);
}

void CudaStatements::check(const ir::Op& op) {
  if (op.kind == OpKind::Assume) return;
  cuda().need("check");
  std::string condition = "!" + operand(op.operands[0]);
  if (op.mask()) condition += " && " + operand(op.mask());
  out_.format("if ({}) tw::assert_failed({});", condition, cpp_string(op.text("message")));
}

void CudaStatements::comment(const ir::Location& place) {
  if (place.line <= 0 || place.file >= kernel_.files.size() ||
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

// The number of programs.
bool CudaStatements::is_rising(const ir::Op& loop) const {
  const ir::Op* maker = kernel_.maker(loop.operands[2]);
  if (maker && maker->kind == OpKind::Cast) maker = kernel_.maker(maker->operands[0]);
  return maker && maker->kind == OpKind::NumPrograms;
}

}  // namespace

CudaFunction print_cuda_kernel(const ir::Kernel& kernel, const std::string& symbol,
                               const LineText& line_text, bool has_directives) {
  TextWriter out;
  CudaStatements statements(kernel, line_text, has_directives, out);
  statements.function(symbol);
  return {out.take(), statements.parts()};
}

}  // namespace tilewright
