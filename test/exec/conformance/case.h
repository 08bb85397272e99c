// SPDX-License-Identifier: Apache-2.0
// conformance/case.h — what a conformance test says of a kernel: its source, and launches with the
// arguments to fill in.
//
//   Family{"add", R"(@triton.jit ...)", {{.what = "f32 n=7", .kernel = "add", .arguments = {
//       input(f32, 7), input(f32, 7), output(f32, 7), 7, constant_of("BLOCK", 16)}}}}
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright::conformance {

// Values of a buffer before the launch; the same for every run.
enum class Fill : std::uint8_t {
  Output,    // a pattern that no kernel computes: what is not written must still hold it
  Zero,      //
  Normal,    // floats in [-2, 2], any bits for integers
  Positive,  // floats in [1/16, 2], integers in [1, 99]
  Unit,      // floats in [-1, 1]
  Small,     // integers (also as floats) in [-9, 9]; unsigned: [0, 18]
  Index,     // 0, 1, 2, ...
  Edges,     // every limit of the type, NaN and infinities, among numbers of all magnitudes
};

struct BufferSpec {
  DType dtype = DType::Float32;
  std::int64_t count = 0;
  Fill fill = Fill::Output;
  std::int64_t start = 0;  // the element that the kernel's pointer points at
  unsigned seed = 0;       // other than 0: not that of the argument's position
};
// The buffer of an earlier argument once more.
struct SameBuffer {
  std::size_t argument = 0;
  std::int64_t start = 0;
};
struct Constant {
  std::string name;
  std::variant<std::int64_t, double, bool, std::string, DType> value;
};
using CaseArgument = std::variant<std::int64_t, double, BufferSpec, SameBuffer, Constant>;

// One launch and how its results are judged. Integers must be equal; floats may be off by twice the
// error of the plain interpreter plus `ulps` of the element or, where that is larger, of
// `magnitude`; all measured against the float64 interpreter.
struct Case {
  std::string what;
  std::string kernel;
  std::vector<CaseArgument> arguments;
  Dim3 grid = {};
  int num_warps = 4;
  double ulps = 2;
  double magnitude = 0;    // of what cancels on the way to the result
  bool exact = false;      // floats are only moved: bitwise
  bool emulated = true;    // false: too slow thread by thread
  bool may_spill = false;  // on CUDA, by its size
};

// Kernels of one text. The imports of Triton are put before it.
struct Family {
  std::string name;
  std::string source;
  std::vector<Case> cases;
};

inline CaseArgument input(DType dtype, std::int64_t count, Fill fill = Fill::Normal,
                          std::int64_t start = 0) {
  return BufferSpec{dtype, count, fill, start};
}
inline CaseArgument output(DType dtype, std::int64_t count, std::int64_t start = 0) {
  return BufferSpec{dtype, count, Fill::Output, start};
}
template <class T>
CaseArgument constant_of(std::string name, T value) {
  if constexpr (std::is_same_v<T, int>)
    return Constant{std::move(name), static_cast<std::int64_t>(value)};
  else if constexpr (std::is_same_v<T, const char*>)
    return Constant{std::move(name), std::string(value)};
  else return Constant{std::move(name), value};
}
inline CaseArgument whole(std::int64_t value) { return value; }

// The bytes of a buffer as the launch finds them.
std::vector<unsigned char> fill_bytes(const BufferSpec& spec, unsigned seed);

}  // namespace tilewright::conformance
