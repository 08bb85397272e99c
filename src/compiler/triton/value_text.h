// SPDX-License-Identifier: Apache-2.0
// compiler/triton/value_text.h — values of kernel arguments as a command line gives them.
//
//   1024  -1.5  true  none                  numbers, flags, no value
//   x.npy  bf16:x.npy                       a tensor from a file, converted to a dtype
//   randn:f32[1024,781]  rand:f16[8]        generated tensors, by the seed
//   zeros:i32[8]  ones:bf16[4,4]  empty:u8[64]  arange:i64[100]  full:f32[8]=0.5
//   randint:i64[100]=-5..5                  whole numbers from -5 to 4; 0 to 99 without a range
//   randn:f32[64,781]@strides(1024,1)       a tensor with these strides, zeros between its rows
//   'ieee'  fp32                            text and types, for tl.constexpr
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "frontend/triton/value.h"
#include "tilewright/tensor.h"

namespace tilewright {

using ArgumentValue = std::variant<triton::Value, Tensor>;

struct ValueTextOptions {
  Device device;
  std::uint64_t seed = 0;
};

// `name` is the argument's, for messages. Throws ArgumentError for what is no value, and what
// load_npy throws for a file.
ArgumentValue read_value(std::string_view name, std::string_view text,
                         const ValueTextOptions& options);

// The parts of "randn:f32[2,3]".
struct TensorText {
  std::string maker;
  DType dtype = DType::Float32;
  Shape shape;
  double fill = 0;          // of full
  std::int64_t low = 0;     // of randint
  std::int64_t high = 100;  // the first that does not occur
};
TensorText parse_tensor_text(std::string_view name, std::string_view text);

// "x.npy@strides(8,1)" without its last part, and that. Throws ArgumentError when it is none.
struct StridedText {
  std::string text;
  std::optional<Shape> strides;
};
StridedText split_strides(std::string_view name, std::string_view text);

// "float32[1024, 781]"
std::string tensor_type_text(const Tensor& tensor);

}  // namespace tilewright
