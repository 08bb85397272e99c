// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_test.cpp — points the process at the fake driver before anything opens the real
// one.
#include "fake_test.h"

#include <dlfcn.h>

#include "base/settings.h"
#include "runtime/cuda/context.h"

namespace tilewright::cuda {
namespace {

Settings fake_settings() {
  Settings s = settings();
  s.cuda_home = TW_FAKE_CUDA;
  return s;
}

const SettingsOverride& use_fake() {
  static const SettingsOverride override_settings(fake_settings());
  return override_settings;
}

}  // namespace

void FakeTest::SetUp() {
  const std::string library = TW_FAKE_CUDA "/lib/libcuda.so.1";
  if (!std::filesystem::exists(library))
    GTEST_SKIP() << "the fake driver is only in the build folder";
  use_fake();
  std::string why;
  backend_ = cuda_backend(&why);
  ASSERT_NE(backend_, nullptr) << why;
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr) << "another driver was opened";
  fake_ = reinterpret_cast<FakeDriver* (*)()>(dlsym(handle, "fake_driver"))();
  fake_->reset();
  for (int device : {0, 1}) backend_->release_cached_memory(device);
  fake_->reset();
}

void FakeTest::TearDown() {
  if (!fake_) return;
  fake_->reset();
  for (int device : {0, 1}) {
    backend_->release_cached_memory(device);
    EXPECT_EQ(fake_->allocated_bytes(device), 0u) << "memory was lost";
  }
}

CUstream FakeTest::blocking_stream(int device) {
  return fake().create_stream(primary_context(device), true);
}

}  // namespace tilewright::cuda
