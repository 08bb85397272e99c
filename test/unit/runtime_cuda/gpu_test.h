// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/gpu_test.h — a test that needs a GPU and NVRTC; skipped elsewhere.
#pragma once

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_kernels.h"
#include "tilewright/buffer.h"
#include "tilewright/device.h"
#include "tilewright/module.h"

namespace tilewright {

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override;

  static Device device() { return Device::cuda(0); }
  // Of the kernels in gpu_kernels.h, compiled once for the process.
  static Function function(const char* name);

  template <class T>
  static Buffer device_buffer(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    const Buffer buffer = Buffer::allocate(bytes, device());
    const Buffer host = Buffer::wrap(const_cast<T*>(values.data()), bytes, Device::cpu());
    copy_async({buffer}, {host}, bytes, Stream::default_of(device()));
    Stream::default_of(device()).synchronize();
    return buffer;
  }

  // Waits for the whole device first.
  template <class T>
  static std::vector<T> download(const Buffer& buffer) {
    device().synchronize();
    std::vector<T> values(buffer.size() / sizeof(T));
    const Buffer host = Buffer::wrap(values.data(), buffer.size(), Device::cpu());
    copy_async({host}, {buffer}, buffer.size(), Stream::default_of(device()));
    Stream::default_of(device()).synchronize();
    return values;
  }
};

}  // namespace tilewright
