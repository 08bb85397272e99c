// SPDX-License-Identifier: Apache-2.0
// ir/interpret/warpgroups.cpp — one instruction of a warpgroup, which multiplies what lies in
// shared memory and in registers.
#include <cstring>
#include <utility>

#include "ir/interpret/program.h"
#include "machine/units.h"

namespace tilewright::ir {

namespace {

constexpr std::size_t group_rows = 64, warp_rows = 16;

// As device_lib/cuda/wgmma.cuh writes it.
struct Descriptor {
  std::size_t address = 0;  // bytes
  std::size_t leading = 0, stride = 0, line_bytes = 128;
};

constexpr std::uint64_t swizzle_of(std::int64_t line_bytes) {
  return line_bytes == 128 ? 1 : line_bytes == 64 ? 2 : 3;
}

Descriptor read_descriptor(std::uint64_t bits) {
  const std::uint64_t swizzle = bits >> 62;
  return {.address = (bits & 0x3fff) << 4,
          .leading = (bits >> 16 & 0x3fff) << 4,
          .stride = (bits >> 32 & 0x3fff) << 4,
          .line_bytes = swizzle == 1   ? 128u
                        : swizzle == 2 ? 64u
                                       : 32u};
}

std::size_t address_in(const Descriptor& from, bool is_transposed, std::size_t across,
                       std::size_t depth, std::size_t bytes) {
  const std::size_t per_line = from.line_bytes / bytes;
  const std::size_t offset =
      is_transposed ? across % per_line * bytes + across / per_line * from.leading +
                          depth % 8 * from.line_bytes + depth / 8 * from.stride
                    : depth * bytes + across % 8 * from.line_bytes + across / 8 * from.stride;
  const std::size_t address = from.address + offset;
  return address ^ (address >> 7 & (from.line_bytes / 16 - 1)) << 4;
}

double cut_tf32(double value) {
  const float exact = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &exact, sizeof(bits));
  bits &= 0xffffe000u;
  float out = 0;
  std::memcpy(&out, &bits, sizeof(out));
  return out;
}

}  // namespace

std::int64_t Matrices::descriptor_of(const Op& op) const {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const auto address = static_cast<std::uint64_t>(shared_.address_of(integer(op, 0)));
  const std::uint64_t bits =
      (address & 0x3ffff) >> 4 | static_cast<std::uint64_t>(numbers[1] >> 4) << 16 |
      static_cast<std::uint64_t>(numbers[2] >> 4) << 32 | swizzle_of(numbers[0]) << 62;
  return static_cast<std::int64_t>(bits);
}

// Rows or columns of an operand in shared memory, the depth along each. All threads of the
// warpgroup have the same descriptor.
std::vector<Element> Matrices::described_operand(const Op& op, std::size_t operand,
                                                 std::int64_t group, std::size_t lines,
                                                 GroupProducts::Product& product) {
  const GroupUnit& unit = *group_unit_named(op.text("unit"));
  const DType dtype = operand == 1 ? unit.left : unit.right;
  const bool is_transposed = op.integers("numbers")[operand] != 0;
  const std::size_t bytes = size_of(dtype), depths = 32 / bytes;
  const Value value = op.operands[operand];
  const auto first = static_cast<std::size_t>(group * GroupProducts::threads);
  const std::int64_t bits = threads_[first].values[value.id].elements[0].i;
  for (std::size_t t = 0; t < static_cast<std::size_t>(GroupProducts::threads); ++t)
    if (threads_[first + t].values[value.id].elements[0].i != bits)
      fail(op, "threads of a warpgroup have different descriptors");
  const Descriptor from = read_descriptor(static_cast<std::uint64_t>(bits));
  std::vector<Element> out;
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t depth = 0; depth < depths; ++depth) {
      const std::size_t address = address_in(from, is_transposed, line, depth, bytes);
      Element element;
      if (const std::string problem = shared_.read_for_product(address, dtype, element);
          !problem.empty())
        fail(op, "a product reads " + problem);
      if (unit.left == DType::Float32) element.f = cut_tf32(element.f);
      product.chunks.insert(address / GroupProducts::chunk);
      out.push_back(element);
    }
  return out;
}

// Rows of the left operand in words of the threads.
std::vector<Element> Matrices::operand_in_words(const Op& op, std::int64_t group) {
  const GroupUnit& unit = *group_unit_named(op.text("unit"));
  const std::size_t bytes = size_of(unit.left), depths = 32 / bytes, per_word = 4 / bytes;
  std::vector<Element> out(group_rows * depths);
  for (std::size_t t = 0; t < static_cast<std::size_t>(GroupProducts::threads); ++t) {
    const ThreadState& state = threads_[static_cast<std::size_t>(group) * 128 + t];
    const std::int64_t handle = state.values[op.operands[1].id].elements[0].i;
    const std::size_t warp = t / 32, lane = t % 32;
    for (std::size_t word = 0; word < 4; ++word) {
      const auto index = static_cast<std::int64_t>(word);
      if (const std::string problem = state.arrays.problem(handle, index, true); !problem.empty())
        fail(op, "a product reads " + problem);
      const auto bits = static_cast<std::uint32_t>(state.arrays.read(handle, index).i);
      const std::size_t row = warp * warp_rows + lane / 4 + word % 2 * 8;
      for (std::size_t k = 0; k < per_word; ++k) {
        std::uint32_t shifted = bits >> (8 * bytes * k);
        if (unit.left == DType::Float32) shifted &= 0xffffe000u;
        out[row * depths + (lane % 4 + word / 2 * 4) * per_word + k] =
            read_element(unit.left, &shifted);
      }
    }
  }
  return out;
}

void Matrices::start_product(const Op& op, std::int64_t group) {
  const GroupUnit& unit = *group_unit_named(op.text("unit"));
  const auto columns = static_cast<std::size_t>(op.integers("numbers")[0]);
  const std::size_t depths = 32 / size_of(unit.left);
  const bool has_words = kernel_.type(op.operands[1]).is_array();
  const auto first = static_cast<std::size_t>(group * GroupProducts::threads);
  GroupProducts::Product product;
  product.sums = Arrays::owner_of(threads_[first].values[op.operands[0].id].elements[0].i);
  if (has_words)
    product.words = Arrays::owner_of(threads_[first].values[op.operands[1].id].elements[0].i);
  const std::vector<Element> left = has_words
                                        ? operand_in_words(op, group)
                                        : described_operand(op, 1, group, group_rows, product);
  const std::vector<Element> right = described_operand(op, 2, group, columns, product);
  if (const std::string problem = products_.start(group, std::move(product)); !problem.empty())
    fail(op, "a product " + problem);
  const DType sum = kernel_.type(op.operands[0]).dtype;
  for (std::size_t t = 0; t < static_cast<std::size_t>(GroupProducts::threads); ++t) {
    ThreadState& state = threads_[first + t];
    const std::int64_t handle = state.values[op.operands[0].id].elements[0].i;
    const bool keeps = state.values[op.operands[3].id].elements[0].i != 0;
    for (std::size_t i = 0; i < columns / 2; ++i) {
      const std::size_t row = t / 32 * warp_rows + t % 32 / 4 + i / 2 % 2 * 8;
      const std::size_t column = i / 4 * 8 + t % 4 * 2 + i % 2;
      const auto index = static_cast<std::int64_t>(i);
      if (const std::string problem = state.arrays.problem(handle, index, keeps); !problem.empty())
        fail(op, "a product adds to " + problem);
      Element total{.i = 0};
      if (keeps) total = state.arrays.read(handle, index);
      else if (is_floating(sum)) total.f = 0;
      for (std::size_t d = 0; d < depths; ++d) {
        const Element x = left[row * depths + d], y = right[column * depths + d];
        if (is_floating(sum)) total.f += x.f * y.f;
        else total.i += x.i * y.i;
      }
      if (is_floating(sum)) total.f = options_.float64 ? total.f : round_to(sum, total.f);
      else total.i = wrap(sum, total.i);
      state.arrays.write(handle, index, total);
    }
  }
}

// What products that are done have read counts as read by their threads now.
void Matrices::wait_products(const Op& op) {
  for_each_group([&](std::int64_t group) {
    for (const GroupProducts::Product& done : products_.wait(group, op.integers("numbers")[0]))
      for (const std::size_t number : done.chunks)
        shared_.note_product_done(number * GroupProducts::chunk, GroupProducts::chunk);
  });
}

void Matrices::begin_products() {
  for_each_group([&](std::int64_t group) { products_.begin(group); });
}

void Matrices::start_products(const Op& op) {
  for_each_group([&](std::int64_t group) { start_product(op, group); });
}

void Matrices::commit_products() {
  for_each_group([&](std::int64_t group) { products_.commit(group); });
}

void Matrices::for_each_group(const std::function<void(std::int64_t)>& run) {
  for (std::int64_t group = 0; group * GroupProducts::threads < thread_count_; ++group) run(group);
}

}  // namespace tilewright::ir
