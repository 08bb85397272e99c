// SPDX-License-Identifier: Apache-2.0
// compiler/launcher_maps.cpp — the text that calls cuTensorMapEncodeTiled.
#include "compiler/launcher_maps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "codegen/text/names.h"

namespace tilewright {
namespace {

std::string_view data_type(DType dtype) {
  static constexpr std::string_view names[dtype_count] = {
      "FLOAT64", "FLOAT32", "FLOAT16", "BFLOAT16", "UINT8",  "UINT8",  "UINT8", "UINT16",
      "INT32",   "INT64",   "UINT8",   "UINT16",   "UINT32", "UINT64", "UINT8"};
  return names[static_cast<int>(dtype)];
}

std::string swizzle(int bytes) { return bytes == 0 ? "NONE" : fmt::format("{}B", bytes); }

const KernelParameter& parameter_of(const LaunchPlan& plan, std::size_t map) {
  for (const KernelParameter& parameter : plan.steps.front().parameters)
    if (parameter.kind == KernelParameter::Kind::TensorMap &&
        parameter.map == static_cast<int>(map))
      return parameter;
  TW_UNREACHABLE("no parameter is tensor map {}", map);
}

std::string numbers(const std::vector<PlanExpression>& expressions,
                    const std::function<std::string(const PlanExpression&)>& number) {
  std::vector<std::string> texts;
  for (const PlanExpression& one : expressions)
    texts.push_back(fmt::format("static_cast<cuuint64_t>({})", number(one)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Sizes and strides of a map are known only at the launch; the rest is written out. The correction
// is that of runtime/cuda/tensor_map.cpp.
constexpr std::string_view functions = R"(
inline CUresult {kernel}_map(CUtensorMap& map, CUtensorMapDataType type, std::uint64_t element_bytes,
                             cuuint32_t rank, const void* address, const cuuint64_t* sizes,
                             const cuuint64_t* strides, const cuuint32_t* box,
                             CUtensorMapSwizzle swizzle) {{
  const cuuint32_t steps[5] = {{1, 1, 1, 1, 1}};
  const CUresult result = cuTensorMapEncodeTiled(
      &map, type, rank, const_cast<void*>(address), sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return result;
  // Drivers up to CUDA 13.1 set a bit that is wrong for tensors of less than 128 KiB.
  std::uint64_t bytes = sizes[0] * element_bytes;
  for (cuuint32_t d = 1; d < rank; ++d) bytes += (sizes[d] - 1) * strides[d - 1];
  int version = 0;
  const CUresult asked = cuDriverGetVersion(&version);
  if (version <= 13010 && bytes < 128 * 1024) map.opaque[1] &= ~(std::uint64_t{{1}} << 21);
  return asked;
}}
)";

constexpr std::string_view one_map = R"(  CUtensorMap {name};
  {{
    const cuuint64_t sizes[] = {{{sizes}}};
    const cuuint64_t strides[] = {{{strides}}};
    const cuuint32_t box[] = {{{box}}};
    const CUresult made = detail::{kernel}_map({name}, CU_TENSOR_MAP_DATA_TYPE_{type}, {bytes}, {rank},
                                               {argument}, sizes, strides, box,
                                               CU_TENSOR_MAP_SWIZZLE_{swizzle});
    if (made != CUDA_SUCCESS) return made;
  }}
)";

}  // namespace

std::string launcher_map_name(int map) { return fmt::format("map_{}", map); }

std::string launcher_maps(const LaunchPlan& plan, const std::vector<std::string>& names,
                          const std::function<std::string(const PlanExpression&)>& number) {
  std::string text;
  for (std::size_t i = 0; i < plan.tensor_maps.size(); ++i) {
    const TensorMapPlan& map = plan.tensor_maps[i];
    const std::string strides = map.strides.empty() ? "0" : numbers(map.strides, number);
    text += fmt::format(
        fmt::runtime(one_map), fmt::arg("name", launcher_map_name(static_cast<int>(i))),
        fmt::arg("sizes", numbers(map.sizes, number)), fmt::arg("strides", strides),
        fmt::arg("box", fmt::join(map.box, ", ")), fmt::arg("type", map.rounds_to_tf32 ? "TFLOAT32" : data_type(map.dtype)),
        fmt::arg("bytes", size_of(map.dtype)), fmt::arg("rank", map.sizes.size()),
        fmt::arg("argument", names[static_cast<std::size_t>(parameter_of(plan, i).index)]),
        fmt::arg("swizzle", swizzle(map.swizzle_bytes)),
        fmt::arg("kernel", plan.steps.front().entry));
  }
  return text;
}

std::string launcher_map_functions(const LaunchPlan& plan, const std::string& kernel) {
  if (plan.tensor_maps.empty()) return "";
  return fmt::format(fmt::runtime(functions), fmt::arg("kernel", kernel));
}

}  // namespace tilewright
