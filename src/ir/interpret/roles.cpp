// SPDX-License-Identifier: Apache-2.0
// ir/interpret/roles.cpp — a producer and its consumers beside each other, and what they do with
// rings.
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/program.h"
#include "ir/map_dimensions.h"

namespace tilewright::ir {

void Roles::run_roles(const Op& op) {
  parts().program.enter(op);
  const std::vector<ControlPlace> outside = path_;
  turns_.run(
      [&] {
        path_ = outside;
        parts().program.run_region(op.regions[0]);
      },
      [&] {
        path_ = outside;
        parts().program.run_region(op.regions[1]);
      });
  path_ = outside;
  parts().program.leave();
}

// Each role keeps its own place in the kernel while the other one runs.
void Roles::wait_for_other_role(const Op& op, std::int64_t position) {
  std::vector<ControlPlace> mine = path_;
  turns_.maybe_hand_over();
  while (rings_.must_wait(op, position)) {
    if (!turns_.is_running() || !turns_.hand_over(true))
      fail(op, fmt::format("'{}' waits for position {} of ring '{}' for ever", op.facts().name,
                           position, op.text("ring")));
  }
  path_ = std::move(mine);
}

void Roles::ring_op(const Op& op) {
  const std::int64_t position = operand(op, 0).elements[0].i;
  std::string problem;
  if (op.kind == OpKind::Release) {
    if (op.operands.size() == 2 && operand(op, 1).elements[0].i == 0) return;
    // Products of a loop that drains go on; of others, nobody reads the slot once they are done.
    const bool drains = !path_.empty() && path_.back().op->integer("drains") != 0;
    problem = rings_.release(op, position, !drains);
  } else if (op.kind == OpKind::Acquire) {
    wait_for_other_role(op, position);
    problem = rings_.acquire(op, position);
  } else {
    wait_for_other_role(op, position);
    std::vector<Rings::Copy> arrived;
    problem = rings_.await(op, position, arrived);
    for (const Rings::Copy& copy : arrived) {  // a copy may read memory until it is awaited
      const Tile now = read_map(*copy.op, copy.coordinates);
      for (std::size_t i = 0; i < now.size(); ++i)
        if (now.elements[i].i != copy.content.elements[i].i)
          fail(*copy.op, "memory was written while the copy of it was under way");
    }
  }
  if (!problem.empty()) fail(op, problem);
  turns_.stop_waiting();
}

void Roles::copy_map(const Op& op) {
  Rings::Copy copy{.op = &op};
  for (std::size_t i = 1; i < op.operands.size(); ++i)
    copy.coordinates.push_back(operand(op, i).elements[0].i);
  check_copy(op, copy.coordinates, kernel_.map_of(op));
  copy.content = read_map(op, copy.coordinates);
  const std::string problem = rings_.start(op, operand(op, 0).elements[0].i, std::move(copy));
  if (!problem.empty()) fail(op, problem);
  turns_.stop_waiting();
}

Tile Roles::read_map(const Op& op, const std::vector<std::int64_t>& coordinates) const {
  const KernelMap& map = kernel_.map_of(op);
  const Type& type = kernel_.buffers[kernel_.buffer_of(op)].type;
  Tile out{type, std::vector<Element>(static_cast<std::size_t>(type.numel()))};
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t index[Type::max_rank] = {};
    for (int d = type.rank; d-- > 0; rest /= type.size(d)) index[d] = rest % type.size(d);
    std::vector<std::int64_t> at = coordinates;
    for (std::size_t d = 0; d < map.dimensions.size(); ++d)
      if (is_of_tile(map.dimensions[d])) at[d] += index[map.dimensions[d].of_tile];
    out.elements[i] = read_map_element(op, map, at, type.dtype);
  }
  return out;
}

}  // namespace tilewright::ir
