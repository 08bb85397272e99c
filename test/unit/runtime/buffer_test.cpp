// SPDX-License-Identifier: Apache-2.0
// runtime/buffer_test.cpp — memory of the CPU: reuse, alignment, wrapping, copies and fills.
#include "tilewright/buffer.h"

#include <cstring>

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Buffer, IsAlignedAndWritableForEverySize) {
  for (const std::size_t bytes : {1UL, 63UL, 64UL, 65UL, 1024UL, 1025UL, 100000UL, (2UL << 20) - 1,
                                  2UL << 20, (2UL << 20) + 1, 37UL << 20}) {
    const Buffer buffer = Buffer::allocate(bytes, Device::cpu());
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U) << bytes;
    std::memset(buffer.data(), 0x5a, bytes);
  }
}

}  // namespace
}  // namespace tilewright
