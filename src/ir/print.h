// SPDX-License-Identifier: Apache-2.0
// ir/print.h — a kernel as text; parse(print(kernel)) is the same kernel.
//
// Buffers come first in the kernel: "buffer @tiles : f16[64, 32] {slots = 3}".
//
//   kernel @scale(%x: *f32 {divisible = 16}, %n: i32) source "scale.py" {
//     %pid = program_id {axis = 0} : i32 @4:11
//     %total = for %from, %n, %step, %zero : f32 (%i: i32, %sum: f32) {
//       %next = add %sum, %one : f32
//       yield %next
//     }
//   }
#pragma once

#include <string>
#include <string_view>

#include "ir/kernel.h"

namespace tilewright::ir {

// As a kernel's text says it: "source", "tile", "laid", "final".
std::string_view name_of(Stage stage);

struct PrintOptions {
  bool with_locations = true;  // "@line:column" after each op
};

std::string print(const Kernel& kernel, PrintOptions options = {});

// How `value` is written in the text of `kernel`: its source name, made unique, or a number.
// (Used by emitters and messages; the whole text is named at once, so this costs a walk.)
class ValueNames {
 public:
  explicit ValueNames(const Kernel& kernel);
  const std::string& operator[](Value value) const { return names_[value.id]; }

 private:
  std::vector<std::string> names_;
};

}  // namespace tilewright::ir
