// SPDX-License-Identifier: Apache-2.0
// base/check.h — TW_CHECK and TW_UNREACHABLE: a broken promise of our own code becomes an
// InternalError.
#pragma once

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {

[[noreturn]] void throw_internal_error(const char* file, int line, const char* condition,
                                       const std::string& message);

}  // namespace tilewright

#define TW_CHECK(condition, ...)                                         \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::tilewright::throw_internal_error(__FILE__, __LINE__, #condition, \
                                         fmt::format(__VA_ARGS__));      \
  } while (false)

#define TW_UNREACHABLE(...) \
  ::tilewright::throw_internal_error(__FILE__, __LINE__, "unreachable", fmt::format(__VA_ARGS__))
