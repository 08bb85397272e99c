// SPDX-License-Identifier: Apache-2.0
// load_inline/device_text.cpp — device code without its host surroundings.
#include "load_inline/device_text.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/diagnostic.h"
#include "base/quote.h"
#include "codegen/text/cpp_tokens.h"
#include "load_inline/kernel_stubs.h"
#include "load_inline/text_edits.h"

namespace tilewright {
namespace {

using Kind = Declaration::Kind;

// Headers whose content the preludes hold.
bool is_replaced(std::string_view header) {
  return is_torch_header(header) || is_standard_header(header) || is_cuda_header(header);
}

// <cub/cub.cuh> includes algorithms of the whole device, which are host code.
bool is_all_of_cub(std::string_view header) {
  return header == "<cub/cub.cuh>" || header == "\"cub/cub.cuh\"";
}

bool is_cccl_header(std::string_view header) {
  const std::string_view name = header.substr(header.empty() ? 0 : 1);
  for (std::string_view prefix : {"cooperative_groups", "cub/", "cuda/", "thrust/"})
    if (name.starts_with(prefix)) return true;
  return false;
}

template <class Wanted>
bool includes(std::span<const InlineSource> sources, const Wanted& is_wanted) {
  for (const InlineSource& source : sources)
    for (const Declaration& d : source.outline)
      if (is_wanted(included_header_of(source, d))) return true;
  return false;
}

// ---- What device code names, over any number of steps.

using Names = std::set<std::string, std::less<>>;

void add_identifiers(std::string_view text, Names& names) {
  for (const CppToken& token : tokenize_cpp(text, "declaration"))
    if (token.is_identifier()) names.emplace(token.text);
}

std::string_view text_of(const InlineSource& source, const Declaration& d) {
  return std::string_view(source.text).substr(d.range.begin, d.range.end - d.range.begin);
}

// Template arguments of launches: `scan<Plus><<<...`.
void add_launched(const InlineSource& source, Names& names) {
  const auto tokens = tokenize_cpp(source.text, source.file);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].is("<<<"))
      for (std::size_t j = i; j-- > 0 && !tokens[j].is(";") && !tokens[j].is("{");)
        if (tokens[j].is_identifier()) names.emplace(tokens[j].text);
}

bool is_optional(const Declaration& d) {
  return !d.name.empty() && !d.is_device &&
         (d.kind == Kind::Type || d.kind == Kind::Alias || d.kind == Kind::Variable ||
          d.kind == Kind::HostFunction);
}

Names device_names(std::span<const InlineSource> sources) {
  Names names;
  std::vector<std::pair<const InlineSource*, const Declaration*>> open;
  for (const InlineSource& source : sources) {
    add_launched(source, names);
    for (const Declaration& d : source.outline) {
      const std::string_view text = text_of(source, d);
      if (d.kind == Kind::Directive) {
        if (d.name == "define") add_identifiers(text.substr(1), names);
      } else if (!is_optional(d) || text.find("__device__") != std::string_view::npos) {
        if (is_device_visible(source, d)) add_identifiers(text, names);
      } else {
        open.emplace_back(&source, &d);
      }
    }
  }
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (auto& [source, d] : open) {
      if (d == nullptr || !names.contains(d->name)) continue;
      add_identifiers(text_of(*source, *d), names);
      d = nullptr;
      has_grown = true;
    }
  }
  return names;
}

// With `used`, what is optional and not in it is left out.
std::string device_code(const InlineSource& source, bool for_emulation, bool renames_kernels,
                        const Names* used = nullptr) {
  TextEdits edits(source.text);
  for (const Declaration& d : source.outline) {
    if (used && is_optional(d) && !used->contains(d.name)) {
      edits.blank(d.range);
      continue;
    }
    if (d.kind == Kind::Directive) {
      const std::string_view header = included_header_of(source, d);
      if (is_replaced(header) || (!for_emulation && is_all_of_cub(header))) edits.blank(d.range);
    } else if (!is_device_visible(source, d) || (for_emulation && d.kind == Kind::Instantiation)) {
      edits.blank(d.range);
    } else if (d.kind == Kind::Kernel && renames_kernels) {
      edits.replace(d.name_range, thread_name(d.name));
    }
  }
  return edits.apply();
}

// The small floats and accessors of torch, where device code names them or may be instantiated with
// them.
std::string torch_types(std::span<const InlineSource> sources, bool in_any_case) {
  const bool has_accessor =
      mentions(sources, "PackedTensorAccessor32") || mentions(sources, "PackedTensorAccessor64") ||
      mentions(sources, "PackedTensorAccessor") || mentions(sources, "TensorAccessor");
  const bool has_half = mentions(sources, "Half") || mentions(sources, "BFloat16") ||
                        mentions(sources, "scalar_t") || mentions(sources, "acc_type") ||
                        mentions(sources, "opmath_type");
  std::string out;
  if (has_accessor || has_half || in_any_case) out += embedded_part("torch/small_floats.h");
  if (has_accessor || in_any_case) out += embedded_part("torch/accessor.h");
  return out;
}

// Headers of CCCL come first: what they define is not defined again.
std::string nvrtc_prelude(std::span<const InlineSource> sources) {
  std::string out;
  if (includes(sources, is_cccl_header)) out += embedded_part("torch/device_cccl.cuh");
  if (includes(sources, is_all_of_cub)) out += embedded_part("torch/device_cub.cuh");
  out += embedded_part("torch/device.cuh");
  if (mentions(sources, "std")) out += embedded_part("torch/device_std.cuh");
  return out;
}

}  // namespace

std::string nvrtc_text(std::span<const InlineSource> sources, bool with_torch_types) {
  std::string out = nvrtc_prelude(sources) + torch_types(sources, with_torch_types);
  for (const InlineSource& source : sources)
    if (source.is_cuda)
      out += line_directive(1, source.file) + device_code(source, false, false) + "\n";
  return out;
}

std::string nvrtc_program_text(std::span<const InlineSource> sources) {
  const Names used = device_names(sources);
  std::string out = nvrtc_prelude(sources) + torch_types(sources, false);
  for (const InlineSource& source : sources)
    out += line_directive(1, source.file) + device_code(source, false, false, &used) + "\n";
  return out;
}

namespace {

// A complaint shows the line as the user wrote it, with the caret under the same words.
EmulatedSource emulated_source(const InlineSource& source, bool renames_kernels) {
  const std::string text = device_code(source, true, renames_kernels);
  try {
    return emulate_cuda(text, source.file);
  } catch (const SyntaxOrTypeError& error) {
    Diagnostic diagnostic = error.diagnostic();
    const std::string_view renamed = line_of(text, diagnostic.span.line);
    const std::string_view own = line_of(source.text, diagnostic.span.line);
    const auto same_end = [](std::string_view a, std::string_view b) {
      std::size_t count = 0;
      while (count < std::min(a.size(), b.size()) &&
             a[a.size() - 1 - count] == b[b.size() - 1 - count])
        ++count;
      return count;
    };
    const auto column = static_cast<std::size_t>(diagnostic.span.column);
    if (renamed.size() > own.size() && column + same_end(renamed, own) > renamed.size())
      diagnostic.span.column -= static_cast<int>(renamed.size() - own.size());
    throw SyntaxOrTypeError(std::move(diagnostic), source.text);
  }
}

}  // namespace

EmulatedText emulated_text(std::span<const InlineSource> sources, const EmulationNeeds& needs) {
  EmulatedText out;
  for (const InlineSource& source : sources)
    if (source.is_cuda) out.sources.push_back(emulated_source(source, needs.with_host));
  if (!out.sources.empty()) out.sources[0].needs_standard_library |= needs.with_standard_library;
  out.text = needs.includes + emulation_prelude(out.sources) +
             torch_types(sources, needs.with_host || needs.with_torch_types) + needs.headers;
  for (const EmulatedSource& source : out.sources) out.text += source.text;
  return out;
}

bool EmulatedText::uses_barriers(std::string_view kernel_expression) const {
  // A kernel that one source defines may call a function of another.
  for (const EmulatedSource& source : sources)
    if (source.has_barriers &&
        (sources.size() > 1 || tilewright::uses_barriers(source, kernel_expression)))
      return true;
  return false;
}

}  // namespace tilewright
