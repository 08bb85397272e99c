// SPDX-License-Identifier: Apache-2.0
// exec/parameters_test.cpp — trees of tensors by name, in files and out of them.
#include "tilewright/parameters.h"

#include <unistd.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/error.h"
#include "tilewright/nn.h"
#include "tilewright/safetensors.h"

namespace tilewright {
namespace {

class Parameters : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path()); }
  static std::string path() {
    return (std::filesystem::path(testing::TempDir()) /
            ("tw_parameters_" + std::to_string(getpid())))
        .string();
  }
  template <class Call>
  static void expect_refused(const Call& call, const std::string& message) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown; expected: " << message;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
  const Device cpu = Device::cpu();
};

struct Pair {
  nn::Linear linear;
  std::vector<Tensor> list;
  std::pair<Tensor, Tensor> both;
  TW_TREE(linear, list, both)
};

TEST_F(Parameters, TreesByName) {
  Pair tree{nn::Linear(2, 3, RandomOptions(cpu).with_seed(1)),
            {ones({1}, cpu), ones({2}, cpu)},
            {zeros({1}, {i64, cpu}), ones({}, cpu)}};
  std::vector<std::string> names;
  for (const auto& [name, tensor] : named_tensors_of(tree)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"linear.weight", "linear.bias", "list.0", "list.1",
                                             "both.0", "both.1"}));
  save_parameters(path(), tree);
  Pair other{nn::Linear(2, 3, RandomOptions(cpu).with_seed(2)),
             {zeros({1}, cpu), zeros({2}, cpu)},
             {zeros({1}, {i64, cpu}), zeros({}, cpu)}};
  load_parameters(path(), other);
  EXPECT_EQ(max_abs_error(other.linear.weight, tree.linear.weight), 0);
  EXPECT_EQ(other.both.second.item<float>(), 1);
}

TEST_F(Parameters, TreesThatDoNotFit) {
  nn::Linear small(2, 3, RandomOptions(cpu).with_seed(1)),
      large(2, 4, RandomOptions(cpu).with_seed(1));
  save_parameters(path(), small);
  const Tensor before = large.weight;
  expect_refused([&] { load_parameters(path(), large); },
                 "'" + path() +
                     "' has \"weight\" as float32[3, 2], but float32[4, 2] "
                     "is wanted");
  EXPECT_EQ(large.weight.data(), before.data());
  nn::RmsNorm norm(3, cpu);
  save_safetensors(path(), {{"weight", ones({3}, cpu)}, {"x", ones({1}, cpu)}});
  expect_refused([&] { load_parameters(path(), norm); },
                 "'" + path() +
                     "' has a tensor \"x\" that nothing is loaded from: load it with "
                     "load_safetensors and take what is needed");
  save_safetensors(path(), {{"w", ones({3}, cpu)}});
  expect_refused([&] { load_parameters(path(), norm); },
                 "'" + path() + "' has no tensor \"weight\", which is to be loaded from it");
}

}  // namespace
}  // namespace tilewright
