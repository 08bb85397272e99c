// SPDX-License-Identifier: Apache-2.0
// runtime/expect_error.h — checks the type and the exact words of an error.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {

template <class ErrorType = ArgumentError, class Callable>
void expect_error(const std::string& message, const Callable& callable) {
  try {
    callable();
    ADD_FAILURE() << "no error; expected: " << message;
  } catch (const ErrorType& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

}  // namespace tilewright
