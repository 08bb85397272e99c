// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/emitter.cpp — the function around the body: signature, prologue, names and lines.
#include "codegen/cuda/emitter.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "base/unicode.h"
#include "codegen/cuda/program_shape.h"
#include "ir/roles.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/warp_exchange.h"

namespace tilewright {
namespace {

// An option of the compiler that limits registers has no effect on a kernel that says how many
// threads it has. That so many blocks must fit has one.
int blocks_with(const Target& target, int registers, int threads) {
  return std::min({target.registers_per_processor / (registers * threads),
                   target.max_threads_per_processor / threads, target.max_blocks_per_processor});
}

using ir::OpKind;

constexpr std::string_view axes = "xyz";

// Whether a pointer goes through control flow, where one to const data could meet another.
bool mixes_pointers(const ir::Kernel& kernel) {
  bool mixes = false;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    // Pointers are chosen and cast as elements are; moving one keeps what it points to.
    const bool may_mix = (op.facts().is(ir::Family::Control) && op.kind != OpKind::Sweep) ||
                         (op.facts().is(ir::Family::Elementwise) && op.kind != OpKind::Offset);
    for (ir::Value value : op.results) mixes |= may_mix && kernel.type(value).is_pointer;
  });
  return mixes;
}

}  // namespace

Emitter::Emitter(const ir::Kernel& kernel, const LaidFacts& facts, const TileLayouts& layouts,
                 const CudaEmitOptions& options)
    : ElementPlans(kernel, facts, layouts, options),
      shape_(shape_of(kernel, options.target)),
      threads_(shape_.threads()),
      lanes_(shape_.lanes),
      producer_(ir::producer_of(kernel)),
      global_(kernel),
      has_products_(has_asynchronous_dots(kernel)),
      advances_copies_(has_lines_along_depth()),
      copy_indices_(find_copy_indices()),
      keeps_const_(!mixes_pointers(kernel)),
      warp_buffers_(producer_ ? exchanged_within_warps(kernel, schedule_, layouts) : std::set<std::size_t>()) {
  for (const char* name : {"thread", "v", "k", "s", "shared", "lane", "warp"}) names_.make(name);
  parts_ = {"types"};
  // Those of long rows have stage Final.
  TW_CHECK(shape_.programs == 1 && shape_.blocks == 1 && !stowed_ && !alignments_.rotation(),
           "kernel '{}' is none for the emitter", kernel.name);
}

std::string Emitter::run() {
  const std::string parameters = parameter_list();
  steps(schedule_.steps());
  TextWriter out;
  out.open(fmt::format("extern \"C\" __global__ void {} {}({})", launch_bounds(),
                       kernel_symbol(kernel_.name), parameters));
  out.line("const int thread = int(threadIdx.x);");
  for (const std::string& line : prologue_) out.line(line);
  for (const std::string& line : shared_.declarations()) out.line(line);
  const std::string body = out_.take();
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = body.find('\n', at);
    out.line(body.substr(at, end - at));
    at = end + 1;
  }
  out.close();
  return out.take();
}

std::string Emitter::parameter_list() {
  std::string parameters;
  for (const ir::KernelArgument& argument : kernel_.arguments) {
    const std::string name = names_.make(kernel_.name_of(argument.value), "argument");
    scalars_[argument.value.id] = name;
    if (!parameters.empty()) parameters += ", ";
    parameters += fmt::format("{} {}", type_of(argument.value), name);
  }
  for (const ir::KernelMap& map : kernel_.maps) {
    map_names_[map.name] = names_.make(map.name);
    parameters += fmt::format(", const __grid_constant__ tw::TensorMap {}", map_names_[map.name]);
  }
  if (ir::is_persistent(kernel_)) {
    programs_ = names_.make("programs");
    parameters += fmt::format(", i32 {}", programs_);
  }
  return parameters;
}

// Left alone, the compiler counts on so many blocks that the loads of a loop which adds to tiles
// have no registers to arrive in at once, and come one after the other. One block as the least that
// must fit is no limit, but takes that away.
std::string Emitter::launch_bounds() const {
  constexpr std::int64_t few_words = 64;
  constexpr int registers_of_slices = 128;
  const int threads = shape_.block_threads();
  if (producer_ != nullptr)
    return fmt::format("__launch_bounds__({}, 1)", threads + static_cast<int>(producer_->integer("warps")) * lanes_);
  int resident = shape_.resident;
  if (options_.max_registers > 0)
    resident = blocks_with(options_.target, options_.max_registers, threads);
  if (resident == 0 && options_.max_registers == 0 && loop_words_ > few_words) resident = 1;
  // What the compiler would keep from one slice to the next takes the place of other blocks.
  if (resident == 0 && options_.max_registers == 0 && has_rolled_slices_)
    resident = options_.target.registers_per_processor / (registers_of_slices * threads);
  return resident > 0 ? fmt::format("__launch_bounds__({}, {})", threads, resident)
                      : fmt::format("__launch_bounds__({})", threads);
}

// ---- Programs

std::string Emitter::program_text(int axis) const {
  return fmt::format("i32(blockIdx.{})", axes[static_cast<std::size_t>(axis)]);
}

std::string Emitter::program_count_text(int axis) const {
  if (axis == 0 && ir::is_persistent(kernel_)) return programs_;
  return fmt::format("i32(gridDim.{})", axes[static_cast<std::size_t>(axis)]);
}

// ---- Names, types and lines

std::string Emitter::new_name(ir::Value value, std::string_view otherwise) {
  return names_.make(kernel_.name_of(value), otherwise);
}

std::string Emitter::array_name(ir::Value value) {
  const auto found = arrays_.find(schedule_.storage(value).id);
  TW_CHECK(found != arrays_.end(), "the tile '{}' is read before its array exists",
           kernel_.name_of(value));
  return found->second;
}

std::string Emitter::type_of(ir::Value value) const {
  const ir::Type& type = kernel_.type(value);
  const std::string text = type_text(type.element());
  if (!type.is_pointer || !keeps_const_) return text;
  const ir::Value root = global_.order().argument_of(value);
  for (const ir::KernelArgument& argument : kernel_.arguments)
    if (argument.value == root && argument.is_const) return "const " + text;
  return text;
}

std::string Emitter::constant_text(ir::Value value, const std::string& name,
                                   const std::string& text) const {
  const std::string type = type_of(value);
  return type.ends_with('*') ? fmt::format("{} const {} = {};", type, name, bare(text))
                             : fmt::format("const {} {} = {};", type, name, bare(text));
}

std::string Emitter::memory_type(ir::Value pointer) const {
  const std::string text = type_text(kernel_.type(pointer).element());
  return text.substr(0, text.size() - 1);
}

void Emitter::note_line(const ir::Location& location) {
  if (location.line == 0 || location == last_line_ || location.file >= kernel_.files.size()) return;
  const bool is_same = location.file == last_line_.file && location.line == last_line_.line;
  last_line_ = location;
  if (is_same) return;
  const std::string& file = kernel_.files[location.file];
  std::string_view text =
      options_.line_text ? options_.line_text(location.file, location.line) : std::string_view{};
  const std::size_t first = text.find_first_not_of(" \t");
  text = first == std::string_view::npos ? std::string_view{} : text.substr(first);
  while (text.ends_with('\\') || text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  const std::string place =
      fmt::format("{}:{}", std::filesystem::path(file).filename().string(), location.line);
  out_.line(cpp_comment(text.empty() ? place : fmt::format("{}: {}", place, cut_utf8(text, 90))));
  if (options_.line_directives) out_.raw(line_directive(location.line, file));
}

void Emitter::statement(const ir::Op& op, const std::string& text) {
  note_line(op.location);
  out_.line(text);
}

// Whether nothing but comments was written since the last one, in the same scope.
bool Emitter::is_at_barrier() const {
  const std::string& text = out_.text();
  if (barrier_end_ == 0 || barrier_end_ > text.size()) return false;
  for (std::size_t at = barrier_end_; at < text.size(); at = text.find('\n', at) + 1) {
    const std::size_t first = text.find_first_not_of(' ', at);
    if (text.compare(first, 2, "//") != 0 && text.compare(first, 5, "#line") != 0) return false;
  }
  return true;
}

void Emitter::barrier() {
  if (is_at_barrier()) return;
  show_written();
  if (is_consuming_) out_.format("tw::meet_consumers<{}>();", threads_);
  else out_.line("__syncthreads();");
  barrier_end_ = out_.text().size();
  shared_.note_barrier();
  global_.note_barrier();
}

const ir::KernelBuffer& Emitter::scratch_of(const ir::Op& op) const {
  TW_CHECK(!op.text("scratch").empty(), "'{}' has no scratch: add_scratch gives it some",
           op.facts().name);
  return kernel_.buffers[kernel_.buffer_named(op.text("scratch"))];
}

std::string Emitter::owner_text(const Layout& layout) {
  const std::uint64_t copies = layout.copy_bits();
  if (copies == 0) return "";
  const auto found = owners_.find(copies);
  if (found != owners_.end()) return found->second;
  const std::string name = names_.make("is_owner");
  const std::uint64_t all = (std::uint64_t{1} << layout.thread_bits()) - 1;
  const std::uint64_t kept = all & ~copies;
  prologue_.push_back((kept & (kept + 1)) == 0
                          ? fmt::format("const bool {} = thread < {};", name, kept + 1)
                          : fmt::format("const bool {} = (thread & {}) == 0;", name, copies));
  return owners_[copies] = name;
}

}  // namespace tilewright
