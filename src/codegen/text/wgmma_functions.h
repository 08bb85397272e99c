// SPDX-License-Identifier: Apache-2.0
// codegen/text/wgmma_functions.h — the functions of a kernel that start asynchronous products, one per shape in use.
//
// An asm statement names each of its registers, up to 128 sums, so that no template can write one: the compiler writes those that
// a kernel calls into a header of its source. Their emulated twins call a template (device_lib/emulate/cuda/wgmma.cuh).
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "tilewright/dtype.h"

namespace tilewright {

struct WgmmaFunction {
  int columns = 8;
  DType left = DType::Float16;  // Float32: TF32
  DType right = DType::Float16;
  bool has_words = false;  // the left operand is in registers, four words of a thread
  bool transposes_left = false;
  bool transposes_right = false;

  // "wgmma_n256_f16", "wgmma_n64_e4m3_e5m2", "wgmma_n64_bf16_words_right_transposed"
  std::string name() const;
  friend auto operator<=>(const WgmmaFunction&, const WgmmaFunction&) = default;
};

constexpr std::string_view wgmma_header = "tilewright/wgmma_functions.cuh";
// The text of that header.
std::string wgmma_functions(const std::set<WgmmaFunction>& functions);
// The same functions for a CPU, found by their names.
std::string emulated_wgmma_functions(std::string_view header);

}  // namespace tilewright
