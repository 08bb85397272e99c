// SPDX-License-Identifier: Apache-2.0
// graph/lower/gather.cpp — the kernel of embedding.
#include "graph/lower/gather.h"

#include <cmath>

#include "ir/builder.h"

namespace tilewright::graph {

ir::Kernel lower_gather(DType table_dtype, DType index_dtype, int log_block) {
  using Kind = ir::OpKind;
  ir::Kernel kernel;
  kernel.name = "tw_embedding";
  kernel.stage = ir::Stage::Source;
  const auto pointer = [&](DType dtype, const char* name, bool is_const) {
    const ir::Value made = kernel.add_argument(ir::Type::pointer(dtype), name);
    kernel.arguments.back().is_const = is_const;
    return made;
  };
  const ir::Type integer = ir::Type::scalar(i64);
  const ir::Value table = pointer(table_dtype, "table", true);
  const ir::Value index = pointer(index_dtype, "index", true);
  const ir::Value out = pointer(table_dtype, "out", false);
  const ir::Value rows = kernel.add_argument(integer, "rows");
  const ir::Value n = kernel.add_argument(integer, "n");
  const ir::Value row_stride = kernel.add_argument(integer, "row_stride");
  const ir::Value step = kernel.add_argument(integer, "step");
  ir::Builder b(kernel);
  const std::int64_t size = std::int64_t{1} << log_block;
  const ir::Value block = b.constant(integer, size);
  const ir::Value more = b.constant(integer, size - 1);
  const ir::Value blocks = b.binary(Kind::Divide, b.binary(Kind::Add, n, more), block);
  const ir::Value program = b.cast(b.program_id(0), i64);
  const ir::Value row = b.binary(Kind::Divide, program, blocks);
  const ir::Value first =
      b.binary(Kind::Multiply, b.binary(Kind::Remainder, program, blocks), block);
  const ir::Value lane = b.cast(b.arange(0, size), i64);
  const ir::Type tile = b.type(lane);
  const ir::Value column = b.binary(Kind::Add, lane, b.splat(first, tile));
  const ir::Value inside = b.compare("lt", column, b.splat(n, tile));
  const ir::Value chosen = b.cast(b.load(b.offset(index, row)), i64);
  const ir::Value is_there =
      b.binary(Kind::And, b.compare("ge", chosen, b.constant(integer, std::int64_t{0})),
               b.compare("lt", chosen, rows));
  const ir::Value mask = b.binary(Kind::And, inside, b.splat(is_there, tile));
  const ir::Value from = b.binary(Kind::Add, b.binary(Kind::Multiply, column, b.splat(step, tile)),
                                  b.splat(b.binary(Kind::Multiply, chosen, row_stride), tile));
  const ir::Type values = tile.with_element(table_dtype);
  const ir::Value nothing =
      values.is_float() ? b.constant(values, NAN) : b.constant(values, std::int64_t{0});
  const ir::Value value = b.load(b.offset(b.splat(table, tile), from), mask, nothing);
  const ir::Value to = b.binary(Kind::Add, column, b.splat(b.binary(Kind::Multiply, row, n), tile));
  b.store(b.offset(b.splat(out, tile), to), value, inside);
  return kernel;
}

}  // namespace tilewright::graph
