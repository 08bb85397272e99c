// SPDX-License-Identifier: Apache-2.0
// ir/verify_types.cpp — the type rule of each op, and what its regions take and yield.
#include "ir/verify_types.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/map_dimensions.h"
#include "ir/verify.h"
#include "ir/verify_final.h"

namespace tilewright::ir {
namespace {

class TypeRules {
 public:
  explicit TypeRules(const Kernel& kernel) : kernel_(kernel) {}

  void check(const Op& op) const {
    if (op.facts().has(Elementwise)) check_one_shape(op);
    switch (op.kind) {
      case OpKind::Constant:
        return check_constant(op);
      case OpKind::ProgramId:
      case OpKind::NumPrograms:
        return check_grid_axis(op);
      case OpKind::NumBlocks:
        return require(op, result(op) == Type::scalar(i32), "gives an i32");
      case OpKind::IsProducer:
        return require(op, result(op) == Type::scalar(b1) && op.integer("warps") > 0,
                       "gives a bool, for at least one warp");
      case OpKind::Arange:
        return require(op, result(op).rank == 1 && result(op).element() == Type::scalar(i32),
                       "gives a rank-1 tile of i32");
      case OpKind::Splat:
        return check_splat(op);
      case OpKind::Broadcast:
        return check_broadcast(op);
      case OpKind::Reshape:
        return check_reshape(op);
      case OpKind::Permute:
        return check_permute(op);
      case OpKind::Join:
        return check_join(op);
      case OpKind::Split:
        return check_split(op);
      case OpKind::Concatenate:
        return check_concatenate(op);
      case OpKind::Gather:
        return check_gather(op);
      case OpKind::Add:
      case OpKind::Subtract:
      case OpKind::Multiply:
      case OpKind::Divide:
      case OpKind::Remainder:
      case OpKind::Minimum:
      case OpKind::Maximum:
      case OpKind::Negate:
      case OpKind::Absolute:
      case OpKind::Fma:
        return check_same(op, is_number(result(op)), "numbers");
      case OpKind::MultiplyHigh:
      case OpKind::ShiftLeft:
      case OpKind::ShiftRight:
        return check_same(op, result(op).is_int(), "integers");
      case OpKind::And:
      case OpKind::Or:
      case OpKind::Xor:
        return check_same(op, result(op).is_int() || result(op).is_bool(), "integers or bools");
      case OpKind::Math:
        return check_math(op);
      case OpKind::InlineAsm:
        return require(op, is_number(result(op)) && !op.operands.empty() && op.operands.size() <= 3,
                       "1 to 3 operands must give a number");
      case OpKind::Compare:
        return check_compare(op);
      case OpKind::Select:
        return check_select(op);
      case OpKind::Cast:
        return check_cast(op);
      case OpKind::Bitcast:
        return require(op, operand(op, 0).element_bytes() == result(op).element_bytes(),
                       "both types must have one width");
      case OpKind::Offset:
        return check_offset(op);
      case OpKind::Affine:
        return check_affine(op);
      case OpKind::Bounds:
        return check_bounds(op);
      case OpKind::Load:
        return check_load(op);
      case OpKind::Store:
        return check_store(op);
      case OpKind::AtomicRmw:
        return check_atomic_rmw(op);
      case OpKind::AtomicCas:
        return check_atomic_cas(op);
      case OpKind::CopyAsync:
        return check_copy_async(op);
      case OpKind::WaitCopies:
        return require(op, op.integer("pending") >= 0, "pending must not be negative");
      case OpKind::ReadBuffer:
        return check_read_buffer(op);
      case OpKind::CommitCopies:
      case OpKind::Barrier:
      case OpKind::Fence:
        return;
      case OpKind::Acquire:
      case OpKind::Await:
      case OpKind::Release:
        return check_ring_op(op);
      case OpKind::CopyMap:
        return check_copy_map(op);
      case OpKind::StoreMap:
        return check_store_map(op);
      case OpKind::WaitStores:
        return require(op, op.text("until") == "read" || op.text("until") == "memory",
                       "`until` is read or memory");
      case OpKind::Array:
      case OpKind::Group:
      case OpKind::ArrayView:
      case OpKind::Read:
      case OpKind::Write:
      case OpKind::Linear:
      case OpKind::Digit:
      case OpKind::All:
      case OpKind::Call:
      case OpKind::ForPrograms:
      case OpKind::Thread:
      case OpKind::LoadTo:
      case OpKind::StoreFrom:
      case OpKind::CopyTo:
      case OpKind::Lines:
        return verify_final_types(kernel_, op);
      case OpKind::Reduce:
        return check_reduce(op);
      case OpKind::Scan:
        return check_scan(op);
      case OpKind::Dot:
        return check_dot(op);
      case OpKind::Sort:
        return check_sort(op);
      case OpKind::Histogram:
        return check_histogram(op);
      case OpKind::For:
        return check_for(op);
      case OpKind::While:
        return check_while(op);
      case OpKind::If:
        return check_if(op);
      case OpKind::Sweep:
        return check_sweep(op);
      case OpKind::Yield:
      case OpKind::Condition:
        return;  // checked with the op that owns the region
      case OpKind::Print:
        return;
      case OpKind::Assert:
        return require(op, !op.operands.empty() && operand(op, 0).is_bool(),
                       "needs a bool condition");
      case OpKind::Hint:
        return check_same(op, true, "");
      case OpKind::Assume:
        return require_type(op, operand(op, 0), Type::scalar(b1), "the condition");
    }
  }

 private:
  template <class... Arguments>
  void require(const Op& op, bool holds, fmt::format_string<Arguments...> rule,
               Arguments&&... arguments) const {
    if (!holds)
      fail_verification(kernel_, &op, fmt::format(rule, std::forward<Arguments>(arguments)...));
  }

  const Type& operand(const Op& op, std::size_t i) const { return kernel_.type(op.operands[i]); }
  const Type& result(const Op& op, std::size_t i = 0) const { return kernel_.type(op.results[i]); }

  void require_type(const Op& op, const Type& found, const Type& wanted,
                    std::string_view what) const {
    if (found == wanted) return;
    require(op, false, "{} must be {}, is {}", what, wanted.to_string(), found.to_string());
  }

  static bool is_number(const Type& type) { return type.is_int() || type.is_float(); }

  void check_one_shape(const Op& op) const {
    for (const Value value : op.operands)
      if (!same_shape(kernel_.type(value), result(op)))
        require(op, false, "operands and result must have one shape; {} and {}",
                kernel_.type(value).to_string(), result(op).to_string());
  }

  void check_same(const Op& op, bool is_right_kind, std::string_view kind) const {
    if (!is_right_kind) require(op, false, "works on {}, not on {}", kind, result(op).to_string());
    for (const Value value : op.operands)
      require_type(op, kernel_.type(value), result(op), "an operand");
  }

  void check_constant(const Op& op) const {
    const bool is_float = std::holds_alternative<double>(*op.find("value"));
    require(op, is_float == result(op).is_float(), "a value of {} is needed",
            result(op).is_float() ? "float" : "integer");
    require(op, !result(op).is_pointer || op.integer("value") == 0,
            "the only constant pointer is 0");
  }

  void check_grid_axis(const Op& op) const {
    require_type(op, result(op), Type::scalar(i32), "the result");
    require(op, op.integer("axis") >= 0 && op.integer("axis") <= 2, "axis is 0, 1 or 2");
  }

  void check_splat(const Op& op) const {
    require(op, operand(op, 0).is_scalar() && result(op).is_tile(), "takes a scalar, gives a tile");
    require_type(op, result(op).element(), operand(op, 0), "the element");
  }

  void check_broadcast(const Op& op) const {
    const Type& from = operand(op, 0);
    const Type& to = result(op);
    require_type(op, to.element(), from.element(), "the element");
    require(op, from.rank == to.rank, "ranks must be equal");
    for (int d = 0; d < to.rank; ++d)
      require(op, from.size(d) == to.size(d) || from.size(d) == 1,
              "dimension {} is {}, cannot become {}", d, from.size(d), to.size(d));
  }

  void check_reshape(const Op& op) const {
    require_type(op, result(op).element(), operand(op, 0).element(), "the element");
    require(op, result(op).numel() == operand(op, 0).numel(), "the number of elements must stay");
  }

  void check_permute(const Op& op) const {
    std::vector<std::int64_t> order = op.integers("order");
    const Type& from = operand(op, 0);
    require(op, order.size() == from.rank && result(op).rank == from.rank,
            "order must name every dimension");
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t d = 0; d < order.size(); ++d) {
      require(op, sorted[d] == static_cast<std::int64_t>(d),
              "order must name every dimension once");
      require(op, result(op).size(static_cast<int>(d)) == from.size(static_cast<int>(order[d])),
              "the result's shape does not fit the order");
    }
    require_type(op, result(op).element(), from.element(), "the element");
  }

  void check_join(const Op& op) const {
    std::vector<std::int64_t> shape = operand(op, 0).shape();
    shape.push_back(2);
    require_type(op, operand(op, 1), operand(op, 0), "the second operand");
    require_type(op, result(op), operand(op, 0).with_shape(shape), "the result");
  }

  void check_split(const Op& op) const {
    std::vector<std::int64_t> shape = operand(op, 0).shape();
    require(op, !shape.empty() && shape.back() == 2, "the last dimension must be 2");
    shape.pop_back();
    for (std::size_t i = 0; i < 2; ++i)
      require_type(op, result(op, i), operand(op, 0).with_shape(shape), "a result");
  }

  void check_axis(const Op& op, const Type& type) const {
    const std::int64_t axis = op.integer("axis");
    require(op, axis >= 0 && axis < type.rank, "axis {} of a tile of rank {}", axis, type.rank);
  }

  void check_concatenate(const Op& op) const {
    check_axis(op, operand(op, 0));
    std::vector<std::int64_t> shape = operand(op, 0).shape();
    shape[static_cast<std::size_t>(op.integer("axis"))] *= 2;
    require_type(op, operand(op, 1), operand(op, 0), "the second operand");
    require_type(op, result(op), operand(op, 0).with_shape(shape), "the result");
  }

  void check_gather(const Op& op) const {
    check_axis(op, operand(op, 0));
    require(op, operand(op, 1).is_int(), "the index must be an integer");
    require_type(op, result(op), operand(op, 0).with_shape_of(operand(op, 1)), "the result");
    for (int d = 0; d < operand(op, 0).rank; ++d)
      require(op, d == op.integer("axis") || operand(op, 0).size(d) == operand(op, 1).size(d),
              "other dimensions must be equal");
  }

  void check_math(const Op& op) const {
    const MathFacts* function = math_function(op.text("function"));
    require(op, function != nullptr, "there is no math function '{}'", op.text("function"));
    require(op, op.operands.size() == static_cast<std::size_t>(function->operands),
            "{} takes {} operands", function->name, function->operands);
    for (const Value value : op.operands)
      require(op, kernel_.type(value) == operand(op, 0), "operands must have one type");
  }

  void check_compare(const Op& op) const {
    static constexpr std::string_view predicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    require(op,
            std::find(std::begin(predicates), std::end(predicates), op.text("is")) !=
                std::end(predicates),
            "is must be eq, ne, lt, le, gt or ge");
    // Of loops' indices and bounds at stage Final the narrower is widened, as C++ does it.
    const auto is_wide = [&](const Type& type) {
      return type == Type::scalar(i32) || type == Type::scalar(i64);
    };
    const bool widens =
        kernel_.stage == Stage::Final && is_wide(operand(op, 0)) && is_wide(operand(op, 1));
    if (!widens) require_type(op, operand(op, 1), operand(op, 0), "the second operand");
    require_type(op, result(op), operand(op, 0).with_element(b1), "the result");
  }

  void check_select(const Op& op) const {
    require(op, operand(op, 0).is_bool(), "the condition must be a bool");
    require_type(op, operand(op, 1), result(op), "the second operand");
    require_type(op, operand(op, 2), result(op), "the third operand");
  }

  void check_cast(const Op& op) const {
    const auto is_address = [](const Type& type) {
      return type.is_pointer || type.element() == Type::scalar(i64) ||
             type.element() == Type::scalar(u64);
    };
    const bool has_pointer = operand(op, 0).is_pointer || result(op).is_pointer;
    require(op, !has_pointer || (is_address(operand(op, 0)) && is_address(result(op))),
            "a pointer casts only to i64, u64 or another pointer");
    const std::string_view rounding = op.text("rounding");
    const bool narrows = operand(op, 0).is_float() && operand(op, 0).element_bytes() > 1 &&
                         result(op).is_float() && result(op).element_bytes() == 1;
    require(op, rounding.empty() || rounding == "rtz" || rounding == "saturate",
            "rounds as \"rtz\" or \"saturate\"");
    require(op, rounding != "saturate" || narrows,
            "saturates from wider floats to 8-bit floats only");
  }

  void check_offset(const Op& op) const {
    require(op, operand(op, 0).is_pointer && operand(op, 1).is_int(), "moves pointers by integers");
    require_type(op, result(op), operand(op, 0), "the result");
  }

  // From operand `first` on there are `count` scalars of i64.
  void check_scalars(const Op& op, std::size_t first, int count, std::string_view what) const {
    require(op, op.operands.size() == first + static_cast<std::size_t>(count),
            "needs {} operands for a tile of rank {}, has {}",
            first + static_cast<std::size_t>(count), result(op).rank, op.operands.size());
    for (std::size_t i = first; i < op.operands.size(); ++i)
      require_type(op, operand(op, i), Type::scalar(i64), what);
  }

  void check_affine(const Op& op) const {
    require(op, result(op).is_tile(), "gives a tile");
    check_scalars(op, 1, result(op).rank, "a stride");
    require(op, operand(op, 0).is_pointer || operand(op, 0).is_int(),
            "the base must be a pointer or an integer");
    require_type(op, operand(op, 0), result(op).element(), "the base");
  }

  void check_bounds(const Op& op) const {
    require(op, result(op).is_tile() && result(op).is_bool(), "gives a tile of bools");
    check_scalars(op, 0, 2 * result(op).rank, "a bound");
  }

  void check_mask(const Op& op, std::size_t i, const Type& shape) const {
    if (op.operands.size() <= i) return;
    require_type(op, operand(op, i), shape.with_element(b1), "the mask");
  }

  void check_pointers(const Op& op, std::size_t least, std::size_t most) const {
    require(op, op.operands.size() >= least && op.operands.size() <= most,
            "takes {} to {} operands", least, most);
    require(op, operand(op, 0).is_pointer, "the first operand must be pointers");
  }

  void check_load(const Op& op) const {
    check_pointers(op, 1, 3);
    require_type(op, result(op), operand(op, 0).pointee(), "the result");
    check_mask(op, 1, result(op));
    if (op.operands.size() == 3) require_type(op, operand(op, 2), result(op), "other");
  }

  void check_store(const Op& op) const {
    check_pointers(op, 2, 3);
    require_type(op, operand(op, 1), operand(op, 0).pointee(), "the value");
    check_mask(op, 2, operand(op, 1));
  }

  void check_atomic_rmw(const Op& op) const {
    static constexpr std::string_view kinds[] = {"add", "fadd", "min", "max",
                                                 "and", "or",   "xor", "xchg"};
    check_pointers(op, 2, 3);
    require(op, std::find(std::begin(kinds), std::end(kinds), op.text("op")) != std::end(kinds),
            "op must be add, fadd, min, max, and, or, xor or xchg");
    require_type(op, operand(op, 1), operand(op, 0).pointee(), "the value");
    require_type(op, result(op), operand(op, 1), "the result");
    check_mask(op, 2, operand(op, 1));
  }

  void check_atomic_cas(const Op& op) const {
    check_pointers(op, 3, 3);
    for (std::size_t i : {1u, 2u})
      require_type(op, operand(op, i), operand(op, 0).pointee(), "a value");
    require_type(op, result(op), operand(op, 1), "the result");
  }

  const KernelBuffer& buffer_of(const Op& op) const {
    const auto found = std::find_if(kernel_.buffers.begin(), kernel_.buffers.end(),
                                    [&](const auto& b) { return b.name == op.text("buffer"); });
    require(op, found != kernel_.buffers.end(), "there is no buffer '{}'", op.text("buffer"));
    require(op, found->has_slots(), "buffer '{}' has no slots", op.text("buffer"));
    return *found;
  }

  void check_copy_async(const Op& op) const {
    check_pointers(op, 2, 4);
    const Type& tile = buffer_of(op).type;
    require_type(op, operand(op, 0).pointee(), tile, "the tile that is copied");
    require_type(op, operand(op, 1), Type::scalar(i32), "the slot");
    check_mask(op, 2, tile);
    if (op.operands.size() == 4) require_type(op, operand(op, 3), tile, "other");
  }

  const KernelRing& ring_of(const Op& op) const {
    const auto found = std::find_if(kernel_.rings.begin(), kernel_.rings.end(),
                                    [&](const auto& r) { return r.name == op.text("ring"); });
    require(op, found != kernel_.rings.end(), "there is no ring '{}'", op.text("ring"));
    return *found;
  }

  void check_ring_op(const Op& op) const {
    static_cast<void>(ring_of(op));
    require_type(op, operand(op, 0), Type::scalar(i32), "the position");
    require(op, op.operands.size() <= (op.kind == OpKind::Release ? 2u : 1u),
            "there are too many operands");
    if (op.operands.size() == 2)
      require_type(op, operand(op, 1), Type::scalar(b1), "the condition");
  }

  void check_copy_map(const Op& op) const {
    const std::vector<std::string>& buffers = ring_of(op).buffers;
    require(op, std::find(buffers.begin(), buffers.end(), op.text("buffer")) != buffers.end(),
            "buffer '{}' is none of ring '{}'", op.text("buffer"), op.text("ring"));
    require_type(op, operand(op, 0), Type::scalar(i32), "the position");
    check_map(op, buffer_of(op).type);
  }

  void check_store_map(const Op& op) const {
    require(op, !op.operands.empty() && operand(op, 0).is_tile(), "takes a tile and coordinates");
    check_map(op, operand(op, 0));
    require(op, op.integer("adds") == 0 || operand(op, 0).dtype == DType::Float32,
            "adds are of f32");
  }

  // Operands from the second on are coordinates of a tile of the op's map.
  void check_map(const Op& op, const Type& tile) const {
    const auto map = std::find_if(kernel_.maps.begin(), kernel_.maps.end(),
                                  [&](const auto& m) { return m.name == op.text("map"); });
    require(op, map != kernel_.maps.end(), "there is no map '{}'", op.text("map"));
    require(op, op.operands.size() == map->dimensions.size() + 1,
            "there must be a coordinate of each dimension of the map");
    for (std::size_t i = 1; i < op.operands.size(); ++i)
      require_type(op, operand(op, i), Type::scalar(i32), "a coordinate");
    const Type& pointer =
        kernel_.type(kernel_.arguments[static_cast<std::size_t>(map->argument)].value);
    const auto dimensions =
        std::count_if(map->dimensions.begin(), map->dimensions.end(), is_of_tile);
    require(op, pointer.dtype == tile.dtype && dimensions == tile.rank,
            "the map is of another element type or rank than the tile");
  }

  void check_read_buffer(const Op& op) const {
    require_type(op, operand(op, 0), Type::scalar(i32), "the slot");
    require_type(op, result(op), buffer_of(op).type, "the result");
  }

  // ---- Regions

  const Op& last(const Op& op, std::size_t region) const { return *op.regions[region].ops.back(); }

  // The region takes `arguments` and ends in `kind` with `values` after `skip` operands of its own.
  void check_region_types(const Op& op, std::size_t region, const std::vector<Type>& arguments,
                          const std::vector<Type>& values) const {
    const Region& body = op.regions[region];
    require(op, body.arguments.size() == arguments.size(), "region {} needs {} arguments, has {}",
            region, arguments.size(), body.arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      require_type(op, kernel_.type(body.arguments[i]), arguments[i], "a region argument");
    const Op& end = last(op, region);
    const std::size_t skip = end.kind == OpKind::Condition ? 1 : 0;
    require(op, end.operands.size() == values.size() + skip,
            "region {} must yield {} values, yields {}", region, values.size(),
            end.operands.size() - skip);
    for (std::size_t i = 0; i < values.size(); ++i)
      require_type(op, kernel_.type(end.operands[i + skip]), values[i], "a yielded value");
  }

  std::vector<Type> types_of(const std::vector<Value>& values, std::size_t from = 0) const {
    std::vector<Type> types;
    for (std::size_t i = from; i < values.size(); ++i) types.push_back(kernel_.type(values[i]));
    return types;
  }

  void check_combine(const Op& op) const {
    require(op, !op.operands.empty() && op.operands.size() == op.results.size(),
            "needs as many results as operands, at least one");
    check_axis(op, operand(op, 0));
    std::vector<Type> elements;
    for (const Value value : op.operands) {
      require(op, same_shape(kernel_.type(value), operand(op, 0)), "operands must have one shape");
      elements.push_back(kernel_.type(value).element());
    }
    std::vector<Type> arguments = elements;
    arguments.insert(arguments.end(), elements.begin(), elements.end());
    check_region_types(op, 0, arguments, elements);
    require(op, last(op, 0).kind == OpKind::Yield, "the region must end in yield");
  }

  void check_reduce(const Op& op) const {
    check_combine(op);
    std::vector<std::int64_t> shape = operand(op, 0).shape();
    const std::int64_t axis = op.integer("axis"), parts = op.integer("parts");
    const std::int64_t length = operand(op, 0).size(static_cast<int>(axis));
    require(op, !op.find("parts") || (parts > 1 && parts < length && length % parts == 0),
            "parts is a power of two, more than 1 and less than the axis has elements");
    if (parts != 0) shape[static_cast<std::size_t>(axis)] = parts;
    else shape.erase(shape.begin() + axis);
    for (std::size_t i = 0; i < op.results.size(); ++i)
      require_type(op, result(op, i), operand(op, i).with_shape(shape), "a result");
  }

  void check_scan(const Op& op) const {
    check_combine(op);
    for (std::size_t i = 0; i < op.results.size(); ++i)
      require_type(op, result(op, i), operand(op, i), "a result");
  }

  void check_dot(const Op& op) const {
    const Type& a = operand(op, 0);
    const Type& b = operand(op, 1);
    require(op, (a.rank == 2 || a.rank == 3) && b.rank == a.rank, "operands must have rank 2 or 3");
    const int m = a.rank - 2;
    require(op, a.size(m + 1) == b.size(m), "the inner sizes must be equal");
    std::vector<std::int64_t> shape = a.shape();
    shape.back() = b.size(m + 1);
    require_type(op, result(op), result(op).with_shape(shape), "the result");
    require_type(op, operand(op, 2), result(op), "the accumulator");
  }

  void check_sort(const Op& op) const {
    require_type(op, result(op), operand(op, 0), "the result");
    require(op, operand(op, 0).is_tile() && !operand(op, 0).is_pointer, "takes a tile of numbers");
    const std::int64_t first = op.integer("first"), last = op.integer("last");
    require(op, 1 <= first && first <= last && (std::int64_t{1} << last) <= result(op).numel(),
            "the stages must be from 1 to the number of the index's bits");
    const std::string_view order = op.text("order");
    require(op, order == "alternating" || order == "ascending" || order == "descending",
            "the order is alternating, ascending or descending");
  }

  void check_histogram(const Op& op) const {
    require(op,
            !op.operands.empty() && operand(op, 0).rank == 1 && operand(op, 0).is_int() &&
                result(op).rank == 1,
            "takes and gives a rank-1 integer tile");
    check_mask(op, 1, operand(op, 0));
  }

  void check_for(const Op& op) const {
    require(op, op.operands.size() >= 3, "needs from, to and step");
    const Type index = operand(op, 0);
    require(op, index.is_scalar() && index.is_int(), "bounds must be integer scalars");
    for (std::size_t i : {1u, 2u}) require_type(op, operand(op, i), index, "a bound");
    const std::vector<Type> carried = types_of(op.operands, 3);
    require(op, types_of(op.results) == carried,
            "results must have the types of the initial values");
    std::vector<Type> arguments = {index};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    check_region_types(op, 0, arguments, carried);
    require(op, last(op, 0).kind == OpKind::Yield, "the body must end in yield");
  }

  void check_while(const Op& op) const {
    const std::vector<Type> carried = types_of(op.operands);
    require(op, types_of(op.results) == carried,
            "results must have the types of the initial values");
    require(op, last(op, 0).kind == OpKind::Condition, "region 0 must end in condition");
    require(op, !last(op, 0).operands.empty(), "condition needs a bool");
    require_type(op, kernel_.type(last(op, 0).operands[0]), Type::scalar(b1), "the condition");
    check_region_types(op, 0, carried, carried);
    check_region_types(op, 1, carried, carried);
    require(op, last(op, 1).kind == OpKind::Yield, "region 1 must end in yield");
  }

  void check_if(const Op& op) const {
    require_type(op, operand(op, 0), Type::scalar(b1), "the condition");
    for (std::size_t region : {0u, 1u}) {
      check_region_types(op, region, {}, types_of(op.results));
      require(op, last(op, region).kind == OpKind::Yield, "a branch must end in yield");
    }
  }

  void check_sweep(const Op& op) const {
    check_region_types(op, 0, {}, types_of(op.results));
    require(op, last(op, 0).kind == OpKind::Yield, "a sweep must end in yield");
  }

  const Kernel& kernel_;
};

}  // namespace

void verify_types(const Kernel& kernel, const Op& op) { TypeRules(kernel).check(op); }

void fail_verification(const Kernel& kernel, const Op* op, const std::string& rule) {
  if (!op)
    throw VerificationError(fmt::format("kernel '{}' is not valid: {}", kernel.name, rule), op,
                            rule);
  throw VerificationError(fmt::format("kernel '{}' is not valid at op '{}' (source line {}): {}",
                                      kernel.name, op->facts().name, op->location.line, rule),
                          op, rule);
}

}  // namespace tilewright::ir
