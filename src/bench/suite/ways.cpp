// SPDX-License-Identifier: Apache-2.0
// bench/suite/ways.cpp — the registry of ways, and what can be said of a way without running it.
#include "bench/suite/ways.h"

#include <array>

#include <fmt/format.h>

#include "base/embedded.h"
#include "bench/suite/inline_ways.h"
#include "bench/suite/simt_ways.h"
#include "bench/suite/tensor_ways.h"
#include "bench/suite/tile_ways.h"

namespace tilewright::suite {
namespace {

using Where = Way::Where;

// operation, way, source, how it is made ready; where, float32 only, roundings,
// elements for emulation
constexpr std::array registry = {
    Way{"add", "builtin", "kernels/add_builtin.inc", builtin_way},
    Way{"add", "compiled", "kernels/add_builtin.inc", compiled_way},
    Way{"add", "tile", "kernels/add.py", tile_elementwise},
    Way{"add", "cuda", "kernels/add.cu", cuda_elementwise, Where::Anywhere, true, 4, 1 << 22},
    Way{"add", "simt", "kernels/add_simt.py", simt_elementwise, Where::Anywhere, true},
    Way{"add", "cpp", "kernels/add.cpp.in", cpp_elementwise, Where::Cpu, true},
    Way{"attention", "tile", "kernels/attention.py", tile_attention},
    Way{"cross_entropy", "manual", "kernels/cross_entropy_manual.inc", manual_way, Where::Anywhere,
        false, 16},
    Way{"cross_entropy", "builtin", "kernels/cross_entropy_builtin.inc", builtin_way},
    Way{"cross_entropy", "compiled", "kernels/cross_entropy_manual.inc", compiled_way},
    Way{"cross_entropy", "tile", "kernels/cross_entropy.py", tile_cross_entropy},
    Way{"dropout", "tile", "kernels/dropout.py", tile_dropout},
    Way{"gelu", "manual", "kernels/gelu_manual.inc", manual_way, Where::Anywhere, false, 16},
    Way{"gelu", "builtin", "kernels/gelu_builtin.inc", builtin_way},
    Way{"gelu", "compiled", "kernels/gelu_manual.inc", compiled_way},
    Way{"gelu", "tile", "kernels/gelu.py", tile_elementwise},
    Way{"gelu", "cuda", "kernels/gelu.cu", cuda_elementwise, Where::Anywhere, true, 4, 1 << 22},
    Way{"gelu", "cuda_vector", "kernels/gelu_vector.cu", cuda_vectors, Where::Anywhere, true, 4,
        1 << 22},
    Way{"gelu", "simt", "kernels/gelu_simt.py", simt_elementwise, Where::Anywhere, true},
    Way{"gelu", "cpp", "kernels/gelu.cpp.in", cpp_elementwise, Where::Cpu, true},
    Way{"layernorm", "manual", "kernels/layernorm_manual.inc", manual_way, Where::Anywhere, false,
        16},
    Way{"layernorm", "builtin", "kernels/layernorm_builtin.inc", builtin_way},
    Way{"layernorm", "compiled", "kernels/layernorm_manual.inc", compiled_way},
    Way{"layernorm", "tile", "kernels/layernorm.py", tile_rows},
    Way{"matmul", "builtin", "kernels/matmul_builtin.inc", builtin_way},
    Way{"matmul", "compiled", "kernels/matmul_builtin.inc", compiled_way},
    Way{"matmul", "tile", "kernels/matmul.py", tile_matmul},
    Way{"matmul", "cuda", "kernels/matmul.cu", cuda_matmul, Where::Anywhere, true, 4, 1 << 21},
    Way{"matmul", "simt", "kernels/matmul_simt.py", simt_matmul, Where::Anywhere, true, 4, 1 << 21},
    Way{"matmul", "cpp", "kernels/matmul.cpp.in", cpp_matmul, Where::Cpu, true},
    Way{"rmsnorm", "manual", "kernels/rmsnorm_manual.inc", manual_way, Where::Anywhere, false, 16},
    Way{"rmsnorm", "builtin", "kernels/rmsnorm_builtin.inc", builtin_way},
    Way{"rmsnorm", "compiled", "kernels/rmsnorm_manual.inc", compiled_way},
    Way{"rmsnorm", "tile", "kernels/rmsnorm.py", tile_rows},
    Way{"softmax", "manual", "kernels/softmax_manual.inc", manual_way, Where::Anywhere, false, 16},
    Way{"softmax", "builtin", "kernels/softmax_builtin.inc", builtin_way},
    Way{"softmax", "compiled", "kernels/softmax_manual.inc", compiled_way},
    Way{"softmax", "tile", "kernels/softmax.py", tile_rows},
    Way{"softmax", "cuda", "kernels/softmax.cu", cuda_rows, Where::Anywhere, true, 4, 1 << 16},
    Way{"softmax", "simt", "kernels/softmax_simt.py", simt_rows, Where::Anywhere, true, 4, 1 << 16},
    Way{"softmax", "cpp", "kernels/softmax.cpp.in", cpp_rows, Where::Cpu, true},
};

std::string_view without_indent(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

bool is_code(std::string_view line) {
  for (const std::string_view start : {"//", "#include", "import ", "from "})
    if (line.starts_with(start)) return false;
  // A comment of Python; directives of C++ are code.
  return !line.empty() && !line.starts_with("# ");
}

}  // namespace

std::span<const Way> all_ways() { return registry; }

std::vector<Way> ways_of(std::string_view operation) {
  std::vector<Way> ways;
  for (const Way& way : registry)
    if (way.operation == operation) ways.push_back(way);
  return ways;
}

std::string why_not(const Way& way, const Shape& shape, DType dtype, Device device) {
  if (way.is_float32_only && dtype != DType::Float32)
    return fmt::format("written for float32 only, not {}", name_of(dtype));
  if (way.where == Way::Where::Cpu && !device.is_cpu()) return "runs on the CPU only";
  double elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  if (device.is_cpu() && way.emulation_limit > 0 &&
      elements > static_cast<double>(way.emulation_limit))
    return fmt::format("emulated without a GPU, slow at this size; --ways {} runs it", way.name);
  return {};
}

int lines_of_code(std::string_view text) {
  int lines = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines += is_code(without_indent(text.substr(0, end))) ? 1 : 0;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view source_of(const Way& way) { return embedded_file(way.file); }

int warps_for_row(std::int64_t columns) {
  return columns < 2048 ? 4 : columns < 4096 ? 8 : columns < 65536 ? 16 : 32;
}

}  // namespace tilewright::suite
