// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/places.cpp — pointers, indices and masks of loads and stores.
#include <algorithm>

#include <fmt/format.h>

#include "draft.h"

namespace tilewright::fuzz {
namespace {

std::string flat_index(Draft& draft, bool is_store) {
  const int last = draft.size - 1;
  switch (draft.pick(draft.has(Kind::GatheredPointers) ? 9 : 8)) {
    case 0:
    case 1:
      return "i";
    case 2:
      return fmt::format("({} - i)", last);
    case 3:
      return fmt::format("(i ^ {})", 1 + draft.pick(last));
    case 4:
      return fmt::format("((i + {}) % {})", 1 + draft.pick(last),
                         draft.chance(50) ? "n" : std::to_string(draft.size));
    case 5:
      return fmt::format("((i * {} + {}) & {})", 3 + 2 * draft.pick(9), draft.pick(draft.size),
                         last);
    case 6:
      return fmt::format("(i ^ ({} & {}))", scalar(draft), last);
    case 7:
      if (!is_store) {
        return fmt::format("(({}) & {})", operand(draft, Form::Flat, i32).text, last);
      }
      return fmt::format("((i * {}) % {})", 3 + 2 * draft.pick(9), draft.size);
    default:
      return draft.one_of(
          {"g", fmt::format("({} - g)", last), fmt::format("(g ^ {})", draft.pick(8))});
  }
}

std::string matrix_index(Draft& draft) {
  const int rows = draft.rows;
  const int columns = draft.columns;
  switch (draft.pick(8)) {
    case 0:
      return fmt::format("c[None, :] * {} + r[:, None]", rows);
    case 4:  // with strides that only the launch knows
      return "r[:, None] * w + c[None, :]";
    case 5:
      return draft.one_of({fmt::format("({} - r[:, None]) * w + c[None, :]", rows - 1),
                           fmt::format("r[:, None] * w + ({} - c[None, :])", columns - 1),
                           "r[:, None].to(tl.int64) * w + c[None, :]"});
    case 1:
      return fmt::format("({} - (r[:, None] * {} + c[None, :]))", draft.size - 1, columns);
    case 2:
      return fmt::format("r[:, None] * {} + (c[None, :] ^ {})", columns,
                         1 + draft.pick(columns - 1));
    case 3:
      return fmt::format("((r[:, None] + {}) % {}) * {} + c[None, :]", 1 + draft.pick(rows - 1),
                         rows, columns);
    default:
      return fmt::format("r[:, None] * {} + c[None, :]", columns);
  }
}

std::string part_index(Draft& draft, Form form) {
  const char* name = form == Form::Rows ? "r" : "c";
  const int count = draft.rows_or_columns(form);
  switch (draft.pick(4)) {
    case 0:
      return fmt::format("({} - {})", count - 1, name);
    case 1:
      return fmt::format("{} * {}", name, draft.size / count);
    case 2:
      return fmt::format("({} ^ {})", name, 1 + draft.pick(count - 1));
    default:
      return name;
  }
}

// Where a tile begins behind a pointer: a few places, so that accesses meet.
std::string offset(Draft& draft, int room) {
  const int size = draft.size;
  const int free = room - size;
  std::vector<std::string> texts = {"", ""};
  if (free >= size / 2) texts.push_back(fmt::format(" + {}", size / 2));
  if (free >= size) texts.push_back(fmt::format(" + {}", size));
  if (free >= 3) texts.push_back(fmt::format(" + {}", 1 + draft.pick(3)));
  if (free >= size) texts.push_back(fmt::format(" + ({} & 1) * {}", scalar(draft), size));
  for (const LoopCounter& counter : draft.scope.counters) {
    if (free >= counter.last * size)
      texts.insert(texts.end(), 3, fmt::format(" + {} * {}", counter.name, size));
    if (free >= (counter.last + 1) * size)
      texts.push_back(fmt::format(" + ({} + 1) * {}", counter.name, size));
    if (draft.has(Kind::SmallTypes) && free >= 128 && size <= 128)  // 0 and 128 in turn
      texts.insert(texts.end(), 2,
                   fmt::format(" + ({} * 128).to(tl.uint8).to(tl.int32)", counter.name));
  }
  return draft.any(texts);
}

std::string pointer_type(DType dtype) {
  return fmt::format("tl.pointer_type({})", type_text(dtype));
}

std::string through_integer(Draft& draft, const PointerVariable& pointer) {
  if (!draft.has(Kind::CastPointers) || !draft.chance(25)) return pointer.name;
  return fmt::format("{}.to(tl.int64).to({})", pointer.name, pointer_type(pointer.dtype));
}

// Another argument of the same type; for a store it must be in other memory.
const PointerVariable* partner(Draft& draft, const PointerVariable& pointer, bool is_store) {
  std::vector<const PointerVariable*> found;
  for (const PointerVariable& other : draft.scope.pointers) {
    if (other.dtype != pointer.dtype || other.name == pointer.name) continue;
    const bool is_apart =
        other.memory >= 0 && pointer.memory >= 0 && other.memory != pointer.memory;
    if (is_apart || !is_store) found.push_back(&other);
  }
  return found.empty() ? nullptr : draft.any(found);
}

}  // namespace

const PointerVariable& any_pointer(Draft& draft, DType dtype) {
  std::vector<const PointerVariable*> found;
  for (const PointerVariable& pointer : draft.scope.pointers)
    if (pointer.dtype == dtype) found.push_back(&pointer);
  return *draft.any(found);
}

std::string index(Draft& draft, Form form, bool is_store) {
  if (form == Form::Flat) return flat_index(draft, is_store);
  return form == Form::Matrix ? matrix_index(draft) : part_index(draft, form);
}

Access access(Draft& draft, Form form, DType dtype, bool is_store) {
  if (form == Form::Flat && draft.chance(40))
    for (const PointerTile& tile : draft.scope.pointer_tiles)
      if (tile.dtype == dtype) return {tile.name, dtype};
  const PointerVariable pointer = any_pointer(draft, dtype);
  const std::string at = index(draft, form, is_store);
  const PointerVariable* other = partner(draft, pointer, is_store);
  if (other != nullptr && form == Form::Flat && draft.has(Kind::SelectedPointers) &&
      draft.chance(25)) {
    const std::string begin = offset(draft, std::min(pointer.room, other->room));
    return {fmt::format("tl.where({}, {}{} + {}, {}{} + {})",
                        draft.one_of({"(i & 1) == 0", "i < n // 2", "(i + m) % 3 == 0"}),
                        pointer.name, begin, at, other->name, begin, at),
            dtype};
  }
  const std::string plain =
      fmt::format("{}{} + {}", through_integer(draft, pointer), offset(draft, pointer.room), at);
  if (form == Form::Flat && draft.has(Kind::GatheredPointers) && draft.has(Kind::Gathers) &&
      draft.chance(15))
    return {fmt::format("tl.gather(({}).to(tl.int64), {}, 0).to({})", plain,
                        draft.one_of({"g", fmt::format("{} - i", draft.size - 1)}),
                        pointer_type(dtype)),
            dtype};
  return {plain, dtype};
}

Access scalar_access(Draft& draft, DType dtype) {
  const PointerVariable pointer = any_pointer(draft, dtype);
  const std::string at =
      draft.one_of({"", " + 1", fmt::format(" + ({} & {})", scalar(draft), draft.size - 1),
                    fmt::format(" + {}", draft.size - 1)});
  return {through_integer(draft, pointer) + at, dtype};
}

std::string mask(Draft& draft, Form form) {
  if (!draft.chance(20)) return {};
  std::vector<std::string> masks;
  if (form == Form::Flat)
    masks = {"i < n - 3", "(i & 1) == 0", "i >= m",
             fmt::format("{} > 0", operand(draft, form, i32).text),
             fmt::format("i < {}", scalar(draft))};
  else if (form == Form::Matrix)
    masks = {"(r[:, None] + c[None, :]) % 2 == 0", "r[:, None] > c[None, :]",
             "(r[:, None] < m) & (c[None, :] < w - 1)", "(r[:, None] >= s - m) & (c[None, :] < w)",
             fmt::format("c[None, :] < {}", scalar(draft))};
  else masks = {form == Form::Rows ? "r > 1" : "c > 1"};
  return draft.any(masks);
}

Expression load(Draft& draft, Form form, DType dtype) {
  const Access from = access(draft, form, dtype, false);
  const std::string masked = mask(draft, form);
  const std::string other =
      masked.empty() ? "" : fmt::format(", mask={}, other={}", masked, draft.pick(4));
  return {fmt::format("tl.load({}{})", from.pointers, other), dtype, dtype == f32 ? 1000 : 100};
}

}  // namespace tilewright::fuzz
