// SPDX-License-Identifier: Apache-2.0
// codegen/print/read_back.cpp — stage Final as text and back, held to its rules.
#include "codegen/print/read_back.h"

#include "base/check.h"
#include "base/settings.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright {

void check_read_back(const ir::Kernel& kernel, const std::string& printed,
                     const std::function<std::string(const ir::Kernel&)>& print) {
  if (!settings().check_text) return;
  const std::string text = ir::print(kernel);
  const ir::Kernel read = ir::parse(text, kernel.name + ".tir");
  ir::verify(read);
  TW_CHECK(ir::print(read) == text,
           "the text of kernel '{}' at stage Final changes when it is read back", kernel.name);
  TW_CHECK(print(read) == printed,
           "kernel '{}' is written otherwise from the text of its Final stage", kernel.name);
}

}  // namespace tilewright
