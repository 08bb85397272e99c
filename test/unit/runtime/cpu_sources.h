// SPDX-License-Identifier: Apache-2.0
// runtime/cpu_sources.h — small CPU kernels written by hand, for tests of loading and launching.
#pragma once

#include <string>
#include <vector>

#include "base/cpu_entry.h"
#include "tilewright/module.h"

namespace tilewright {

// A kernel `name` whose body sees `launch`, `parameters`, `first` and `last`.
inline std::string cpu_kernel_text(const std::string& name, const std::string& body) {
  return "extern \"C\" void " + name +
         "(const TwCpuLaunch* launch, void* const* parameters, unsigned long first, unsigned long "
         "last) {\n"
         "  (void)launch; (void)parameters; (void)first; (void)last;\n" +
         body + "\n}\n";
}

inline KernelSource cpu_source(const std::string& name, const std::string& kernels) {
  KernelSource source;
  source.language = Language::Cpp;
  source.name = name;
  source.text = cpu_entry_text + kernels;
  return source;
}

inline Parameter scalar(const std::string& name, DType dtype) {
  return {.name = name, .kind = Parameter::Kind::Scalar, .dtype = dtype};
}

inline Parameter pointer(const std::string& name, DType dtype) {
  return {.name = name, .kind = Parameter::Kind::Pointer, .dtype = dtype};
}

// c[i] = a[i] + b[i] for i < n; a program does 256 elements.
inline KernelSource add_source() {
  KernelSource source = cpu_source("add.cpp", cpu_kernel_text("add", R"(
  const float* a = *(const float**)parameters[0];
  const float* b = *(const float**)parameters[1];
  float* c = *(float**)parameters[2];
  const long n = *(int*)parameters[3];
  for (unsigned long program = first; program < last; ++program)
    for (long i = program * 256; i < n && i < (long)program * 256 + 256; ++i) c[i] = a[i] + b[i];)"));
  source.kernels = {
      {"add", {pointer("a", f32), pointer("b", f32), pointer("c", f32), scalar("n", i32)}, {}, {}}};
  return source;
}

}  // namespace tilewright
