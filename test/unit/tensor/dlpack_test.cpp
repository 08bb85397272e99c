// SPDX-License-Identifier: Apache-2.0
// tensor/dlpack_test.cpp — capsules of both forms, in and out: sharing, deleters, and what is
// refused.
#include "tilewright/dlpack.h"
#include "cpu_device.h"

#include <limits>

#include <gtest/gtest.h>

#include "expect_error.h"
#include "tensor/dlpack_abi.h"

namespace tilewright {
namespace {

int deleted = 0;

// A foreign library's tensor: six int32 values of shape [2, 3].
template <class Capsule>
struct Foreign {
  std::int32_t values[6] = {0, 1, 2, 3, 4, 5};
  std::int64_t shape[2] = {2, 3};
  std::int64_t strides[2] = {3, 1};
  Capsule capsule{};

  Foreign() {
    deleted = 0;
    capsule.dl_tensor = {values, {dlpack::cpu, 0}, 2, {dlpack::signed_integer, 32, 1},
                         shape,  strides,          0};
    capsule.deleter = [](Capsule*) { ++deleted; };
    if constexpr (requires { capsule.version; }) capsule.version = {1, 0};
  }
  DLTensor& tensor() { return capsule.dl_tensor; }
};

std::vector<int> values_of(const Tensor& tensor) { return tensor.to_vector<int>(); }

template <class Capsule>
class DlpackIn : public testing::Test {};
using Capsules = testing::Types<DLManagedTensor, DLManagedTensorVersioned>;
TYPED_TEST_SUITE(DlpackIn, Capsules);

TYPED_TEST(DlpackIn, SharesMemoryAndDeletesOnce) {
  Foreign<TypeParam> foreign;
  {
    Tensor view;
    {
      const Tensor t = from_dlpack(&foreign.capsule);
      EXPECT_EQ(t.data(), foreign.values);
      EXPECT_EQ(t.shape(), (Shape{2, 3}));
      EXPECT_EQ(t.dtype(), DType::Int32);
      EXPECT_EQ(t.device(), cpu);
      t[1].fill(9);
      view = t.t();
    }
    EXPECT_EQ(deleted, 0);
    EXPECT_EQ(view[0].to_vector<int>(), (std::vector<int>{0, 9}));
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(foreign.values[5], 9);
}

TYPED_TEST(DlpackIn, StridesOffsetsAndEmptyTensors) {
  Foreign<TypeParam> foreign;
  foreign.tensor().strides = nullptr;
  EXPECT_TRUE(from_dlpack(&foreign.capsule).is_contiguous());
  foreign.tensor().strides = foreign.strides;
  foreign.strides[0] = -3;
  foreign.tensor().byte_offset = 12;
  EXPECT_EQ(values_of(from_dlpack(&foreign.capsule)), (std::vector<int>{3, 4, 5, 0, 1, 2}));
  foreign.strides[0] = 0;
  EXPECT_EQ(values_of(from_dlpack(&foreign.capsule)), (std::vector<int>{3, 4, 5, 3, 4, 5}));
  foreign.tensor().device.device_type = dlpack::cuda_host;  // pinned memory is the host's
  EXPECT_EQ(from_dlpack(&foreign.capsule).device(), cpu);
  foreign.shape[0] = 0;
  foreign.tensor().data = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.capsule).shape(), (Shape{0, 3}));
  foreign.tensor().data = foreign.values;
  foreign.tensor().ndim = 0;
  foreign.tensor().shape = nullptr;
  EXPECT_EQ(values_of(from_dlpack(&foreign.capsule)), std::vector<int>{3});
  EXPECT_EQ(deleted, 6);
  foreign.capsule.deleter = nullptr;
  EXPECT_EQ(values_of(from_dlpack(&foreign.capsule)), std::vector<int>{3});
}

// Refuses what `change` did to a good capsule, and leaves it to the caller.
template <class Capsule, class Change>
void expect_refused(const Change& change, const std::string& message) {
  Foreign<Capsule> foreign;
  change(foreign);
  expect_error<FormatError>([&] { from_dlpack(&foreign.capsule); }, message);
  EXPECT_EQ(deleted, 0) << message;
}

TYPED_TEST(DlpackIn, RefusesAndLeavesTheCapsule) {
  using F = Foreign<TypeParam>;
  expect_refused<TypeParam>(
      [](F& f) { f.tensor().dtype.lanes = 4; },
      "the DLPack tensor has elements of code 0, 32 bits and 4 lanes, which no dtype here has");
  expect_refused<TypeParam>(
      [](F& f) {
        f.tensor().dtype = {2, 128, 1};
      },
      "the DLPack tensor has elements of code 2, 128 bits and 1 lanes, which no dtype here has");
  expect_refused<TypeParam>(
      [](F& f) {
        f.tensor().dtype = {5, 64, 1};
      },
      "the DLPack tensor has elements of code 5, 64 bits and 1 lanes, which no dtype here has");
  expect_refused<TypeParam>([](F& f) { f.tensor().device.device_type = 10; },
                            "the DLPack tensor is on a device of type 10: only cpu (1), cuda (2), "
                            "pinned (3) and managed (13) "
                            "memory can be taken");
  const int count = cuda_device_count();
  expect_refused<TypeParam>(
      [](F& f) {
        f.tensor().device = {dlpack::cuda, 99};
      },
      "the DLPack tensor is on cuda:99, but this process has " + std::to_string(count) +
          " CUDA devices");
  expect_refused<TypeParam>([](F& f) { f.tensor().ndim = -1; },
                            "the DLPack tensor has -1 dimensions and no valid shape");
  expect_refused<TypeParam>([](F& f) { f.tensor().shape = nullptr; },
                            "the DLPack tensor has 2 dimensions and no valid shape");
  expect_refused<TypeParam>([](F& f) { f.shape[1] = -3; },
                            "the DLPack tensor cannot be taken: shape [2, -3] has the negative "
                            "size -3: sizes are 0 or more");
  expect_refused<TypeParam>(
      [](F& f) { f.strides[0] = std::numeric_limits<std::int64_t>::max(); },
      "the DLPack tensor cannot be taken: strides [9223372036854775807, 1] with shape [2, 3] reach "
      "further than 64 bits can address");
  expect_refused<TypeParam>([](F& f) { f.tensor().data = nullptr; },
                            "the DLPack tensor cannot be taken: it has elements but no address");
  expect_refused<TypeParam>([](F& f) { f.tensor().byte_offset = 2; },
                            "the DLPack tensor cannot be taken: from_blob was given an address "
                            "that is not a multiple of 4, "
                            "the size of int32");
  expect_error<ArgumentError>([] { from_dlpack(static_cast<TypeParam*>(nullptr)); },
                              "from_dlpack was given a null capsule");
}

TEST(Dlpack, VersionAndFlagsAreChecked) {
  using F = Foreign<DLManagedTensorVersioned>;
  expect_refused<DLManagedTensorVersioned>(
      [](F& f) {
        f.capsule.version = {2, 3};
      },
      "the DLPack tensor has version 2.3; version 1.x is understood");
  expect_refused<DLManagedTensorVersioned>(
      [](F& f) { f.capsule.flags = dlpack::flag_read_only; },
      "the DLPack tensor is read-only, which tensors here cannot be: export a copy of it");
  F copied;
  copied.capsule.flags = 2;  // "this is a copy" changes nothing
  copied.capsule.version = {1, 9};
  EXPECT_EQ(from_dlpack(&copied.capsule).numel(), 6);
}

TEST(Dlpack, EveryDtypeGoesOutAndComesBack) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    const Tensor t = ones({3, 4}, {dtype, cpu}).slice(1, 3, 0, -1);
    DLManagedTensor* const plain = to_dlpack(t);
    EXPECT_EQ(plain->dl_tensor.dtype.bits, 8 * size_of(dtype));
    const Tensor back = from_dlpack(plain);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.data(), t.data());
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_EQ(back.strides(), t.strides());
    EXPECT_EQ(max_abs_error(back, t), 0);
    const Tensor again = from_dlpack(to_dlpack_versioned(t));
    EXPECT_EQ(again.data(), t.data());
    EXPECT_EQ(again.dtype(), dtype);
  }
}

TEST(Dlpack, AnExportKeepsTheMemory) {
  float values[2] = {1, 2};
  int released = 0;
  DLManagedTensor* plain = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;
  {
    const Tensor t = from_blob(values, {2}, cpu, [&] { ++released; });
    plain = to_dlpack(t);
    versioned = to_dlpack_versioned(t);
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(static_cast<float*>(plain->dl_tensor.data)[1], 2);
  EXPECT_EQ(versioned->version.major, 1u);
  EXPECT_EQ(versioned->flags, 0u);
  EXPECT_EQ(versioned->dl_tensor.device.device_type, 1);
  plain->deleter(plain);
  EXPECT_EQ(released, 0);
  versioned->deleter(versioned);
  EXPECT_EQ(released, 1);
}

TEST(Dlpack, LayoutOfTheStructures) {
  EXPECT_EQ(sizeof(DLDataType), 4u);
  EXPECT_EQ(sizeof(DLTensor), 48u);
  EXPECT_EQ(offsetof(DLTensor, shape), 24u);
  EXPECT_EQ(sizeof(DLManagedTensor), 64u);
  EXPECT_EQ(offsetof(DLManagedTensorVersioned, dl_tensor), 32u);
  EXPECT_EQ(sizeof(DLManagedTensorVersioned), 80u);
}

}  // namespace
}  // namespace tilewright
