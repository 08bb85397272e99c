// SPDX-License-Identifier: Apache-2.0
// load_inline/device_text.cpp — device code without its host surroundings.
#include "load_inline/device_text.h"

#include "codegen/text/cpp_tokens.h"
#include "load_inline/kernel_stubs.h"
#include "load_inline/text_edits.h"

namespace tilewright {
namespace {

using Kind = Declaration::Kind;

// Headers whose content the preludes hold. Emulation looks at CUDA's own itself.
bool is_replaced(std::string_view header, bool for_emulation) {
  if (is_torch_header(header) || is_standard_header(header)) return true;
  return !for_emulation && is_cuda_header(header);
}

std::string device_code(const InlineSource& source, bool for_emulation, bool renames_kernels) {
  TextEdits edits(source.text);
  for (const Declaration& d : source.outline) {
    if (d.kind == Kind::Directive) {
      if (is_replaced(included_header_of(source, d), for_emulation)) edits.blank(d.range);
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
  const bool has_half =
      mentions(sources, "Half") || mentions(sources, "BFloat16") || mentions(sources, "scalar_t");
  std::string out;
  if (has_accessor || has_half || in_any_case) out += embedded_part("torch/small_floats.h");
  if (has_accessor || in_any_case) out += embedded_part("torch/accessor.h");
  return out;
}

}  // namespace

std::string nvrtc_text(std::span<const InlineSource> sources, bool with_torch_types) {
  std::string out = embedded_part("torch/device.cuh");
  if (mentions(sources, "std")) out += embedded_part("torch/device_std.cuh");
  out += torch_types(sources, with_torch_types);
  for (const InlineSource& source : sources)
    if (source.is_cuda)
      out += line_directive(source.file) + device_code(source, false, false) + "\n";
  return out;
}

EmulatedText emulated_text(std::span<const InlineSource> sources, const EmulationNeeds& needs) {
  EmulatedText out;
  for (const InlineSource& source : sources)
    if (source.is_cuda)
      out.sources.push_back(emulate_cuda(device_code(source, true, needs.with_host), source.file));
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
