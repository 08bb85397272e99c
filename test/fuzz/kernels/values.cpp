// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/values.cpp — expressions over tiles and scalars, exact whatever their order.
#include <fmt/format.h>

#include "draft.h"

namespace tilewright::fuzz {
namespace {

// Floats in variables and in memory are integers up to this: sums of 1024 of them and one product
// are exact in float32, one sum is in the type itself.
int float_limit(DType dtype) { return dtype == f32 ? 1000 : 100; }

Expression within_limit(const Expression& from) {
  if (!is_floating(from.dtype) || from.bound <= float_limit(from.dtype)) return from;
  return {fmt::format("(({}).to(tl.int32) % {}).to({})", from.text, float_limit(from.dtype) + 1,
                      type_text(from.dtype)),
          from.dtype, float_limit(from.dtype)};
}

Expression variable(const TileVariable& tile) {
  return {tile.name, tile.dtype, float_limit(tile.dtype)};
}

// A pattern over the element's index.
Expression pattern(Draft& draft, Form form) {
  const int factor = 1 + draft.pick(7);
  const int offset = draft.pick(9);
  switch (form) {
    case Form::Flat:
      return {fmt::format("(i * {} + {}) % 61", factor, offset)};
    case Form::Matrix:
      return {fmt::format("(r[:, None] * {} + c[None, :] * {} + {}) % 61", factor, 1 + offset,
                          draft.pick(5))};
    default:
      return {fmt::format("({} * {} + {}) % 61", form == Form::Rows ? "r" : "c", factor, offset)};
  }
}

// The type that sums and scans are exact in.
DType wide(DType dtype) {
  if (is_floating(dtype)) return dtype == f64 ? f64 : f32;
  return size_of(dtype) < 4 ? i32 : dtype;
}

Expression arithmetic(Draft& draft, Form form, DType dtype) {
  const Expression a = operand(draft, form, dtype);
  const Expression b = operand(draft, form, dtype);
  const auto made = [&](const char* format, int bound) -> Expression {
    return {fmt::format(fmt::runtime(format), a.text, b.text), dtype, bound};
  };
  // Triton's maximum of bfloat16 is a float32.
  const auto extreme = [&](const char* format, int bound) -> Expression {
    const Expression wider = made(format, bound);
    return convert({wider.text, dtype == bf16 ? f32 : dtype, bound}, dtype);
  };
  const int larger = std::max(a.bound, b.bound);
  switch (draft.pick(6)) {
    case 0:
      return made("({} + {})", a.bound + b.bound);
    case 1:
      return made("({} - {})", a.bound + b.bound);
    case 2:
      return extreme("tl.maximum({}, {})", larger);
    case 3:
      return made("tl.where({0} < {1}, {1}, {0})", larger);
    default:
      break;
  }
  if (is_floating(dtype)) {
    if (dtype == f32) return made("({} * {})", a.bound * b.bound);
    return extreme("tl.minimum({}, {})", larger);
  }
  switch (draft.pick(5)) {
    case 0:
      return {fmt::format("({} * {} + {})", a.text, 2 + draft.pick(5), draft.pick(9)), dtype};
    case 1:
      return made("({} ^ {})", 0);
    case 2:
      return {fmt::format("({} % {})", a.text, 3 + draft.pick(90)), dtype};
    case 3:
      return made("({} * {})", 0);
    default:
      return convert({fmt::format("({} + {})", convert(a, i32).text, scalar(draft)), i32}, dtype);
  }
}

Expression scan(Draft& draft, Form form, DType dtype) {
  const DType sums = wide(dtype);
  const int axis = form == Form::Matrix ? draft.pick(2) : 0;
  const Expression x = convert(operand(draft, form, dtype), sums);
  const Expression scanned{fmt::format("tl.cumsum({}, axis={}{})", x.text, axis,
                                       draft.chance(30) ? ", reverse=True" : ""),
                           sums, 1024 * 1000};
  return convert(within_limit(scanned), dtype);
}

Expression sorted(Draft& draft, Form form, DType dtype) {
  const Expression x = operand(draft, form, dtype);
  if (draft.chance(25))
    return {fmt::format("tl.flip({}, {})", x.text, form == Form::Matrix ? draft.pick(2) : 0), dtype,
            x.bound};
  return {fmt::format("tl.sort({}{})", x.text, draft.chance(30) ? ", descending=True" : ""), dtype,
          x.bound};
}

Expression gathered(Draft& draft, Form form, DType dtype) {
  const Expression x = operand(draft, form, dtype);
  const int axis = form == Form::Matrix ? draft.pick(2) : 0;
  int size = draft.size;
  if (form != Form::Flat) size = axis == 0 && form != Form::Columns ? draft.rows : draft.columns;
  const Expression at = draft.chance(50) ? pattern(draft, form) : operand(draft, form, i32);
  return {fmt::format("tl.gather({}, ({}) & {}, {})", x.text, at.text, size - 1, axis), dtype,
          x.bound};
}

Expression moved(Draft& draft, Form form, DType dtype) {
  if (form == Form::Flat) {
    const Expression x = operand(draft, Form::Flat, dtype);
    return {fmt::format("tl.reshape(tl.trans(tl.reshape({}, [{}, {}])), [{}])", x.text, draft.rows,
                        draft.columns, draft.size),
            dtype, x.bound};
  }
  if (draft.rows == draft.columns && draft.chance(60)) {
    const Expression x = operand(draft, form, dtype);
    return {fmt::format("tl.trans({})", x.text), dtype, x.bound};
  }
  const Expression x = operand(draft, Form::Flat, dtype);
  return {fmt::format("tl.reshape({}, {})", x.text, shape_text(draft, form)), dtype, x.bound};
}

// Operands from memory too: those are what a pipeline copies ahead.
Expression product_operand(Draft& draft, DType dtype) {
  for (const PointerVariable& pointer : draft.scope.pointers)
    if (pointer.dtype == dtype && draft.chance(60)) return load(draft, Form::Matrix, dtype);
  return operand(draft, Form::Matrix, dtype);
}

// Rows times rows, or columns times columns: both are as large as a tile of rows or columns.
Expression product(Draft& draft, Form form) {
  const bool by_rows = form == Form::Rows || (form == Form::Matrix && draft.chance(50));
  const int depth = by_rows ? draft.columns : draft.rows;
  DType dtype = depth >= 32 ? i8 : f16;  // Triton's smallest depths
  for (const DType candidate : draft.dtypes)
    if (is_floating(candidate) && candidate != f64 && draft.chance(60)) dtype = candidate;
  // Sums of products of 1000 are not exact.
  const auto small = [&](const Expression& from) {
    return dtype == f32 ? fmt::format("(({}).to(tl.int32) % 101).to(tl.float32)", from.text)
                        : from.text;
  };
  const std::string x = small(product_operand(draft, dtype));
  const std::string y = small(product_operand(draft, dtype));
  const DType result = dtype == i8 ? i32 : f32;
  Expression made{fmt::format("tl.dot({}, {}{})", by_rows ? x : fmt::format("tl.trans({})", x),
                              by_rows ? fmt::format("tl.trans({})", y) : y,
                              dtype == f32 ? ", input_precision=\"ieee\"" : ""),
                  result};
  made.bound = 1 << 20;
  if (form == Form::Matrix && draft.rows == draft.columns) return within_limit(made);
  return within_limit({fmt::format("tl.max({}, axis=1)", made.text), result, made.bound});
}

bool can_multiply(const Draft& draft, Form form) {
  if (!draft.has(Kind::Products) || draft.rows < 16 || draft.columns < 16) return false;
  return form != Form::Flat && (form != Form::Matrix || draft.rows == draft.columns);
}

Expression reduced(Draft& draft, Form form, DType dtype) {
  const DType sums = wide(dtype);
  const Expression x = convert(operand(draft, Form::Matrix, dtype), sums);
  const std::string name = draft.one_of({"sum", "sum", "max", "min"});
  return convert(
      within_limit({fmt::format("tl.{}({}, axis={})", name, x.text, form == Form::Rows ? 1 : 0),
                    sums, 1024 * 1000}),
      dtype);
}

Expression spread(Draft& draft, DType dtype) {
  const Expression x = operand(draft, Form::Matrix, dtype);
  const bool by_rows = draft.chance(50);
  const Expression y = draft.has(Kind::Reductions) && draft.chance(60)
                           ? reduced(draft, by_rows ? Form::Rows : Form::Columns, dtype)
                           : operand(draft, by_rows ? Form::Rows : Form::Columns, dtype);
  return {fmt::format("({} + ({}){})", x.text, y.text, by_rows ? "[:, None]" : "[None, :]"), dtype,
          x.bound + y.bound};
}

}  // namespace

std::string type_text(DType dtype) { return fmt::format("tl.{}", name_of(dtype)); }

std::string shape_text(const Draft& draft, Form form) {
  if (form == Form::Matrix) return fmt::format("[{}, {}]", draft.rows, draft.columns);
  return fmt::format("[{}]", form == Form::Flat ? draft.size : draft.rows_or_columns(form));
}

Expression convert(const Expression& from, DType to) {
  if (from.dtype == to) return from;
  const int limit = float_limit(to);
  if (!is_floating(from.dtype) && !is_floating(to))
    return {fmt::format("({}).to({})", from.text, type_text(to)), to};
  // Through int32: what a small integer makes of a large float is not defined.
  std::string whole =
      is_floating(from.dtype) ? fmt::format("({}).to(tl.int32)", from.text) : from.text;
  if (!is_floating(to))
    return {to == i32 ? whole : fmt::format("{}.to({})", whole, type_text(to)), to};
  const int modulus = is_floating(from.dtype) || size_of(from.dtype) > 1 ? limit + 1 : 101;
  if (is_floating(from.dtype) && from.bound <= limit)
    return {fmt::format("({}).to({})", from.text, type_text(to)), to, from.bound};
  return {fmt::format("(({}) % {}).to({})", whole, modulus, type_text(to)), to, limit};
}

Expression operand(Draft& draft, Form form, DType dtype) {
  std::vector<Expression> same;
  std::vector<Expression> others;
  for (const TileVariable& tile : draft.scope.tiles) {
    if (tile.form == form) (tile.dtype == dtype ? same : others).push_back(variable(tile));
  }
  if (!same.empty() && draft.chance(85)) return draft.any(same);
  if (!others.empty() && draft.chance(70)) return convert(draft.any(others), dtype);
  if (form != Form::Matrix && form != Form::Flat && draft.has(Kind::Reductions) &&
      draft.chance(50)) {
    for (const TileVariable& tile : draft.scope.tiles)
      if (tile.form == Form::Matrix) return reduced(draft, form, dtype);
  }
  return convert(pattern(draft, form), dtype);
}

Expression operation(Draft& draft, Form form, DType dtype) {
  const bool is_matrix = form == Form::Matrix;
  const bool is_part = form == Form::Rows || form == Form::Columns;
  Expression made;
  for (int attempt = 0; attempt < 6 && made.text.empty(); ++attempt) {
    switch (draft.pick(8)) {
      case 0:
        if (draft.has(Kind::Scans)) made = scan(draft, form, dtype);
        break;
      case 1:
        if (draft.has(Kind::Sorts)) made = sorted(draft, form, dtype);
        break;
      case 2:
        if (draft.has(Kind::Gathers)) made = gathered(draft, form, dtype);
        break;
      case 3:
        if (draft.has(Kind::Moves) && !is_part) made = moved(draft, form, dtype);
        break;
      case 4:
        if (can_multiply(draft, form)) made = product(draft, form);
        break;
      case 5:
        if (draft.has(Kind::Histograms) && form == Form::Flat)
          made = {fmt::format("tl.histogram({} & {}, {})", operand(draft, form, i32).text,
                              draft.size - 1, draft.size)};
        break;
      case 6:
        if (is_part && draft.has(Kind::Reductions)) made = reduced(draft, form, dtype);
        else if (is_matrix) made = spread(draft, dtype);
        else if (draft.has(Kind::Reductions))
          made = {fmt::format("({} + {})", operand(draft, form, i32).text, reduction(draft))};
        break;
      default:
        made = arithmetic(draft, form, dtype);
    }
  }
  if (made.text.empty()) made = arithmetic(draft, form, dtype);
  return convert(within_limit(made), dtype);
}

std::string scalar(Draft& draft) {
  std::vector<std::string> names = {"m", "s", "n"};
  names.insert(names.end(), draft.scope.scalars.begin(), draft.scope.scalars.end());
  names.insert(names.end(), draft.scope.scalars.begin(), draft.scope.scalars.end());
  for (const LoopCounter& counter : draft.scope.counters) {
    names.push_back(counter.name);
    names.push_back(counter.name);
  }
  return draft.any(names);
}

std::string condition(Draft& draft) {
  const std::string value = scalar(draft);
  switch (draft.pick(3)) {
    case 0:
      return fmt::format("({} & {}) == 0", value, 1 << draft.pick(2));
    case 1:
      return fmt::format("{} > {}", value, draft.pick(4));
    default:
      return fmt::format("{} % 3 != {}", value, draft.pick(3));
  }
}

std::string reduction(Draft& draft) {
  if (draft.scope.tiles.empty()) return scalar(draft);
  const TileVariable tile = draft.any(draft.scope.tiles);
  const Expression x = convert(variable(tile), wide(tile.dtype));
  // An index is that of the first such element: a result without doubt.
  if (tile.form == Form::Flat && draft.chance(20))
    return fmt::format("tl.{}({}, axis=0)", draft.one_of({"argmax", "argmin"}), x.text);
  const std::string name = is_floating(tile.dtype)
                               ? draft.one_of({"sum", "max", "min"})
                               : draft.one_of({"sum", "sum", "max", "min", "xor_sum"});
  const std::string axes = tile.form != Form::Matrix || name == "xor_sum" ? ", axis=0" : "";
  std::string text = x.text;
  if (tile.form == Form::Matrix && name == "xor_sum")
    text = fmt::format("tl.reshape({}, [{}])", text, draft.size);
  return fmt::format("tl.{}({}{}).to(tl.int32)", name, text, axes);
}

}  // namespace tilewright::fuzz
