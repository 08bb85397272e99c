// SPDX-License-Identifier: Apache-2.0
// machine/units.cpp — the table of units of products.
#include "machine/units.h"

namespace tilewright {
namespace {

// Shapes by the bytes of an operand's element.
constexpr MmaShape of_1_byte{.log_rows = 4, .log_columns = 3, .log_depth = 5, .log_word = 2};
constexpr MmaShape of_2_bytes{.log_rows = 4, .log_columns = 3, .log_depth = 4, .log_word = 1};
constexpr MmaShape of_4_bytes{.log_rows = 4, .log_columns = 3, .log_depth = 3, .log_word = 0};
constexpr MmaShape of_8_bytes{.log_rows = 3, .log_columns = 3, .log_depth = 2, .log_word = 0};

using enum DType;

constexpr ProductUnit units[] = {
    {"mma_f16", Float16, Float16, "", Feature::MmaF16, of_2_bytes},
    {"mma_bf16", BFloat16, BFloat16, "", Feature::MmaBf16, of_2_bytes},
    {"mma_tf32", Float32, Float32, "tf32", Feature::MmaTf32, of_4_bytes},
    {"mma_tf32x3", Float32, Float32, "tf32x3", Feature::MmaTf32, of_4_bytes},
    {"mma_tf32x3", Float32, Float32, "bf16x3", Feature::MmaTf32, of_4_bytes},
    {"mma_tf32x3", Float32, Float32, "bf16x6", Feature::MmaTf32, of_4_bytes},
    {"mma_f64", Float64, Float64, "", Feature::MmaF64, of_8_bytes},
    {"mma_i8", Int8, Int8, "", Feature::MmaI8, of_1_byte},
    {"mma_e4m3_e4m3", Float8E4M3, Float8E4M3, "", Feature::MmaF8, of_1_byte},
    {"mma_e4m3_e5m2", Float8E4M3, Float8E5M2, "", Feature::MmaF8, of_1_byte},
    {"mma_e5m2_e4m3", Float8E5M2, Float8E4M3, "", Feature::MmaF8, of_1_byte},
    {"mma_e5m2_e5m2", Float8E5M2, Float8E5M2, "", Feature::MmaF8, of_1_byte},
};

constexpr GroupUnit group_units[] = {
    {"wgmma_f16", Float16, Float16},
    {"wgmma_bf16", BFloat16, BFloat16},
    {"wgmma_tf32", Float32, Float32},
    {"wgmma_i8", Int8, Int8},
    {"wgmma_e4m3_e4m3", Float8E4M3, Float8E4M3},
    {"wgmma_e4m3_e5m2", Float8E4M3, Float8E5M2},
    {"wgmma_e5m2_e4m3", Float8E5M2, Float8E4M3},
    {"wgmma_e5m2_e5m2", Float8E5M2, Float8E5M2},
};

}  // namespace

std::span<const ProductUnit> product_units() { return units; }

const ProductUnit* unit_named(std::string_view name) {
  for (const ProductUnit& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

const GroupUnit* group_unit_named(std::string_view name) {
  for (const GroupUnit& unit : group_units)
    if (unit.name == name) return &unit;
  return nullptr;
}

const GroupUnit* find_group_unit(DType left, DType right) {
  for (const GroupUnit& unit : group_units)
    if (unit.left == left && unit.right == right) return &unit;
  return nullptr;
}

bool has_group_unit(DType left, DType right, DType sum, std::string_view precision) {
  const auto is_float8 = [](DType dtype) { return dtype == DType::Float8E4M3 || dtype == DType::Float8E5M2; };
  if (left == DType::Int8) return right == left && sum == DType::Int32;
  if (sum != DType::Float32 && sum != DType::Float16) return false;
  if (is_float8(left)) return is_float8(right);
  if (left != right) return false;
  if (left == DType::Float32) return precision == "tf32";
  return left == DType::Float16 || left == DType::BFloat16;
}

const ProductUnit* find_unit(const Target& target, DType left, DType right,
                             std::string_view precision) {
  for (const ProductUnit& unit : units)
    if (unit.left == left && unit.right == right && unit.precision == precision)
      return target.has(unit.feature) && target.warp_size == unit.lanes ? &unit : nullptr;
  return nullptr;
}

}  // namespace tilewright
