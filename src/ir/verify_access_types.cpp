// SPDX-License-Identifier: Apache-2.0
// ir/verify_access_types.cpp — type rules of accesses to memory, and of copies, buffers, rings and
// tensor maps.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ir/map_dimensions.h"
#include "ir/type_rules.h"

namespace tilewright::ir {
namespace {

class AccessTypes : TypeRules {
 public:
  using TypeRules::TypeRules;

  void check() const {
    if (op_.kind == OpKind::ReadBuffer) return check_read_buffer();
    if (op_.kind == OpKind::StoreMap) return check_store_map();
    if (op_.facts().is(Family::Access)) check_access();
    else check_sync();
  }

 private:
  void check_access() const {
    switch (access_op(op_.kind)) {
      case AccessOp::Load:
        return check_load();
      case AccessOp::Store:
        return check_store();
      case AccessOp::AtomicRmw:
        return check_atomic_rmw();
      case AccessOp::AtomicCas:
        return check_atomic_cas();
      case AccessOp::CopyAsync:
        return check_copy_async();
    }
  }

  void check_sync() const {
    switch (sync_op(op_.kind)) {
      case SyncOp::WaitCopies:
        return require(op_.integer("pending") >= 0, "pending must not be negative");
      case SyncOp::CommitCopies:
      case SyncOp::Barrier:
      case SyncOp::Fence:
        return;
      case SyncOp::Acquire:
      case SyncOp::Await:
      case SyncOp::Release:
        return check_ring_op();
      case SyncOp::CopyMap:
        return check_copy_map();
      case SyncOp::WaitStores:
        return require(op_.text("until") == "read" || op_.text("until") == "memory",
                       "`until` is read or memory");
    }
  }

  void check_pointers(std::size_t least, std::size_t most) const {
    require(op_.operands.size() >= least && op_.operands.size() <= most, "takes {} to {} operands",
            least, most);
    require(operand(0).is_pointer, "the first operand must be pointers");
  }

  void check_load() const {
    check_pointers(1, 3);
    require_type(result(), operand(0).pointee(), "the result");
    check_mask(1, result());
    if (op_.operands.size() == 3) require_type(operand(2), result(), "other");
  }

  void check_store() const {
    check_pointers(2, 3);
    require_type(operand(1), operand(0).pointee(), "the value");
    check_mask(2, operand(1));
  }

  void check_atomic_rmw() const {
    static constexpr std::string_view kinds[] = {"add", "fadd", "min", "max",
                                                 "and", "or",   "xor", "xchg"};
    check_pointers(2, 3);
    require(std::find(std::begin(kinds), std::end(kinds), op_.text("op")) != std::end(kinds),
            "op must be add, fadd, min, max, and, or, xor or xchg");
    require_type(operand(1), operand(0).pointee(), "the value");
    require_type(result(), operand(1), "the result");
    check_mask(2, operand(1));
  }

  void check_atomic_cas() const {
    check_pointers(3, 3);
    for (std::size_t i : {1u, 2u}) require_type(operand(i), operand(0).pointee(), "a value");
    require_type(result(), operand(1), "the result");
  }

  const KernelBuffer& buffer_of() const {
    const auto found = std::find_if(kernel_.buffers.begin(), kernel_.buffers.end(),
                                    [&](const auto& b) { return b.name == op_.text("buffer"); });
    require(found != kernel_.buffers.end(), "there is no buffer '{}'", op_.text("buffer"));
    require(found->has_slots(), "buffer '{}' has no slots", op_.text("buffer"));
    return *found;
  }

  void check_copy_async() const {
    check_pointers(2, 4);
    const Type& tile = buffer_of().type;
    require_type(operand(0).pointee(), tile, "the tile that is copied");
    require_type(operand(1), Type::scalar(i32), "the slot");
    check_mask(2, tile);
    if (op_.operands.size() == 4) require_type(operand(3), tile, "other");
  }

  const KernelRing& ring_of() const {
    const auto found = std::find_if(kernel_.rings.begin(), kernel_.rings.end(),
                                    [&](const auto& r) { return r.name == op_.text("ring"); });
    require(found != kernel_.rings.end(), "there is no ring '{}'", op_.text("ring"));
    return *found;
  }

  void check_ring_op() const {
    static_cast<void>(ring_of());
    require_type(operand(0), Type::scalar(i32), "the position");
    require(op_.operands.size() <= (op_.kind == OpKind::Release ? 2u : 1u),
            "there are too many operands");
    if (op_.operands.size() == 2) require_type(operand(1), Type::scalar(b1), "the condition");
  }

  void check_copy_map() const {
    const std::vector<std::string>& buffers = ring_of().buffers;
    require(std::find(buffers.begin(), buffers.end(), op_.text("buffer")) != buffers.end(),
            "buffer '{}' is none of ring '{}'", op_.text("buffer"), op_.text("ring"));
    require_type(operand(0), Type::scalar(i32), "the position");
    check_map(buffer_of().type);
  }

  void check_store_map() const {
    require(!op_.operands.empty() && operand(0).is_tile(), "takes a tile and coordinates");
    check_map(operand(0));
    require(op_.integer("adds") == 0 || operand(0).dtype == DType::Float32, "adds are of f32");
  }

  // Operands from the second on are coordinates of a tile of the op's map.
  void check_map(const Type& tile) const {
    const auto map = std::find_if(kernel_.maps.begin(), kernel_.maps.end(),
                                  [&](const auto& m) { return m.name == op_.text("map"); });
    require(map != kernel_.maps.end(), "there is no map '{}'", op_.text("map"));
    require(op_.operands.size() == map->dimensions.size() + 1,
            "there must be a coordinate of each dimension of the map");
    for (std::size_t i = 1; i < op_.operands.size(); ++i)
      require_type(operand(i), Type::scalar(i32), "a coordinate");
    const Type& pointer =
        kernel_.type(kernel_.arguments[static_cast<std::size_t>(map->argument)].value);
    const auto dimensions =
        std::count_if(map->dimensions.begin(), map->dimensions.end(), is_of_tile);
    require(pointer.dtype == tile.dtype && dimensions == tile.rank,
            "the map is of another element type or rank than the tile");
  }

  void check_read_buffer() const {
    require_type(operand(0), Type::scalar(i32), "the slot");
    require_type(result(), buffer_of().type, "the result");
  }
};

}  // namespace

void verify_access_types(const Kernel& kernel, const Op& op) { AccessTypes(kernel, op).check(); }

}  // namespace tilewright::ir
