// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/cudnn_test.cpp — how convolutions are described to cuDNN; on the fake driver and a
// fake cuDNN.
#include "runtime/cuda/cudnn.h"

#include <dlfcn.h>

#include <vector>

#include "fake_cudnn.h"
#include "fake_test.h"

namespace tilewright::cuda {
namespace {

class Cudnn : public FakeTest {
 protected:
  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_NE(cudnn(), nullptr);
    void* const handle = dlopen(cudnn()->path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(handle, nullptr);
    dnn_ = reinterpret_cast<FakeCudnn* (*)()>(dlsym(handle, "fake_cudnn"))();
    stream_ = Stream::wrap(stream(), Device::cuda(fake_device));
  }
  FakeCudnn* dnn_ = nullptr;
  Stream stream_ = Stream::default_of(Device::cpu());
};

// Windows of 2 x 1 over one plane of 3 x 2, and groups that see their own channel.
TEST_F(Cudnn, EveryNumberIsDescribed) {
  EXPECT_EQ(cudnn()->version, "9.10.2");
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60},
                           weight = {1, 100, 2, 200};
  std::vector<float> out(8, -1);
  LibraryConvolution c{.batch = 1,
                       .in = 2,
                       .height = 3,
                       .width = 2,
                       .out_channels = 2,
                       .window_h = 2,
                       .window_w = 1,
                       .out_height = 2,
                       .out_width = 2,
                       .stride_h = 2,
                       .pad_h = 1,
                       .groups = 2,
                       .x = x.data(),
                       .weight = weight.data(),
                       .out = out.data()};
  ASSERT_TRUE(cudnn_convolve(c, stream_));
  EXPECT_EQ(out,
            (std::vector<float>{100, 200, 3 + 500, 4 + 600, 2000, 4000, 60 + 10000, 80 + 12000}));
  EXPECT_TRUE(dnn_->is_right);
  EXPECT_EQ(dnn_->math, CUDNN_FMA_MATH) << "float32 is IEEE";
  EXPECT_EQ(dnn_->stream, static_cast<CUstream>(stream_.native()));
  c.allows_tf32 = true;
  ASSERT_TRUE(cudnn_convolve(c, stream_));
  EXPECT_EQ(dnn_->math, CUDNN_TENSOR_OP_MATH);
  c.dtype = DType::Int8;
  EXPECT_FALSE(cudnn_convolve(c, stream_));
}

}  // namespace
}  // namespace tilewright::cuda
