// SPDX-License-Identifier: Apache-2.0
// graph/lower/contract.cpp — a program makes a block of the result; programs that share columns of
// the second operand run next to each other.
#include "graph/lower/contract.h"

#include <fmt/format.h>

#include "graph/op.h"
#include "ir/builder.h"

namespace tilewright::graph {
namespace {

using Kind = ir::OpKind;
using ir::Value;

class ContractLowering {
 public:
  explicit ContractLowering(const ContractClass& made_for) : class_(made_for), b_(kernel_) {
    kernel_.name = "tw_matmul";
    kernel_.stage = ir::Stage::Source;
  }

  ir::Kernel run() {
    add_arguments();
    find_block();
    const Value total = multiply_blocks();
    store(total);
    return std::move(kernel_);
  }

 private:
  struct Matrix {
    Value pointer;
    std::vector<Value> batch_strides;
    Value strides[2];
  };

  Value pointer_argument(const char* name, bool is_const) {
    const Value made = kernel_.add_argument(ir::Type::pointer(class_.dtype), name);
    kernel_.arguments.back().is_const = is_const;
    return made;
  }
  Value size_argument(std::string name, bool is_aligned) {
    const Value made = kernel_.add_argument(ir::Type::scalar(i64), std::move(name));
    if (is_aligned) kernel_.arguments.back().divisible = 16;
    return made;
  }

  void add_arguments() {
    a_.pointer = pointer_argument("a", true);
    c_.pointer = pointer_argument("b", true);
    if (class_.has_bias) bias_ = pointer_argument("bias", true);
    out_ = pointer_argument("out", false);
    m_ = size_argument("m", false);
    n_ = size_argument("n", class_.is_aligned);
    k_ = size_argument("k", class_.is_aligned);
    for (int d = 0; d < class_.batch_rank; ++d)
      batch_sizes_.push_back(size_argument(fmt::format("batch{}", d), false));
    for (Matrix* matrix : {&a_, &c_})
      for (int d = 0; d < class_.batch_rank; ++d)
        matrix->batch_strides.push_back(size_argument(
            fmt::format("{}_batch{}", matrix == &a_ ? "a" : "b", d), class_.is_aligned));
    add_strides(a_, class_.unit_a, "a");
    add_strides(c_, class_.unit_b, "b");
    if (class_.has_bias) bias_stride_ = size_argument("bias_stride", false);
  }

  void add_strides(Matrix& matrix, int unit, const char* name) {
    for (int side = 0; side < 2; ++side)
      matrix.strides[side] =
          side == unit ? integer(1)
                       : size_argument(fmt::format("{}_{}", name, side == 0 ? "row" : "column"),
                                       class_.is_aligned);
  }

  // ---- Scalars.
  Value integer(std::int64_t value) { return b_.constant(ir::Type::scalar(i64), value); }
  Value add(Value x, Value y) { return b_.binary(Kind::Add, x, y); }
  Value times(Value x, Value y) { return b_.binary(Kind::Multiply, x, y); }
  Value over(Value x, Value y) { return b_.binary(Kind::Divide, x, y); }
  Value rest(Value x, Value y) { return b_.binary(Kind::Remainder, x, y); }
  Value blocks(Value size, std::int64_t block) {
    return over(add(size, integer(block - 1)), integer(block));
  }

  void find_block() {
    constexpr std::int64_t group = 8;
    const Value rows = blocks(m_, class_.tall), columns = blocks(n_, class_.wide);
    const Value program = b_.cast(b_.program_id(0), i64);
    const Value tiles = times(rows, columns);
    const Value tile = class_.batch_rank == 0 ? program : rest(program, tiles);
    batch_ = class_.batch_rank == 0 ? Value() : over(program, tiles);
    const Value per_group = times(columns, integer(group));
    const Value first = times(over(tile, per_group), integer(group));
    const Value height =
        b_.binary(Kind::Minimum, b_.binary(Kind::Subtract, rows, first), integer(group));
    const Value within = rest(tile, per_group);
    first_m_ = times(add(first, rest(within, height)), integer(class_.tall));
    first_n_ = times(over(within, height), integer(class_.wide));
  }

  Value base_of(const Matrix& matrix) {
    Value pointer = matrix.pointer;
    Value index = batch_;
    for (int d = class_.batch_rank - 1; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      const Value place = d == 0 ? index : rest(index, batch_sizes_[i]);
      if (d > 0) index = over(index, batch_sizes_[i]);
      pointer = b_.offset(pointer, times(place, matrix.batch_strides[i]));
    }
    return pointer;
  }

  // ---- Tiles of rank 2.

  // first + 0, 1, .. along a dimension of a tile of `rows` x `columns`.
  Value along(int dimension, Value first, std::int64_t rows, std::int64_t columns) {
    const std::int64_t size = dimension == 0 ? rows : columns;
    Value lane = b_.cast(b_.arange(0, size), i64);
    if (first) lane = add(lane, b_.splat(first, b_.type(lane)));
    const Value flat = b_.reshape(lane, dimension == 0 ? std::vector<std::int64_t>{size, 1}
                                                       : std::vector<std::int64_t>{1, size});
    return b_.broadcast(flat, ir::Type::tile(i64, {rows, columns}));
  }
  Value scaled(Value tile, Value stride) { return times(tile, b_.splat(stride, b_.type(tile))); }
  Value below(Value tile, Value end) {
    return b_.compare("lt", tile, b_.splat(end, b_.type(tile)));
  }
  Value pointers(Value base, Value row, Value column, const Value (&strides)[2]) {
    const Value offset = add(scaled(row, strides[0]), scaled(column, strides[1]));
    return b_.offset(b_.splat(base, b_.type(offset)), offset);
  }
  Value moved(Value tile, Value by) {
    const ir::Type integers = ir::Type::scalar(i64).with_shape_of(b_.type(tile));
    return b_.offset(tile, b_.splat(by, integers));
  }

  Value multiply_blocks() {
    const std::int64_t tall = class_.tall, wide = class_.wide, deep = class_.deep;
    const Value a_row = along(0, first_m_, tall, deep), a_column = along(1, {}, tall, deep);
    const Value b_row = along(0, {}, deep, wide), b_column = along(1, first_n_, deep, wide);
    const Value a_first = pointers(base_of(a_), a_row, a_column, a_.strides);
    const Value b_first = pointers(base_of(c_), b_row, b_column, c_.strides);
    const Value a_rows = below(a_row, m_), b_columns = below(b_column, n_);
    const Value a_step = times(a_.strides[1], integer(deep));
    const Value b_step = times(c_.strides[0], integer(deep));
    const ir::Type sums = ir::Type::tile(compute_dtype(class_.dtype), {tall, wide});
    const std::vector<Value> initial = {b_.constant(sums, 0.0), a_first, b_first};
    std::vector<ir::Type> types;
    for (const Value value : initial) types.push_back(b_.type(value));
    ir::Op* loop =
        b_.create(Kind::For, {integer(0), k_, integer(deep), initial[0], a_first, b_first}, types);
    ir::Region& region = loop->regions.emplace_back();
    region.arguments.push_back(kernel_.make_value(ir::Type::scalar(i64), "first", nullptr));
    for (const ir::Type& type : types)
      region.arguments.push_back(kernel_.make_value(type, "", nullptr));
    const ir::Builder::Into into(b_, region);
    const Value left = b_.binary(Kind::Subtract, k_, region.arguments[0]);
    const Value zero_a = b_.constant(ir::Type::tile(class_.dtype, {tall, deep}), 0.0);
    const Value zero_b = b_.constant(ir::Type::tile(class_.dtype, {deep, wide}), 0.0);
    const Value x =
        b_.load(region.arguments[2], b_.binary(Kind::And, a_rows, below(a_column, left)), zero_a);
    const Value y =
        b_.load(region.arguments[3], b_.binary(Kind::And, below(b_row, left), b_columns), zero_b);
    const Value sum =
        b_.create_one(Kind::Dot, {x, y, region.arguments[1]}, sums,
                      {{"precision", std::string(class_.allows_tf32 ? "tf32" : "ieee")}});
    b_.yield({sum, moved(region.arguments[2], a_step), moved(region.arguments[3], b_step)});
    return loop->results[0];
  }

  void store(Value total) {
    const std::int64_t tall = class_.tall, wide = class_.wide;
    const Value row = along(0, first_m_, tall, wide), column = along(1, first_n_, tall, wide);
    const Value inside = b_.binary(Kind::And, below(row, m_), below(column, n_));
    if (class_.has_bias) total = add(total, bias(wide));
    Value base = out_;
    if (class_.batch_rank > 0) base = b_.offset(base, times(batch_, times(m_, n_)));
    const Value strides[2] = {n_, integer(1)};
    b_.store(pointers(base, row, column, strides), b_.cast(total, class_.dtype), inside);
  }

  Value bias(std::int64_t wide) {
    const Value column = along(1, first_n_, 1, wide);
    const Value offset = scaled(column, bias_stride_);
    const Value place = b_.offset(b_.splat(bias_, b_.type(offset)), offset);
    const Value row = b_.load(place, below(column, n_));
    const DType compute = compute_dtype(class_.dtype);
    return b_.broadcast(b_.cast(row, compute), ir::Type::tile(compute, {class_.tall, wide}));
  }

  const ContractClass& class_;
  ir::Kernel kernel_;
  ir::Builder b_;
  Matrix a_, c_;
  Value bias_, out_, m_, n_, k_, bias_stride_;
  std::vector<Value> batch_sizes_;
  Value batch_, first_m_, first_n_;
};

}  // namespace

namespace {
thread_local const ContractBlocks* chosen_blocks = nullptr;
}

ContractChoice::ContractChoice(const std::optional<ContractBlocks>& blocks)
    : before_(chosen_blocks) {
  if (blocks) chosen_blocks = &*blocks;
}
ContractChoice::~ContractChoice() { chosen_blocks = before_; }
const ContractBlocks* ContractChoice::current() { return chosen_blocks; }

ir::Kernel lower_contract(const ContractClass& made_for) {
  return ContractLowering(made_for).run();
}

}  // namespace tilewright::graph
