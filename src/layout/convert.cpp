// SPDX-License-Identifier: Apache-2.0
// layout/convert.cpp — decides by comparing columns.
#include "layout/convert.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tilewright {

// Register r of a thread t asks for view(to(r, t)). It stays within the thread with a register
// number that is the same for all threads exactly when lanes and warps contribute the same to both
// sides and the register's part (with the view's offset) is made of registers of `from` alone.
Conversion plan_conversion(const Layout& from, const Layout& to, const IndexMap& view) {
  TW_CHECK(from.thread_bits() == to.thread_bits(), "layouts of {} and {} thread bits",
           from.thread_bits(), to.thread_bits());
  if (!(view.matrix * to.thread_matrix() == from.thread_matrix())) return {};
  // All is linear, so that the registers of two sources together are those of their bits together.
  const auto first = from.registers().solve(view.offset);
  if (!first) return {};
  Conversion out{Conversion::Kind::Registers, {static_cast<std::uint32_t>(*first)}};
  for (int bit = 0; bit < to.registers().columns(); ++bit) {
    const auto source =
        from.registers().solve(view.matrix(to.registers()(std::uint64_t{1} << bit)));
    if (!source) return {};
    const std::size_t count = out.source.size();
    for (std::size_t r = 0; r < count; ++r)
      out.source.push_back(out.source[r] ^ static_cast<std::uint32_t>(*source));
  }
  return out;
}

Layout swapped(const Layout& layout, const std::vector<LaneSwap>& swaps) {
  const auto registers = layout.registers().all_columns(), lanes = layout.lanes().all_columns();
  std::vector<std::uint64_t> new_registers(registers.begin(), registers.end());
  std::vector<std::uint64_t> new_lanes(lanes.begin(), lanes.end());
  for (const LaneSwap& swap : swaps)
    std::swap(new_lanes[static_cast<std::size_t>(swap.lane)],
              new_registers[static_cast<std::size_t>(swap.register_bit)]);
  return Layout(BitMatrix(layout.element_bits(), std::move(new_registers)),
                BitMatrix(layout.element_bits(), std::move(new_lanes)), layout.warps());
}

std::optional<std::vector<LaneSwap>> plan_swaps(const Layout& from, const Layout& to) {
  if (from.lanes().columns() != to.lanes().columns() || !(from.warps() == to.warps()))
    return std::nullopt;
  std::vector<LaneSwap> swaps;
  for (int lane = 0; lane < from.lanes().columns(); ++lane) {
    const std::uint64_t wanted = to.lanes().column(lane);
    if (from.lanes().column(lane) == wanted) continue;
    const auto registers = from.registers().all_columns();
    const auto found = std::find(registers.begin(), registers.end(), wanted);
    if (found == registers.end()) return std::nullopt;
    swaps.push_back({lane, static_cast<int>(found - registers.begin())});
  }
  const Layout after = swapped(from, swaps);
  const IndexMap same{BitMatrix::identity(from.element_bits()), 0};
  if (plan_conversion(after, to, same).kind != Conversion::Kind::Registers) return std::nullopt;
  return swaps;
}

}  // namespace tilewright
