// SPDX-License-Identifier: Apache-2.0
// tensor/expect_error.h — checks that a call throws an error of one type with exactly one message.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {

template <class Expected, class Call>
void expect_error(const Call& call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; expected: " << message;
  } catch (const Expected& error) {
    EXPECT_EQ(error.what(), message);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another type: " << error.what();
  }
}

}  // namespace tilewright
