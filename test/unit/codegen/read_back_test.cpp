// SPDX-License-Identifier: Apache-2.0
// codegen/read_back_test.cpp — TILEWRIGHT_CHECK_TEXT finds what a printer knows and no text says.
#include "codegen/print/read_back.h"

#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "ir/parse.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(kernel @k(%x: *f32) final {
  %one = constant {value = 1.0} : f32
  store %x, %one
})";

class ReadBack : public testing::Test {
 protected:
  void SetUp() override {
    Settings changed = settings();
    changed.check_text = true;
    checked_.emplace(changed);
  }

  const ir::Kernel kernel_ = ir::parse(source);
  std::optional<SettingsOverride> checked_;
};

TEST_F(ReadBack, TakesWhatTheTextSays) {
  const auto print = [](const ir::Kernel& kernel) { return kernel.name; };
  EXPECT_NO_THROW(check_read_back(kernel_, "k", print));
}

TEST_F(ReadBack, FindsWhatNoTextSays) {
  const auto print = [&](const ir::Kernel& kernel) {
    return std::string(&kernel == &kernel_ ? "the kernel" : "its text");
  };
  EXPECT_THAT([&] { check_read_back(kernel_, print(kernel_), print); },
              testing::ThrowsMessage<InternalError>(
                  testing::HasSubstr("kernel 'k' is written otherwise from the text")));
}

TEST_F(ReadBack, AsksNothingWhereItIsOff) {
  checked_.reset();
  Settings changed = settings();
  changed.check_text = false;
  checked_.emplace(changed);
  const auto print = [](const ir::Kernel&) -> std::string { throw std::logic_error("printed"); };
  EXPECT_NO_THROW(check_read_back(kernel_, "k", print));
}

}  // namespace
}  // namespace tilewright
