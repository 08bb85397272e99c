// SPDX-License-Identifier: Apache-2.0
// passes/laid/scan_plan.cpp — the order of an axis' bits in a layout.
#include "passes/laid/scan_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace tilewright {
namespace {

// One bit of the axis: where it stands along the axis and in the layout.
struct AxisBit {
  enum class Place : std::uint8_t { Register, Lane, Warp };
  int rank = 0;  // its number along the axis
  Place place = Place::Register;
  int number = 0;  // of the column there
};

// In the order of registers, lanes, warps; none when a column mixes the axis with anything else.
std::optional<std::vector<AxisBit>> axis_bits(const Layout& layout, LogSizes sizes, int axis) {
  const IndexMap along = coordinate_map(sizes, axis);
  const std::array<const BitMatrix*, 3> parts = {&layout.registers(), &layout.lanes(),
                                                 &layout.warps()};
  std::vector<AxisBit> out;
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (int j = 0; j < parts[part]->columns(); ++j) {
      const std::uint64_t column = parts[part]->column(j);
      const std::uint64_t coordinate = along.matrix(column);
      if (coordinate == 0) continue;
      if (!std::has_single_bit(column)) return std::nullopt;
      out.push_back({std::countr_zero(coordinate), static_cast<AxisBit::Place>(part), j});
    }
  const auto length = static_cast<std::size_t>(sizes[static_cast<std::size_t>(axis)]);
  if (out.size() != length) return std::nullopt;
  return out;
}

}  // namespace

int ScanPlan::exchanged() const {
  return 1 << (log_registers - std::popcount(static_cast<unsigned>(inner)));
}

std::int64_t ScanPlan::slots(int all_warps, int all_lanes) const {
  return warps == 0 ? 0 : std::int64_t{exchanged()} * all_warps * (lanes == all_lanes - 1 ? 1 : all_lanes);
}

std::optional<ScanPlan> plan_scan(const Layout& layout, LogSizes sizes, int axis) {
  std::optional<std::vector<AxisBit>> bits = axis_bits(layout, sizes, axis);
  if (!bits) return std::nullopt;
  std::sort(bits->begin(), bits->end(),
            [](const AxisBit& a, const AxisBit& b) { return a.rank < b.rank; });
  ScanPlan out{.log_registers = layout.registers().columns()};
  enum Section { Inner, Lanes, Warps, Outer };
  int* const masks[] = {&out.inner, &out.lanes, &out.warps, &out.outer};
  int section = Inner;
  for (const AxisBit& bit : *bits) {
    int wanted = bit.place == AxisBit::Place::Lane ? Lanes : Warps;
    if (bit.place == AxisBit::Place::Register) wanted = section == Inner ? Inner : Outer;
    // Within a section higher bits stand for later elements.
    if (wanted < section || *masks[wanted] >> bit.number != 0) return std::nullopt;
    section = wanted;
    *masks[wanted] |= 1 << bit.number;
  }
  return out;
}

Layout with_axis_in_registers(const Layout& layout, LogSizes sizes, int axis, int first_register) {
  const std::optional<std::vector<AxisBit>> bits = axis_bits(layout, sizes, axis);
  if (!bits) return layout;
  std::array<std::vector<std::uint64_t>, 3> columns;
  const std::array<const BitMatrix*, 3> parts = {&layout.registers(), &layout.lanes(),
                                                 &layout.warps()};
  for (std::size_t part = 0; part < parts.size(); ++part)
    columns[part].assign(parts[part]->all_columns().begin(), parts[part]->all_columns().end());
  std::vector<std::uint64_t*> places;
  for (const AxisBit& bit : *bits)
    if (bit.place != AxisBit::Place::Register || bit.number >= first_register)
      places.push_back(
          &columns[static_cast<std::size_t>(bit.place)][static_cast<std::size_t>(bit.number)]);
  std::vector<std::uint64_t> dealt;
  for (const std::uint64_t* place : places) dealt.push_back(*place);
  std::sort(dealt.begin(), dealt.end());
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = dealt[i];
  const int rows = layout.element_bits();
  return {BitMatrix(rows, std::move(columns[0])), BitMatrix(rows, std::move(columns[1])),
          BitMatrix(rows, std::move(columns[2]))};
}

}  // namespace tilewright
