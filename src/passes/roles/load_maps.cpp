// SPDX-License-Identifier: Apache-2.0
// passes/roles/load_maps.cpp — an affine load taken apart by its strides.
#include "passes/roles/load_maps.h"

#include <algorithm>
#include <map>

#include "ir/constant.h"
#include "ir/map_dimensions.h"
#include "passes/axis_info/promises.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

constexpr std::int64_t alignment = 16;
constexpr std::size_t most_dimensions = 5;
// How many heads or batches there are is not known; none that the kernel sees is outside.
constexpr std::int64_t most_tiles = (std::int64_t{1} << 31) - 1;

class MapFinder {
 public:
  // `loop`: what carries pointers; null where nothing does.
  MapFinder(const ir::Kernel& kernel, const AxisAnalysis& axes, const Op* loop)
      : kernel_(kernel), axes_(axes), loop_(loop) {}

  std::optional<LoadMap> run(const Op& access) {
    promised_ = promised_bounds(kernel_, access);
    is_store_ = access.kind == OpKind::Store;
    const ir::Type& type = kernel_.type(access.operands[0]);
    const Op* affine = kernel_.maker(access.operands[0]);
    const Value mask = access.mask();
    if (type.rank != 2 || !affine || affine->kind != OpKind::Affine || !mask) return std::nullopt;
    const Op* bounds = kernel_.maker(mask);
    if (!bounds || bounds->kind != OpKind::Bounds) return std::nullopt;
    const auto start = pointer(affine->operands[0], 0);
    const int argument = start ? argument_number(start->first) : -1;
    if (argument < 0 ||
        kernel_.arguments[static_cast<std::size_t>(argument)].divisible % alignment != 0)
      return std::nullopt;
    return come_apart(type.pointee(), *affine, *bounds, argument, start->second);
  }

 private:
  int argument_number(Value value) const {
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i)
      if (kernel_.arguments[i].value == value) return static_cast<int>(i);
    return -1;
  }

  // An argument and how many elements from there on. A carried pointer is where it began and so
  // many steps further.
  std::optional<std::pair<Value, Polynomial>> pointer(Value value, int depth) const {
    if (argument_number(value) >= 0) return {{value, {}}};
    if (depth > 8) return std::nullopt;
    const Op* op = kernel_.maker(value);
    if (op != nullptr) {
      if (op->kind == OpKind::Hint) return pointer(op->operands[0], depth + 1);
      if (op->kind != OpKind::Offset) return std::nullopt;
      auto from = pointer(op->operands[0], depth + 1);
      if (from) from->second = from->second.plus(Polynomial::expand(kernel_, op->operands[1]));
      return from;
    }
    if (loop_ == nullptr) return std::nullopt;
    const auto& arguments = loop_->regions[0].arguments;
    const auto found = std::find(arguments.begin(), arguments.end(), value);
    if (found == arguments.end() || ir::integer_constant(kernel_, loop_->operands[0]) != 0 ||
        ir::integer_constant(kernel_, loop_->operands[2]) != 1)
      return std::nullopt;
    const auto slot = static_cast<std::size_t>(found - arguments.begin()) - 1;
    const Op* step = kernel_.maker(loop_->regions[0].ops.back()->operands[slot]);
    if (!step || step->kind != OpKind::Offset || step->operands[0] != value) return std::nullopt;
    const Polynomial by = Polynomial::expand(kernel_, step->operands[1]);
    if (!is_same_in_all_rounds(by)) return std::nullopt;
    auto from = pointer(loop_->operands[slot + 3], depth + 1);
    if (from) from->second = from->second.plus(by.times(Polynomial::of(arguments[0])));
    return from;
  }

  bool is_same_in_all_rounds(const Polynomial& by) const {
    std::vector<std::uint32_t> inside;
    for (const Value value : loop_->regions[0].arguments) inside.push_back(value.id);
    ir::walk(loop_->regions[0], [&](const Op& op) {
      for (const Value value : op.results) inside.push_back(value.id);
    });
    for (const auto& [factors, count] : by.terms())
      for (const std::uint32_t id : factors)
        if (std::find(inside.begin(), inside.end(), id) != inside.end()) return false;
    return true;
  }

  bool is_not_negative(const Polynomial& sum) const {
    return std::all_of(sum.terms().begin(), sum.terms().end(), [&](const auto& term) {
      return term.second > 0 &&
             std::all_of(term.first.begin(), term.first.end(), [&](std::uint32_t id) {
               return axes_.is_not_negative({id}) || is_promised({id}, 0);
             });
    });
  }

  // A stride of arguments: 0 would be one row again and again, which no map has.
  bool is_positive(const Polynomial& stride) const {
    const auto& [factors, times] = *stride.terms().begin();
    return times > 0 && std::all_of(factors.begin(), factors.end(), [&](std::uint32_t id) {
             return kernel_.arguments[static_cast<std::size_t>(argument_number({id}))]
                        .is_positive ||
                    is_promised({id}, 1);
           });
  }

  bool is_promised(Value value, std::int64_t least) const {
    const auto found = promised_.find(value.id);
    return found != promised_.end() && found->second >= least;
  }

  // A product of 32-bit integer arguments and a number: what the launch knows.
  std::optional<ir::LaunchNumber> launch_number(const Polynomial& value) const {
    if (value.terms().size() != 1) return std::nullopt;
    const auto& [factors, times] = *value.terms().begin();
    if (times <= 0) return std::nullopt;
    ir::LaunchNumber out{.factor = times};
    for (const std::uint32_t id : factors) {
      out.arguments.push_back(argument_number({id}));
      if (out.arguments.back() < 0 || kernel_.type({id}).dtype != DType::Int32) return std::nullopt;
    }
    return out;
  }

  // Whether the product is a multiple of `of` by its number or one of its arguments.
  bool is_multiple(const Polynomial& product, std::int64_t of) const {
    const auto& [factors, times] = *product.terms().begin();
    return times % of == 0 || std::any_of(factors.begin(), factors.end(), [&](std::uint32_t id) {
             return axes_.is_multiple({id}, of);
           });
  }

  bool is_multiple_in_all(const Polynomial& sum, std::int64_t of) const {
    return std::all_of(sum.terms().begin(), sum.terms().end(), [&](const auto& term) {
      return term.second % of == 0 ||
             std::any_of(term.first.begin(), term.first.end(),
                         [&](std::uint32_t id) { return axes_.is_multiple({id}, of); });
    });
  }

  std::optional<LoadMap> come_apart(const ir::Type& type, const Op& affine, const Op& bounds,
                                    int argument, const Polynomial& offset) {
    const Polynomial strides[2] = {Polynomial::expand(kernel_, affine.operands[1]),
                                   Polynomial::expand(kernel_, affine.operands[2])};
    const int fast = strides[1].constant() == 1 ? 1 : 0, slow = 1 - fast;
    const auto stride = launch_number(strides[slow]);
    if (strides[fast].constant() != 1 || !stride) return std::nullopt;
    const auto bytes = static_cast<std::int64_t>(type.element_bytes());
    if (!is_multiple(strides[slow], alignment / bytes)) return std::nullopt;
    const Polynomial::Parts parts = offset.split_by(strides[slow]);
    LoadMap out;
    out.map.argument = argument;
    std::vector<Further> further;
    for (const int d : {fast, slow}) {
      const Polynomial whole = d == fast ? parts.without : parts.with;
      const Polynomial unit = d == fast ? Polynomial::number(1) : strides[slow];
      const Polynomial at = whole.plus(take_further(bounds, d, whole, unit, further), -1);
      const auto size = size_of_dimension(bounds, d, at);
      if (!size || (d == fast && !is_multiple_in_all(at, ir::coordinate_bytes / bytes)))
        return std::nullopt;
      out.coordinates.push_back(at);
      out.map.dimensions.push_back({d, *size, d == fast ? ir::LaunchNumber{} : *stride});
    }
    // A stride that is no number of elements of a row must be known to be one of bytes forward.
    const bool is_row = *stride == out.map.dimensions[0].size;
    if (!is_row && !is_positive(strides[slow])) return std::nullopt;
    if (!add_further(further, alignment / bytes, out)) return std::nullopt;
    return out;
  }

  // ---- Dimensions of the tensor that the tile has none of: its heads, its batches.

  struct Further {
    Polynomial stride;      // in elements, what the launch knows
    Polynomial coordinate;  // the rest of the terms
  };

  bool is_of_arguments(const Polynomial::Factors& factors) const {
    return std::all_of(factors.begin(), factors.end(),
                       [&](std::uint32_t id) { return argument_number({id}) >= 0; });
  }

  // The end of the tensor as seen from the tile's first element is a size, and what else it is, the
  // tile does not walk along: each term of it is a coordinate times a stride. Their sum.
  Polynomial take_further(const Op& bounds, int d, const Polynomial& at, const Polynomial& unit,
                          std::vector<Further>& further) const {
    const Polynomial end = high_of(bounds, d).plus(at);
    Polynomial taken;
    for (const auto& [factors, count] : end.terms()) {
      if (is_of_arguments(factors) || at.terms().count(factors) == 0) continue;
      Polynomial stride = unit.times(Polynomial::number(count)), coordinate = Polynomial::number(1);
      for (const std::uint32_t id : factors) {
        const Polynomial factor = Polynomial::of({id});
        (argument_number({id}) >= 0 ? stride : coordinate) =
            (argument_number({id}) >= 0 ? stride : coordinate).times(factor);
      }
      taken = taken.plus(coordinate.times(factors_of_launch(factors)), count);
      const auto same = std::find_if(further.begin(), further.end(), [&](const Further& other) {
        return other.stride.terms() == stride.terms();
      });
      if (same == further.end()) further.push_back({stride, coordinate});
      else same->coordinate = same->coordinate.plus(coordinate);
    }
    return taken;
  }

  Polynomial factors_of_launch(const Polynomial::Factors& factors) const {
    Polynomial out = Polynomial::number(1);
    for (const std::uint32_t id : factors)
      if (argument_number({id}) >= 0) out = out.times(Polynomial::of({id}));
    return out;
  }

  bool add_further(const std::vector<Further>& further, std::int64_t multiple, LoadMap& out) const {
    for (const auto& [stride, coordinate] : further) {
      const auto number = launch_number(stride);
      if (!number || !is_multiple(stride, multiple) || !is_not_negative(coordinate)) return false;
      if (!is_size_of(out, *number) && !is_positive(stride)) return false;
      out.map.dimensions.push_back({ir::no_dimension, {.factor = most_tiles}, *number});
      out.coordinates.push_back(coordinate);
    }
    return out.map.dimensions.size() <= most_dimensions;
  }

  // Rows of the tensor so many as the stride steps over: where there are none, nothing is copied.
  static bool is_size_of(const LoadMap& map, const ir::LaunchNumber& stride) {
    return std::any_of(
        map.map.dimensions.begin(), map.map.dimensions.end(), [&](const auto& dimension) {
          return !dimension.size.arguments.empty() && dimension.size.arguments == stride.arguments;
        });
  }

  Polynomial high_of(const Op& bounds, int d) const {
    return Polynomial::expand(kernel_, bounds.operands[2 * static_cast<std::size_t>(d) + 1]);
  }

  // Elements from `low` to before `high` of the tile are those from 0 to before the size of the
  // tensor.
  std::optional<ir::LaunchNumber> size_of_dimension(const Op& bounds, int d,
                                                    const Polynomial& at) const {
    const Polynomial low =
        Polynomial::expand(kernel_, bounds.operands[2 * static_cast<std::size_t>(d)]);
    const bool begins_there = low.plus(at).terms().empty();
    const bool is_there = low.constant() && *low.constant() <= 0;
    const bool may_begin_before = begins_there && !is_store_;
    if (!may_begin_before && !((begins_there || is_there) && is_not_negative(at)))
      return std::nullopt;
    return launch_number(high_of(bounds, d).plus(at));
  }

  const ir::Kernel& kernel_;
  const AxisAnalysis& axes_;
  const Op* loop_;
  std::map<std::uint32_t, std::int64_t> promised_;
  bool is_store_ = false;  // which must not begin in front of the tensor (ir/map_dimensions.h)
};

}  // namespace

std::vector<int> arguments_of_strides(const ir::Kernel& kernel, bool with_stores) {
  std::vector<int> found;
  const auto add = [&](Value stride) {
    const Polynomial product = Polynomial::expand(kernel, stride);
    for (const auto& [factors, count] : product.terms())
      for (const std::uint32_t id : factors)
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
          if (kernel.arguments[i].value.id == id && kernel.type({id}).dtype == DType::Int32 &&
              std::find(found.begin(), found.end(), static_cast<int>(i)) == found.end())
            found.push_back(static_cast<int>(i));
  };
  ir::walk(kernel.body, [&](const Op& op) {
    const bool is_asked = op.kind == OpKind::Load || (with_stores && op.kind == OpKind::Store);
    const Op* affine = is_asked ? kernel.maker(op.operands[0]) : nullptr;
    if (affine == nullptr || affine->kind != OpKind::Affine) return;
    std::for_each(affine->operands.begin() + 1, affine->operands.end(), add);
  });
  return found;
}

std::optional<LoadMap> find_load_map(const ir::Kernel& kernel, const AxisAnalysis& axes,
                                     const Op& loop, const Op& load) {
  return MapFinder(kernel, axes, &loop).run(load);
}

std::optional<LoadMap> find_store_map(const ir::Kernel& kernel, const AxisAnalysis& axes,
                                      const Op& store) {
  return MapFinder(kernel, axes, nullptr).run(store);
}

}  // namespace tilewright
