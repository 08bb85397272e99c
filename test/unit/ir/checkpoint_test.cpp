// SPDX-License-Identifier: Apache-2.0
// ir/checkpoint_test.cpp — a program that is run again from any of its ops does what it did.
#include "ir/interpret/checkpoint.h"

#include <optional>

#include <gtest/gtest.h>

#include "ir/interpret/program.h"
#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

// Loops in loops, carried values, a while with a condition of its own, a branch with a result.
constexpr const char* nested = R"(kernel @k(%x: *i32, %n: i32) source {
    %zero = constant {value = 0} : i32
    %one = constant {value = 1} : i32
    %three = constant {value = 3} : i32
    %total = for %zero, %n, %one, %zero : i32 (%i: i32, %sum: i32) {
      %limit = add %sum, %three : i32
      %end = while %sum : i32 (%a: i32) {
        %more = compare %a, %limit {is = "lt"} : b1
        condition %more, %a
      } then (%b: i32) {
        %p = offset %x, %i : *i32
        %old = load %p : i32
        %next = add %old, %one : i32
        store %p, %next
        %c = add %b, %one : i32
        yield %c
      }
      %odd = rem %i, %three : i32
      %is = compare %odd, %one {is = "eq"} : b1
      %kept = if %is : i32 {
        %inner = for %zero, %three, %one, %end : i32 (%j: i32, %t: i32) {
          %u = add %t, %j : i32
          yield %u
        }
        yield %inner
      } then {
        yield %end
      }
      yield %kept
    }
    store %x, %total
  })";

// Keeps a checkpoint before the op of this number, and counts.
class KeepsOne final : public Watch {
 public:
  explicit KeepsOne(int wanted) : wanted_(wanted) {}
  void before(const Program& program, const Op& op) override {
    if (count_++ != wanted_) return;
    kept_ = program.checkpoint_before(op);
    memory_.assign(data_, data_ + 8);
  }
  void after(const Program&, const Op&) override { ++ends_; }

  int wanted_;
  int count_ = 0;
  int ends_ = 0;
  const std::int32_t* data_ = nullptr;
  std::optional<Checkpoint> kept_;
  std::vector<std::int32_t> memory_;
};

TEST(Checkpoint, EveryOpCanBeResumed) {
  Kernel kernel = parse(nested);
  verify(kernel);
  std::vector<std::int32_t> x(8), result;
  const InterpretBuffer buffers[] = {{.name = "x", .data = x.data(), .bytes = 32}};
  const InterpretArgument arguments[] = {InterpretPointer{0}, std::int64_t{5}};
  int ops = 1;
  for (int wanted = 0; wanted < ops; ++wanted) {
    std::fill(x.begin(), x.end(), 0);
    KeepsOne keeps(wanted);
    keeps.data_ = x.data();
    interpret(kernel, buffers, arguments, {.watch = &keeps});
    if (wanted == 0) result = x;
    ASSERT_EQ(x, result);
    ops = keeps.count_;
    ASSERT_TRUE(keeps.kept_);
    EXPECT_GT(keeps.kept_->bytes(), 0u);

    x = keeps.memory_;
    KeepsOne rest(-1);
    interpret(kernel, buffers, arguments, {.resume = &*keeps.kept_, .watch = &rest});
    EXPECT_EQ(x, result) << "before op " << wanted;
    EXPECT_EQ(rest.count_, ops - wanted);
    EXPECT_GE(rest.ends_, rest.count_);  // those under way end, too
  }
  EXPECT_GT(ops, 100);
}

}  // namespace
}  // namespace tilewright::ir
