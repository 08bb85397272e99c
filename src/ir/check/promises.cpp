// SPDX-License-Identifier: Apache-2.0
// ir/check/promises.cpp — multiple_of, max_contiguous and max_constancy against the values.
#include <fmt/format.h>

#include "ir/check/checker.h"

namespace tilewright::ir {
namespace {

// What the hint counts: integers as they are, pointers in bytes from the beginning of their tensor.
// Where a tensor begins is the allocator's business: on a device at a multiple of 256.
Tile counted_tile(const Program& program, Tile tile) {
  if (tile.type.is_pointer)
    for (Element& element : tile.elements) element.i = program.memory().distance(element.i);
  return tile;
}

std::int64_t counted(const Tile& tile, std::size_t i) { return tile.elements[i].i; }

struct Broken {
  std::size_t element = 0;
  std::string how;
};

// Along one dimension: neighbours that are consecutive are a run, of which only the first is
// promised to be a multiple.
std::optional<Broken> broken_divisor(const Tile& tile, std::size_t stride, std::int64_t size,
                                     std::int64_t divisor) {
  const std::int64_t step =
      tile.type.is_pointer ? static_cast<std::int64_t>(size_of(tile.type.dtype)) : 1;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const auto along = static_cast<std::int64_t>(i / stride) % size;
    if (along > 0 && counted(tile, i) == counted(tile, i - stride) + step) continue;
    if (counted(tile, i) % divisor != 0)
      return Broken{i, fmt::format("{} is no multiple of {}", counted(tile, i), divisor)};
  }
  return std::nullopt;
}

std::optional<Broken> broken_run(const Tile& tile, std::size_t stride, std::int64_t size,
                                 std::int64_t length, bool is_constant) {
  const std::int64_t step = is_constant ? 0
                            : tile.type.is_pointer
                                ? static_cast<std::int64_t>(size_of(tile.type.dtype))
                                : 1;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const auto along = static_cast<std::int64_t>(i / stride) % size;
    if (along % length == 0) continue;
    if (counted(tile, i) != counted(tile, i - stride) + step)
      return Broken{i, fmt::format("{} follows {}", counted(tile, i), counted(tile, i - stride))};
  }
  return std::nullopt;
}

}  // namespace

void Checker::check_promises(const Program& program, const Op& op) {
  if (kernel_.type(op.operands[0]).is_float() || op.attributes.empty()) return;
  const Tile tile = counted_tile(program, program.value(op.operands[0]));
  const auto check = [&](std::string_view name, const auto& broken) {
    const std::vector<std::int64_t> promised = op.integers(name);
    std::size_t stride = tile.size();
    for (std::size_t d = 0; d < promised.size(); ++d) {
      const std::int64_t size = tile.type.is_scalar() ? 1 : tile.type.size(static_cast<int>(d));
      stride /= static_cast<std::size_t>(size);
      const std::optional<Broken> found = broken(stride, size, promised[d]);
      if (!found) continue;
      auto finding =
          begin(FindingKind::Promise, op, nullptr, program, &op.operands[0], found->element);
      if (!finding) return;
      finding->message =
          fmt::format("a promise does not hold: {} = {} in dimension {}", name, promised[d], d);
      finding->values.push_back(found->how);
      finding->remedy =
          "remove the promise, or launch with values that keep it: generated code "
          "relies on it";
      findings_.add(std::move(*finding));
      return;
    }
  };
  check("divisible", [&](std::size_t stride, std::int64_t size, std::int64_t promised) {
    return broken_divisor(tile, stride, size, promised);
  });
  check("contiguous", [&](std::size_t stride, std::int64_t size, std::int64_t promised) {
    return broken_run(tile, stride, size, promised, false);
  });
  check("constant", [&](std::size_t stride, std::int64_t size, std::int64_t promised) {
    return broken_run(tile, stride, size, promised, true);
  });
}

}  // namespace tilewright::ir
