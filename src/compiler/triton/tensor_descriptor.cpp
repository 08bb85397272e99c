// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tensor_descriptor.cpp — a descriptor is checked once, where it is made.
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/error.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

void check(const Tensor& tensor, const std::vector<std::int64_t>& block) {
  if (!tensor.is_defined())
    throw ArgumentError("a tensor descriptor needs a tensor that is defined");
  if (tensor.rank() < 1 || tensor.rank() > 5)
    throw ArgumentError(fmt::format(
        "a tensor descriptor takes 1 to 5 dimensions, and the tensor has {}", tensor.rank()));
  if (block.size() != static_cast<std::size_t>(tensor.rank()))
    throw ArgumentError(fmt::format(
        "a tensor descriptor needs one block size for each of the tensor's {} dimensions, not [{}]",
        tensor.rank(), fmt::join(block, ", ")));
  for (const std::int64_t size : block)
    if (size < 1 || !std::has_single_bit(static_cast<std::uint64_t>(size)))
      throw ArgumentError(
          fmt::format("the block sizes of a tensor descriptor are powers of two, not [{}]",
                      fmt::join(block, ", ")));
  if (tensor.stride(-1) != 1)
    throw ArgumentError(
        fmt::format("the last dimension of a tensor descriptor must be contiguous, but its stride "
                    "is {}; pass tensor.contiguous()",
                    tensor.stride(-1)));
}

}  // namespace

struct TensorDescriptor::Content {
  Tensor tensor;
  std::vector<std::int64_t> block_shape;
  Padding padding;
  std::vector<TritonArgument> items = {};
};

TensorDescriptor::TensorDescriptor(const Tensor& tensor, std::vector<std::int64_t> block_shape,
                                   Padding padding) {
  check(tensor, block_shape);
  const auto content = std::make_shared<Content>(Content{tensor, std::move(block_shape), padding});
  std::vector<TritonArgument>& items = content->items;
  items.emplace_back(content->tensor);
  for (int d = 0; d < tensor.rank(); ++d) items.emplace_back(tensor.size(d));
  for (int d = 0; d + 1 < tensor.rank(); ++d) items.emplace_back(tensor.stride(d));
  content_ = content;
}

const Tensor& TensorDescriptor::tensor() const { return content_->tensor; }
const std::vector<std::int64_t>& TensorDescriptor::block_shape() const {
  return content_->block_shape;
}
TensorDescriptor::Padding TensorDescriptor::padding() const { return content_->padding; }
const std::vector<TritonArgument>& TensorDescriptor::items() const { return content_->items; }

}  // namespace tilewright
