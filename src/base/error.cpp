// SPDX-License-Identifier: Apache-2.0
// base/error.cpp — the sentences that error types build themselves.
#include "tilewright/error.h"

#include "base/check.h"
#include "base/units.h"

namespace tilewright {

CompileError::CompileError(const std::string& sentence, std::string log)
    : UserError(log.empty() ? sentence : sentence + "\n" + log), log_(std::move(log)) {}

OutOfMemory::OutOfMemory(const std::string& device, std::size_t asked, std::size_t free)
    : EnvironmentError(
          fmt::format("out of memory on {}: {} asked, {} free; free tensors or use smaller ones",
                      device, format_bytes(asked), format_bytes(free))),
      asked_(asked),
      free_(free) {}

void throw_internal_error(const char* file, int line, const char* condition,
                          const std::string& message) {
  throw InternalError(
      fmt::format("internal error at {}:{} ({}): {}; this is a bug in tilewright, please report it",
                  file, line, condition, message));
}

}  // namespace tilewright
