// SPDX-License-Identifier: Apache-2.0
// layout/layout.cpp — blocked layouts, views, owners.
#include "layout/layout.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace tilewright {

Layout::Layout(BitMatrix registers, BitMatrix lanes, BitMatrix warps)
    : registers_(std::move(registers)), lanes_(std::move(lanes)), warps_(std::move(warps)) {
  TW_CHECK(registers_.rows() == lanes_.rows() && lanes_.rows() == warps_.rows(),
           "a layout of {}, {} and {} element bits", registers_.rows(), lanes_.rows(),
           warps_.rows());
}

Layout Layout::blocked(const Blocked& blocked) {
  std::vector<std::uint64_t> dealt;  // index bits, fastest dimension first
  for (int d : blocked.order) {
    const int low = first_bit(blocked.log_sizes, d);
    for (int b = 0; b < blocked.log_sizes[static_cast<std::size_t>(d)]; ++b)
      dealt.push_back(std::uint64_t{1} << (low + b));
  }
  const int bits = index_bits(blocked.log_sizes);
  TW_CHECK(static_cast<int>(dealt.size()) == bits, "a blocked order that is no permutation");
  std::size_t next = 0;
  const auto take = [&](int count) {
    std::vector<std::uint64_t> columns;
    for (int i = 0; i < count; ++i) columns.push_back(next < dealt.size() ? dealt[next++] : 0);
    return columns;
  };
  const int fastest = blocked.order.empty()
                          ? 0
                          : blocked.log_sizes[static_cast<std::size_t>(blocked.order.front())];
  std::vector<std::uint64_t> registers = take(std::min(blocked.log_vector, fastest));
  std::vector<std::uint64_t> lanes = take(blocked.log_lanes);
  std::vector<std::uint64_t> warps = take(blocked.log_warps);
  registers.insert(registers.end(), dealt.begin() + static_cast<std::ptrdiff_t>(next), dealt.end());
  return {BitMatrix(bits, std::move(registers)), BitMatrix(bits, std::move(lanes)),
          BitMatrix(bits, std::move(warps))};
}

std::uint64_t Layout::element(const Place& place) const {
  return registers_(place.reg) ^ lanes_(place.lane) ^ warps_(place.warp);
}

Place Layout::owner(std::uint64_t element) const {
  const std::optional<std::uint64_t> bits = matrix().solve(element);
  TW_CHECK(bits, "element {} is held nowhere in {}", element, to_string());
  const int registers = registers_.columns();
  const int lanes = lanes_.columns();
  return {*bits & ((std::uint64_t{1} << registers) - 1),
          *bits >> registers & ((std::uint64_t{1} << lanes) - 1), *bits >> (registers + lanes)};
}

std::uint64_t Layout::copy_bits() const {
  const BitMatrix threads = thread_matrix();
  std::uint64_t copies = 0;
  for (int j = 0; j < threads.columns(); ++j)
    if (threads.column(j) == 0) copies |= std::uint64_t{1} << j;
  return copies;
}

int Layout::log_vector() const {
  int log = 0;
  while (log < registers_.columns() && registers_.column(log) == std::uint64_t{1} << log) ++log;
  return log;
}

Layout Layout::through(const BitMatrix& to_result) const {
  return {to_result * registers_, to_result * lanes_, to_result * warps_};
}

std::optional<Layout> Layout::part(const IndexMap& view) const {
  const auto columns = [&](const BitMatrix& of, bool may_lack) -> std::optional<BitMatrix> {
    std::vector<std::uint64_t> kept;
    for (const std::uint64_t column : of.all_columns()) {
      const auto inside = view.matrix.solve(column);
      if (inside) kept.push_back(*inside);
      else if (!may_lack) return std::nullopt;
    }
    return BitMatrix(view.matrix.columns(), std::move(kept));
  };
  const auto lanes = columns(lanes_, false), warps = columns(warps_, false);
  if (!lanes || !warps) return std::nullopt;
  Layout out(*columns(registers_, true), *lanes, *warps);
  return out.covers_all() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Layout> Layout::rows_within_warps(int log_vector) const {
  std::uint64_t taken = 0;
  for (const std::uint64_t column : warps_.all_columns()) {
    if (!std::has_single_bit(column) || (taken & column) != 0) return std::nullopt;
    taken |= column;
  }
  for (const BitMatrix& of : {registers_, lanes_})
    for (const std::uint64_t column : of.all_columns())
      if ((column & taken) != 0) return std::nullopt;
  std::vector<std::uint64_t> registers, lanes;
  for (int bit = 0; bit < element_bits(); ++bit) {
    const std::uint64_t column = std::uint64_t{1} << bit;
    if ((taken & column) != 0) continue;
    const bool is_vector = static_cast<int>(registers.size()) < log_vector;
    const bool is_lane = !is_vector && static_cast<int>(lanes.size()) < lanes_.columns();
    (is_lane ? lanes : registers).push_back(column);
  }
  if (static_cast<int>(lanes.size()) < lanes_.columns()) return std::nullopt;
  return Layout(BitMatrix(element_bits(), std::move(registers)),
                BitMatrix(element_bits(), std::move(lanes)), warps_);
}

std::optional<Layout> Layout::lines_in_registers(int log_vector) const {
  const auto columns = registers_.all_columns(), of_lanes = lanes_.all_columns();
  std::vector<std::uint64_t> vector, rest(columns.begin(), columns.end()),
      lanes(of_lanes.begin(), of_lanes.end());
  for (int bit = 0; bit < log_vector; ++bit) {
    const std::uint64_t column = std::uint64_t{1} << bit;
    vector.push_back(column);
    if (std::erase(rest, column) != 0) continue;
    const auto lane = std::find(lanes.begin(), lanes.end(), column);
    auto next = rest.end();
    for (auto at = rest.begin(); at != rest.end(); ++at)
      if (*at >> log_vector != 0 && (next == rest.end() || *at < *next)) next = at;
    if (lane == lanes.end() || next == rest.end()) return std::nullopt;
    *lane = *next;
    rest.erase(next);
  }
  vector.insert(vector.end(), rest.begin(), rest.end());
  return Layout(BitMatrix(element_bits(), std::move(vector)),
                BitMatrix(element_bits(), std::move(lanes)), warps_);
}

Layout Layout::without_register_copies() const {
  std::vector<std::uint64_t> kept;
  for (std::uint64_t column : registers_.all_columns()) {
    if (BitMatrix(element_bits(), kept).solve(column)) continue;
    kept.push_back(column);
  }
  return {BitMatrix(element_bits(), std::move(kept)), lanes_, warps_};
}

std::string Layout::to_string() const {
  return fmt::format("register {} | lane {} | warp {}", fmt::join(registers_.all_columns(), " "),
                     fmt::join(lanes_.all_columns(), " "), fmt::join(warps_.all_columns(), " "));
}

}  // namespace tilewright
