// SPDX-License-Identifier: Apache-2.0
// ir/tables.cpp — rows of a kernel's tables as named facts, and back.
#include "ir/tables.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tilewright::ir {
namespace {

constexpr std::int64_t most_slots = 1024;
constexpr std::int64_t most_threads_of_any_machine = 1 << 16;

std::vector<std::int64_t> columns_of(const BitMatrix& matrix) {
  const auto columns = matrix.all_columns();
  return {columns.begin(), columns.end()};
}

int index_bits_of(const Type& type) { return index_bits({type.log_sizes.data(), type.rank}); }

// Facts are taken one by one; the first that is wrong, or left in the end, is told.
class FactTaker {
 public:
  FactTaker(const std::vector<Attribute>& facts, std::string_view row) : facts_(facts), row_(row) {
    for (std::size_t i = 0; i < facts.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (facts[j].name == facts[i].name) fail("'{}' stands twice", facts[i].name);
  }

  template <class T>
  bool take(std::string_view name, T& into) {
    known_.push_back(name);
    for (const Attribute& fact : facts_) {
      if (fact.name != name) continue;
      if (const T* value = std::get_if<T>(&fact.value)) into = *value;
      else fail("'{}' has the wrong kind of value", name);
      return true;
    }
    return false;
  }

  bool take_number(std::string_view name, std::int64_t least, std::int64_t most, int& into) {
    std::int64_t value = into;
    if (!take(name, value)) return false;
    if (value < least || value > most) fail("'{}' is a number from {} to {}", name, least, most);
    else into = static_cast<int>(value);
    return true;
  }

  void take_flag(std::string_view name, bool& into) {
    int value = into ? 1 : 0;
    take_number(name, 0, 1, value);
    into = value != 0;
  }

  BitMatrix take_columns(std::string_view name, int bits) {
    std::vector<std::int64_t> columns;
    if (!take(name, columns)) fail("'{}' is missing", name);
    for (const std::int64_t column : columns)
      if (column < 0 || column >> bits != 0)
        return fail("column {} of '{}' is no element of the tile", column, name), BitMatrix();
    if (columns.size() > 32) return fail("'{}' has more than 32 columns", name), BitMatrix();
    return BitMatrix(bits, {columns.begin(), columns.end()});
  }

  template <class... Arguments>
  void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (problem_.empty()) problem_ = fmt::format(text, std::forward<Arguments>(arguments)...);
  }

  std::string problem() {
    for (const Attribute& fact : facts_)
      if (std::find(known_.begin(), known_.end(), fact.name) == known_.end())
        fail("a {} has no fact '{}'; there are {}", row_, fact.name, fmt::join(known_, ", "));
    return problem_;
  }

 private:
  const std::vector<Attribute>& facts_;
  std::string_view row_;
  std::vector<std::string_view> known_;
  std::string problem_;
};

std::string_view name_of_space(BufferSpace space) {
  return space == BufferSpace::Shared ? "shared" : "registers";
}

}  // namespace

std::int64_t KernelBuffer::bytes() const {
  const std::int64_t copies = has_slots() ? slots : is_scratch() ? scratch : 1;
  return copies * type.numel() * static_cast<std::int64_t>(type.element_bytes());
}

std::vector<Attribute> facts_of(const KernelShape& shape) {
  std::vector<Attribute> facts = {{"warps", std::int64_t{shape.warps}}};
  if (shape.programs != 1) facts.push_back({"programs", std::int64_t{shape.programs}});
  if (shape.cluster != 1) facts.push_back({"cluster", std::int64_t{shape.cluster}});
  if (shape.resident != 0) facts.push_back({"resident", std::int64_t{shape.resident}});
  return facts;
}

std::vector<Attribute> facts_of(const KernelLayout& layout) {
  std::vector<Attribute> facts = {{"register", columns_of(layout.layout.registers())},
                                  {"lane", columns_of(layout.layout.lanes())},
                                  {"warp", columns_of(layout.layout.warps())}};
  if (layout.vector != 1) facts.push_back({"vector", std::int64_t{layout.vector}});
  if (layout.along + 1 != layout.shape.rank) facts.push_back({"along", std::int64_t{layout.along}});
  if (layout.is_unrolled) facts.push_back({"unroll", std::int64_t{1}});
  return facts;
}

std::vector<Attribute> facts_of(const KernelBuffer& buffer) {
  std::vector<Attribute> facts;
  if (buffer.has_slots()) facts.push_back({"slots", std::int64_t{buffer.slots}});
  if (buffer.is_scratch()) facts.push_back({"scratch", std::int64_t{buffer.scratch}});
  if (buffer.space != BufferSpace::Undecided)
    facts.push_back({"space", std::string(name_of_space(buffer.space))});
  if (!buffer.layout.empty()) facts.push_back({"layout", buffer.layout});
  if (!buffer.order.empty()) facts.push_back({"order", buffer.order});
  if (!buffer.swaps.empty()) facts.push_back({"swaps", buffer.swaps});
  if (buffer.align != KernelBuffer::least_align)
    facts.push_back({"align", std::int64_t{buffer.align}});
  if (buffer.is_private) facts.push_back({"private", std::int64_t{1}});
  if (buffer.offset >= 0) facts.push_back({"offset", buffer.offset});
  return facts;
}

std::string take_facts(const std::vector<Attribute>& facts, KernelShape& shape) {
  FactTaker taker(facts, "shape");
  if (!taker.take_number("warps", 1, most_threads_of_any_machine, shape.warps))
    taker.fail("'warps' is missing");
  taker.take_number("programs", 1, most_threads_of_any_machine, shape.programs);
  taker.take_number("cluster", 1, most_threads_of_any_machine, shape.cluster);
  taker.take_number("resident", 0, most_threads_of_any_machine, shape.resident);
  return taker.problem();
}

std::string take_facts(const std::vector<Attribute>& facts, KernelLayout& layout) {
  FactTaker taker(facts, "layout");
  if (!layout.shape.is_tile()) taker.fail("a layout has the sizes of a tile behind its name");
  const int bits = index_bits_of(layout.shape);
  const BitMatrix registers = taker.take_columns("register", bits);
  const BitMatrix lanes = taker.take_columns("lane", bits);
  const BitMatrix warps = taker.take_columns("warp", bits);
  layout.along = layout.shape.rank - 1;
  taker.take_number("vector", 1, std::int64_t{1} << registers.columns(), layout.vector);
  taker.take_number("along", 0, layout.shape.rank - 1, layout.along);
  taker.take_flag("unroll", layout.is_unrolled);
  std::string problem = taker.problem();
  if (problem.empty()) layout.layout = Layout(registers, lanes, warps);
  return problem;
}

std::string take_facts(const std::vector<Attribute>& facts, KernelBuffer& buffer) {
  FactTaker taker(facts, "buffer");
  if (!taker.take_number("slots", 1, most_slots, buffer.slots)) buffer.slots = 0;
  std::string space;
  if (taker.take("space", space)) {
    if (space == "registers") buffer.space = BufferSpace::Registers;
    else if (space == "shared") buffer.space = BufferSpace::Shared;
    else taker.fail("'{}' is no space; there are registers and shared", space);
  }
  taker.take("layout", buffer.layout);
  taker.take("order", buffer.order);
  taker.take("swaps", buffer.swaps);
  taker.take_number("align", 1, std::numeric_limits<int>::max(), buffer.align);
  taker.take_flag("private", buffer.is_private);
  taker.take_number("scratch", 1, most_slots, buffer.scratch);
  constexpr std::int64_t most_offset = std::numeric_limits<int>::max();
  if (taker.take("offset", buffer.offset) && (buffer.offset < 0 || buffer.offset > most_offset))
    taker.fail("'offset' is a number from 0 to {}", most_offset);
  return taker.problem();
}

}  // namespace tilewright::ir
