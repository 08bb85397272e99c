// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_kernel.cpp — the function of one thread: its signature, its number,
// statements.
#include "codegen/print/cuda_kernel.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/print/cuda_expressions.h"
#include "codegen/print/dot_calls.h"
#include "codegen/print/group_calls.h"
#include "codegen/text/expressions.h"
#include "codegen/text/names.h"
#include "ir/roles.h"
#include "ir/shared_extent.h"
#include "machine/cuda.h"
#include "machine/library.h"

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
  void meeting(const ir::Op& op) override;
  void vector(const ir::Op& op) override;
  void copy(const ir::Op& op) override;
  void store(const ir::Op& op) override;
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
  std::string group_type(const ir::Op& op) const;
  std::string barrier_text(std::string_view of) const;
  void combine(const ir::Op& op);
  void reduction(const ir::Op& op, bool is_block);
  void scan(const ir::Op& op, bool is_block);
  void scan_before(const ir::Op& op, bool is_block);
  void sort(const ir::Op& op);
  std::string template_arguments(const ir::Op& op) const;
  void copy_vector(const ir::Op& op, std::size_t guards, const std::string& arguments);
  void rotated(const ir::Op& op, const std::string& numbers, const std::string& arguments);

  const bool has_directives_;
  const ir::SharedExtent shared_;
  // The first op of each structure writes it, however often that op is printed: branches are
  // printed once more to see how long they are.
  std::map<std::string, const ir::Op*> groups_;
  const ir::Op* rotated_ = nullptr;  // the first vector of a row that is turned round
  bool is_in_function_ = false;   // of a call
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
  const std::string bounds =
      fmt::format("__launch_bounds__({}{})",
                  threads * kernel_.shape.programs / kernel_.shape.cluster + more,
                  resident > 0 ? fmt::format(", {}", resident) : "");
  out_.open(fmt::format("extern \"C\" __global__ void {} {}({})", bounds, symbol, parameters));
  thread_lines(threads);
  const ir::Op* first_shared = nullptr;
  for (const ir::Op* op : kernel_.body.ops)
    if (!first_shared && ir::makes_shared(kernel_, *op)) first_shared = op;
  for (std::size_t k = 1; k < kernel_.body.ops.size(); ++k) {
    const ir::Op& op = *kernel_.body.ops[k];
    if (rotated_ && !op.results.empty() && op.results[0] == rotated_->operands[4]) {
      out_.format("// Rows begin anywhere: slot i of a tile holds element (i - {}) % {} of it, so that",
                  kernel_.name_of(op.result()), rotated_->integer("rotates"));
      out_.line("// vectors are aligned in memory.");
    }
    if (ir::is_own_row(op))
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
  const auto waits = [](const ir::Op* op) {
    return op->kind == OpKind::Call && op->text("function") == name_of(LibraryKind::ClusterWait);
  };
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
  if (op.integer("unset") != 0)
    return out_.format("{} {};", element, kernel_.name_of(op.result()));
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
  const std::vector<std::int64_t> registers =
      kernel_.maker(op.operands[0])->integers("registers");
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

std::string CudaStatements::group_type(const ir::Op& op) const {
  const ir::Op* made = kernel_.maker(op.operands[0]);
  return made->kind == OpKind::Group ? std::string(made->text("type"))
                                     : type_text(kernel_.type(op.operands[0]).element());
}

void CudaStatements::meeting(const ir::Op& op) {
  const LibraryKind function = find_library_function(op.text("function"))->kind;
  if (function == LibraryKind::LoadMatrices || function == LibraryKind::Mma) {
    cuda().need("mma");
    return out_.line(dot_call(expressions_, op));
  }
  if (function == LibraryKind::FinishCopies) {
    cuda().need("async_copy");
    out_.line("tw::commit_copies();");
    return out_.line("tw::wait_copies<0>();");
  }
  if (const char* part = group_part(op)) {
    cuda().need(part);
    if (cuda().parts().contains("wgmma")) cuda().need("mma");
    return out_.line(group_call(expressions_, kernel_, op));
  }
  cuda().need("reduce");
  if (function == LibraryKind::ClusterWait) return out_.line("tw::cluster_wait();");
  if (function == LibraryKind::CountOne)
    return out_.format("atomicAdd(&{}, 1);", expressions_.element(op.operands[0], op.operands[1]));
  if (function == LibraryKind::SortBlock) return sort(op);
  if (function == LibraryKind::BeforeLanes || function == LibraryKind::BeforeBlock)
    return scan_before(op, function == LibraryKind::BeforeBlock);
  if (function == LibraryKind::ScanLanes || function == LibraryKind::ScanBlock)
    return scan(op, function == LibraryKind::ScanBlock);
  reduction(op, function != LibraryKind::ReduceLanes);
}

// "tw::scan_registers<tw::ScanBits<2, 3, 31, 3, 0>, false>(running, running_slots, combine);"
void CudaStatements::scan(const ir::Op& op, bool is_block) {
  cuda().need("scan");
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::size_t last = numbers.size() - 1;
  const std::string slots =
      is_block ? operand(op.operands[op.regions[0].arguments.size() / 2])
               : fmt::format("static_cast<{}*>(nullptr)", group_type(op));
  combine(op);
  out_.format("tw::scan_registers<tw::ScanBits<{}, {}, {}, {}, {}>, {}>({}, {}, {});",
              std::countr_zero(static_cast<std::uint64_t>(numbers[last - 1])), numbers[last - 3],
              numbers[0], is_block ? numbers[1] : 0, numbers[last - 2], numbers[last] != 0,
              operand(op.operands[0]), slots, op.text("named"));
}

// "tw::scan_before<32, 2>(running, before, running_slots, combine);"
void CudaStatements::scan_before(const ir::Op& op, bool is_block) {
  cuda().need("scan");
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::size_t members = op.regions[0].arguments.size() / 2;
  combine(op);
  out_.format("tw::scan_before<{}, {}>({}, {}, {}, {});", numbers[0] + 1,
              is_block ? numbers[1] + 1 : 1, operand(op.operands[0]), operand(op.operands[members]),
              is_block ? operand(op.operands[2 * members])
                       : fmt::format("static_cast<{}*>(nullptr)", group_type(op)),
              op.text("named"));
}

void CudaStatements::sort(const ir::Op& op) {
  cuda().need("sort");
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  out_.format("tw::merge_runs<{}, {}, tw::SortOrder::{}, {}, {}>({});", numbers[0], numbers[1],
              sort_orders[numbers[2]], numbers[3], numbers[4], operand(op.operands[0]));
}

// "total = tw::reduce_block<31, 3>(total, total_slots, [&](f32 a, f32 b) { return a + b; });"
void CudaStatements::reduction(const ir::Op& op, bool is_block) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::int64_t count = numbers[numbers.size() - 2];
  const std::size_t members = op.regions[0].arguments.size() / 2;
  const std::string total = operand(op.operands[0]);
  std::string bits = fmt::format("{}", numbers[0]);
  if (is_block) bits += fmt::format(", {}", numbers[1]);
  if (const std::int64_t blocks = kernel_.shape.cluster; is_block && blocks > 1)
    bits = fmt::format("{}, {}", blocks, (numbers[1] + 1) / blocks);
  std::string head = fmt::format("{} = tw::{}<{}>({}", total, op.text("function"), bits, total);
  if (count > 1 && is_block)
    head = fmt::format("tw::reduce_block<{}, {}>({}", bits, count, total);
  const bool is_loop = count > 1 && !is_block;
  if (is_loop)
    head = fmt::format("for (int k = 0; k < {1}; ++k) {0}[k] = tw::reduce_lanes<{2}>({0}[k]", total,
                       count, bits);
  if (is_block) head += ", " + operand(op.operands[members]);
  combine(op);
  if (is_loop) out_.line("#pragma unroll");
  const std::string function(op.text("named"));
  out_.format("{}, {});", head,
              numbers.back() != 0 ? fmt::format("tw::in_order({})", function) : function);
}

// The function that is handed over, under its name.
void CudaStatements::combine(const ir::Op& op) {
  const ir::Region& body = op.regions[0];
  const std::size_t members = body.arguments.size() / 2;
  const std::string type = group_type(op);
  const auto name = [&](std::size_t k) { return kernel_.name_of(body.arguments[k]); };
  const std::vector<ir::Value>& given = body.ops.back()->operands;
  const std::string left = members == 1 ? name(0) : "left", right = members == 1 ? name(1) : "right";
  const std::string function = fmt::format("const auto {} = [&]({} {}, {} {})", op.text("named"),
                                           type, left, type, right);
  const bool is_short = members == 1 && std::all_of(body.ops.begin(), body.ops.end(), [&](auto* in) {
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
  if (op.integer("copies") != 0) return copy_vector(op, guards, arguments);
  std::string name = loads ? "load" : "store", numbers = template_arguments(op);
  if (const std::int64_t size = op.integer("rotates"); size != 0)
    return rotated(op, fmt::format("{}, {}", size, numbers), arguments);
  if (!loads && kernel_.type(op.operands[0]).is_array()) name = "store_shared";
  if (const std::string_view order = op.text("adds"); !order.empty()) {
    cuda().need("atomics");
    name = "add_vector";
    numbers = fmt::format("tw::Order::{}, tw::Scope::{}, {}, {}", camel_case(order),
                          camel_case(op.text("scope")), op.integer("count"), op.integer("width"));
  }
  const char* moves = op.integer("parts") != 0 ? "_parts" : "_guarded";
  out_.format("tw::{}{}<{}>({});", name, guards == 0 ? "" : guards == 1 ? "_whole" : moves, numbers,
              arguments);
}

// "tw::copy_whole<8, tw::lingering>(x_row + k * 4096, x + i, i < n, 0.0f);"
void CudaStatements::copy_vector(const ir::Op& op, std::size_t guards, const std::string& arguments) {
  cuda().need("async_copy");
  out_.format("tw::copy{}<{}{}>({});", guards == 1 ? "_whole" : "_guarded", op.integer("count"),
              op.text("cache").empty() ? "" : ", tw::lingering", arguments);
}

// Stored elements come last there.
void CudaStatements::rotated(const ir::Op& op, const std::string& numbers,
                             const std::string& arguments) {
  if (op.kind == OpKind::LoadTo)
    return out_.format("tw::{}<{}>({});",
                       op.integer("shifted") != 0 ? "load_apart" : "load_rotated", numbers,
                       arguments);
  std::string row = expressions_.condition(op.operands[0]);
  for (std::size_t k = 2; k < op.operands.size(); ++k)
    row += ", " + expressions_.condition(op.operands[k]);
  out_.format("tw::store_rotated<{}>({}, {});", numbers, row,
              expressions_.condition(op.operands[1]));
}

// "tw::copy_async<16>(a_slot + at, a_ptr + i, i < n);"
void CudaStatements::copy(const ir::Op& op) {
  cuda().need("async_copy");
  const auto bytes = op.integer("count") *
                     static_cast<std::int64_t>(kernel_.type(op.operands[0]).element().element_bytes());
  std::string arguments = expressions_.condition(op.operands[0]) + ", " +
                          expressions_.condition(op.operands[1]);
  const bool may_start = op.operands.size() > 3;
  if (may_start) arguments += ", " + expressions_.condition(op.operands[3]);
  if (op.operands.size() > 2) arguments += ", " + expressions_.condition(op.operands[2]);
  out_.format("tw::copy_async{}<{}>({});", may_start ? "_if" : "", bytes, arguments);
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
  return {out.take(),
          statements.parts(),
          is_dynamic(shared) ? shared.bytes : shared.row_bytes,
          products_of(kernel),
          boxes_of(kernel)};
}

}  // namespace tilewright
