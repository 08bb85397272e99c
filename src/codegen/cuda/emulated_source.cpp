// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/emulated_source.cpp — emitted CUDA text as a source for the CPU: the library's twins
// in place of inline PTX, lines of the user's file, blocks of a cluster as one.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "base/embedded.h"
#include "base/quote.h"
#include "codegen/cuda/emit.h"
#include "codegen/cuda/library_headers.h"
#include "codegen/cuda/source_lines.h"
#include "codegen/emulate/rewrite.h"
#include "codegen/text/wgmma_functions.h"

namespace tilewright {
namespace {

// Parts with inline PTX; device_lib/emulate/cuda has a twin of the same name.
constexpr std::string_view twinned_parts[] = {"ptx",   "async_copy", "mma",
                                              "wgmma", "ring",       "cluster"};

// The library's parts, those with inline PTX replaced by their twins, and then the text without
// what includes them. Lines keep their names and numbers.
std::string self_contained(const KernelSource& source) {
  std::string out;
  for (const NamedFile& header : source.headers) {
    std::string_view text = header.text;
    std::string twins;
    if (header.name == wgmma_header) text = twins = emulated_wgmma_functions(text);
    for (std::string_view part : twinned_parts)
      if (header.name == header_name(part))
        text = embedded_file(fmt::format("device_lib/emulate/cuda/{}.cuh", part));
    out += line_directive(1, header.name) + std::string(text);
  }
  std::string_view text = source.text;
  int line = 1;
  for (; text.starts_with("#include"); ++line) text.remove_prefix(text.find('\n') + 1);
  return out + line_directive(line, source.name + ".cu") + without_line_directives(text);
}

// Sets tw_emulate::source_map: messages of the checks then name lines of the user's file too.
std::string source_map_text(const KernelSource& source) {
  std::string_view text = source.text;
  int first = 1;
  for (; text.starts_with("#include"); ++first) text.remove_prefix(text.find('\n') + 1);
  const SourceLines lines = source_lines(text);
  if (lines.files.empty()) return "";
  std::string numbers;
  for (const auto& [line, file] : lines.lines) numbers += fmt::format("{{{},{}}},", line, file);
  return fmt::format(
      "static const TwSourceLine tw_source_lines[] = {{{}}};\n"
      "static const char* const tw_source_files[] = {{{}}};\n"
      "static const TwSourceMap tw_source_map = {{tw_source_lines, {}, {}, tw_source_files}};\n"
      "[[gnu::used]] static const bool tw_has_source_map =\n"
      "    (tw_emulate::source_map = &tw_source_map, true);\n",
      numbers, fmt::join(lines.files, ", "), first, lines.lines.size());
}

std::int64_t blocks_of_cluster(const LaunchStep& step) {
  const PlanExpression& blocks = step.cluster[0];
  return blocks.size() == 1 && blocks[0].kind == PlanOp::Kind::Constant ? blocks[0].value : 1;
}

// Tells the runtime that one block has the threads and the shared memory of so many.
std::string joined_text(const std::string& entry, std::int64_t blocks) {
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"default\"))) const int {0}_joined_blocks;\n"
      "const int {0}_joined_blocks = {1};\n",
      entry, blocks);
}

// A cluster is one large block; emulated programs share no blocks.
void join_cluster(LaunchStep& step) {
  if (step.cluster[0].empty()) return;
  step.block[0].insert(step.block[0].end(), step.cluster[0].begin(), step.cluster[0].end());
  step.block[0].push_back({PlanOp::Kind::Multiply});
  step.shared_bytes.insert(step.shared_bytes.end(), step.cluster[0].begin(), step.cluster[0].end());
  step.shared_bytes.push_back({PlanOp::Kind::Multiply});
  for (PlanExpression& size : step.cluster) size.clear();
  step.grid[0].clear();
}

// All that our own text can have against it are the user's instructions.
EmulatedSource emulated_text_of(const KernelSource& source) {
  try {
    return emulate_cuda(self_contained(source), source.name + ".cu");
  } catch (const SyntaxOrTypeError& error) {
    if (error.diagnostic().message.find("inline PTX") == std::string::npos) throw;
    throw ArgumentError(
        fmt::format("kernel '{}' holds inline PTX (tl.inline_asm_elementwise), which NVIDIA GPUs "
                    "alone run; write it with tl functions to emulate it",
                    source.kernels.front().name));
  }
}

}  // namespace

KernelSource emulate_source(const KernelSource& source) {
  const EmulatedSource emulated = emulated_text_of(source);
  KernelSource out;
  out.language = Language::Cpp;
  out.name = source.name;
  out.text = emulation_prelude({&emulated, 1}) + emulated.text;
  if (is_emulation_checked()) out.text += source_map_text(source);
  out.options = emulation_options();
  out.options.push_back("-fwrapv");
  for (const std::string& option : source.options)
    if (option.starts_with(lanes_option)) out.options.push_back(option);
  out.kernels = source.kernels;
  std::int64_t most_blocks = 1;
  for (std::size_t i = 0; i < out.kernels.size(); ++i) {
    LaunchStep& step = out.kernels[i].variants.front().steps.front();
    const std::string kernel = step.entry;
    step.entry = fmt::format("entry_{}", i);
    if (const std::int64_t blocks = blocks_of_cluster(step); blocks > 1) {
      out.text += joined_text(step.entry, blocks);
      most_blocks = std::max(most_blocks, blocks);
    }
    join_cluster(step);
    out.text += emulated_entry(step.entry, kernel, uses_barriers(emulated, kernel));
    if (const auto& otherwise = source.kernels[i].otherwise)
      out.kernels[i].otherwise = std::make_shared<const KernelSource>(emulate_source(*otherwise));
  }
  if (most_blocks > 1) out.options.push_back(fmt::format("-DTW_EMULATE_BLOCKS={}", most_blocks));
  return out;
}

}  // namespace tilewright
