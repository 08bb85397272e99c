// SPDX-License-Identifier: Apache-2.0
// runtime/compile.cpp — chooses the compiler of a source's language.
#include "runtime/compile.h"

namespace tilewright {

Binary compile(const KernelSource& source, const Target& target, CompileReport* report) {
  if (report) *report = {};
  return source.language == Language::Cuda ? compile_with_nvrtc(source, target)
                                           : compile_with_host_compiler(source, target);
}

}  // namespace tilewright
