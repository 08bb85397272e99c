// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_test.h — a test of the backend on the fake driver.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

#include "fake_driver.h"
#include "runtime/backend.h"

namespace tilewright::cuda {

constexpr int fake_device = 0;

class FakeTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  Backend& backend() { return *backend_; }
  FakeDriver& fake() { return *fake_; }

  void* allocate(std::size_t bytes, void* stream, MemoryKind kind = MemoryKind::Device,
                 int device = fake_device) {
    return backend().allocate(bytes, device, kind, stream);
  }
  void free(void* data, void* stream, std::vector<void*> others = {},
            MemoryKind kind = MemoryKind::Device, int device = fake_device) {
    backend().free(data, 0, device, kind, stream, others);
  }
  CUstream stream(int device = fake_device) {
    return static_cast<CUstream>(backend().create_stream(device));
  }
  // A stream as a caller makes it, which the legacy default stream waits for.
  CUstream blocking_stream(int device = fake_device);

 private:
  Backend* backend_ = nullptr;
  FakeDriver* fake_ = nullptr;
};

}  // namespace tilewright::cuda
