// SPDX-License-Identifier: Apache-2.0
// frontend/triton/run_kernel.h — tests only: lowers a small kernel and runs it in the interpreter,
// or gives the error it ends in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "lower_text.h"
#include "tilewright/error.h"

namespace tilewright::triton {

inline const std::string header = "import triton\nimport triton.language as tl\n";

// A kernel k(out, n, m, C=3) of these lines. `before` stands between the imports and the kernel.
inline std::string kernel_text(const std::string& body, const std::string& before = {}) {
  std::string text = header + before + "@triton.jit\ndef k(out, n, m, C: tl.constexpr = 3):\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}

// The first `count` int32 that the kernel stores through `out`.
inline std::vector<std::int32_t> run_kernel(const std::string& text, std::int64_t n = 5,
                                            std::int64_t m = 7, std::size_t count = 1) {
  const LoweredKernel made = lower_text(text, "k out=*i32 n=i32 m=i32", "kernel.py",
                                        {.facts = python::nvidia_facts(9, 0)});
  std::vector<std::int32_t> out(count, -1);
  const ir::InterpretBuffer buffers[] = {
      {.name = "out", .data = out.data(), .bytes = count * sizeof(std::int32_t)}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, n, m};
  ir::interpret(made.kernel, buffers, arguments, {});
  return out;
}

inline std::int32_t run_body(const std::string& body, std::int64_t n = 5, std::int64_t m = 7) {
  return run_kernel(kernel_text(body), n, m).front();
}

inline std::string error_of(const std::string& text,
                            const std::string& request = "k out=*i32 n=i32 m=i32") {
  try {
    lower_text(text, request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string body_error(const std::string& body, const std::string& before = {}) {
  return error_of(kernel_text(body, before));
}

}  // namespace tilewright::triton
