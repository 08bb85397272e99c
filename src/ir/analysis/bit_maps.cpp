// SPDX-License-Identifier: Apache-2.0
// ir/analysis/bit_maps.cpp — maps of bits from ops, and what two of them have in common.
#include "ir/analysis/bit_maps.h"

#include <algorithm>
#include <bit>

#include "ir/analysis/meetings.h"

namespace tilewright::ir {
namespace {

constexpr std::uint32_t of_thread = Value::none;

bool is_power(std::int64_t number) {
  return number > 0 && std::has_single_bit(static_cast<std::uint64_t>(number));
}
int log_of(std::int64_t number) { return std::countr_zero(static_cast<std::uint64_t>(number)); }

// Where the bit has its column, or would have it.
auto place_of(BitMap& map, VariableBit bit) {
  return std::lower_bound(map.columns.begin(), map.columns.end(), bit,
                          [](const auto& one, VariableBit wanted) { return one.first < wanted; });
}

void turn(BitMap& map, const BitMap& other) {
  for (const auto& [bit, column] : other.columns) {
    if (column == 0) continue;
    const auto place = place_of(map, bit);
    if (place == map.columns.end() || place->first != bit) map.columns.insert(place, {bit, column});
    else if ((place->second ^= column) == 0) map.columns.erase(place);
  }
  map.offset ^= other.offset;
}

BitMap shifted(BitMap map, int by) {
  for (auto& [bit, column] : map.columns) column <<= by;
  map.offset <<= by;
  return map;
}

std::optional<std::int64_t> number_of(const Kernel& kernel, Value value) {
  const Op* maker = kernel.maker(value);
  if (!maker || maker->kind != OpKind::Constant || !kernel.type(value).is_int())
    return std::nullopt;
  return maker->integer("value");
}

}  // namespace

std::uint64_t BitMap::image() const {
  std::uint64_t all = offset;
  for (const auto& [bit, column] : columns) all |= column;
  return all;
}

// Loops from 0 in steps of 1 whose rounds are a power of two.
BitMaps::BitMaps(const Kernel& kernel) : kernel_(kernel) {
  if (const Op* thread = thread_op(kernel)) thread_bits_ = log_of(thread->integer("count"));
  walk(kernel.body, [&](const Op& op) {
    if (op.kind != OpKind::For) return;
    const auto to = number_of(kernel, op.operands[1]);
    if (number_of(kernel, op.operands[0]) == 0 && number_of(kernel, op.operands[2]) == 1 && to &&
        is_power(*to))
      bits_[op.regions[0].arguments[0].id] = log_of(*to);
  });
}

std::optional<BitMap> BitMaps::of(Value index) const {
  const auto variable = [](std::uint32_t name, int bits) {
    BitMap out;
    for (int j = 0; j < bits; ++j) out.columns.push_back({{name, j}, std::uint64_t{1} << j});
    return out;
  };
  const Op* maker = kernel_.maker(index);
  if (!maker) {
    const auto found = bits_.find(index.id);
    return found == bits_.end() ? std::nullopt : std::optional(variable(index.id, found->second));
  }
  if (maker->kind == OpKind::Thread) return variable(of_thread, thread_bits_);
  if (maker->kind == OpKind::Hint || maker->kind == OpKind::Cast) return of(maker->operands[0]);
  if (const LibraryFunction* function = called_function(*maker);
      function && function->kind == LibraryKind::Here)
    return of(maker->operands[0]);
  if (maker->kind == OpKind::Linear) return sum(*maker);
  if (maker->kind == OpKind::Digit) return digit(*maker);
  if (const auto number = number_of(kernel_, index); number && *number >= 0)
    return BitMap{.columns = {}, .offset = static_cast<std::uint64_t>(*number)};
  if (maker->kind != OpKind::Xor) return std::nullopt;
  std::optional<BitMap> out = of(maker->operands[0]);
  const std::optional<BitMap> other = of(maker->operands[1]);
  if (!out || !other) return std::nullopt;
  turn(*out, *other);
  return out;
}

// Terms that have no bit in common add up to what they turn round.
std::optional<BitMap> BitMaps::sum(const Op& op) const {
  const std::int64_t offset = op.integer("offset");
  if (offset < 0) return std::nullopt;
  BitMap out{.columns = {}, .offset = static_cast<std::uint64_t>(offset)};
  const std::vector<std::int64_t> factors = op.integers("factors");
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const std::optional<BitMap> index = of(op.operands[k]);
    if (!index || factors[k] <= 0) return std::nullopt;
    // 72 times an index is 8 times and 64 times it.
    for (auto rest = static_cast<std::uint64_t>(factors[k]); rest != 0; rest &= rest - 1) {
      const BitMap term = shifted(*index, std::countr_zero(rest));
      if ((out.image() & term.image()) != 0) return std::nullopt;
      turn(out, term);
    }
  }
  return out;
}

std::optional<BitMap> BitMaps::digit(const Op& op) const {
  const std::optional<BitMap> whole = of(op.operands[0]);
  const std::int64_t over = op.integer("over"), rest = op.integer("of");
  if (!whole || !is_power(over) || (rest != 0 && !is_power(rest))) return std::nullopt;
  const std::uint64_t mask = rest == 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(rest) - 1;
  BitMap out{.columns = {}, .offset = (whole->offset >> log_of(over)) & mask};
  for (const auto& [bit, column] : whole->columns)
    if (const std::uint64_t kept = (column >> log_of(over)) & mask; kept != 0)
      out.columns.push_back({bit, kept});
  return out;
}

std::optional<BitMap> BitMaps::of(Value index, std::int64_t count) const {
  std::optional<BitMap> out = of(index);
  if (!out || !is_power(count)) return std::nullopt;
  // A name that no value has: the neighbours are those of one access.
  constexpr std::uint32_t neighbour = Value::none - 1;
  if ((out->image() & (static_cast<std::uint64_t>(count) - 1)) != 0) return std::nullopt;
  BitMap neighbours;
  for (int j = 0; j < log_of(count); ++j)
    neighbours.columns.push_back({{neighbour, j}, std::uint64_t{1} << j});
  turn(*out, neighbours);
  return out;
}

// "thread < 32", "(thread & 12) == 0", and all of several.
std::uint64_t BitMaps::zero_bits(Value condition) const {
  const Op* op = kernel_.maker(condition);
  if (!op) return 0;
  std::uint64_t out = 0;
  if (op->kind == OpKind::All)
    for (const Value part : op->operands) out |= zero_bits(part);
  if (op->kind != OpKind::Compare) return out;
  const std::uint64_t all = (std::uint64_t{1} << thread_bits_) - 1;
  const Op* tested = kernel_.maker(op->operands[0]);
  const std::optional<std::int64_t> with = number_of(kernel_, op->operands[1]);
  if (!tested || !with) return 0;
  const bool is_thread = tested->kind == OpKind::Thread;
  if (is_thread && op->text("is") == "lt" && is_power(*with))
    return all & ~(static_cast<std::uint64_t>(*with) - 1);
  if (op->text("is") != "eq" || *with != 0) return 0;
  if (is_thread) return all;
  const bool is_mask = tested->kind == OpKind::And && kernel_.maker(tested->operands[0]) &&
                       kernel_.maker(tested->operands[0])->kind == OpKind::Thread;
  const auto mask = is_mask ? number_of(kernel_, tested->operands[1]) : std::nullopt;
  return mask ? all & static_cast<std::uint64_t>(*mask) : 0;
}

// Both places are equal where the bits turn round what the offsets differ in. Gaussian elimination
// over the bits of both sides; each row remembers by how much the threads' numbers differ.
bool BitMaps::is_same_thread(const BitMap& a, const BitMap& b) const {
  struct Row {
    std::uint64_t place = 0;
    std::uint64_t threads = 0;  // exclusive or of both numbers
  };
  std::vector<Row> rows;
  const auto reduce = [&](Row row) {
    for (const Row& other : rows)
      if ((row.place ^ other.place) < row.place) {
        row.place ^= other.place;
        row.threads ^= other.threads;
      }
    return row;
  };
  const auto bit_of_thread = [](const VariableBit& bit) {
    return bit.first == of_thread ? std::uint64_t{1} << bit.second : 0;
  };
  for (const BitMap* map : {&a, &b}) {
    std::uint64_t threads = map->without;
    for (const auto& [bit, column] : map->columns) threads |= bit_of_thread(bit);
    if ((~threads & ((std::uint64_t{1} << thread_bits_) - 1)) != 0)
      return false;  // copies have the element too
    for (const auto& [bit, column] : map->columns) {
      if ((bit_of_thread(bit) & map->without) != 0) continue;
      const Row row = reduce({column, bit_of_thread(bit)});
      if (row.place == 0 && row.threads != 0) return false;
      if (row.place == 0) continue;
      rows.push_back(row);
      std::sort(rows.begin(), rows.end(),
                [](const Row& x, const Row& y) { return x.place > y.place; });
    }
  }
  // Places that differ in what no bits turn round never meet.
  const Row difference = reduce({a.offset ^ b.offset, 0});
  return difference.place != 0 || difference.threads == 0;
}

}  // namespace tilewright::ir
