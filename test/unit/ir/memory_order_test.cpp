// SPDX-License-Identifier: Apache-2.0
// ir/memory_order_test.cpp — origins of pointers, and which accesses meet.
#include "ir/analysis/memory_order.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

class Analysed {
 public:
  explicit Analysed(const std::string& text) : kernel_(parse(text)), order_(kernel_) {
    verify(kernel_);
    walk(kernel_.body, [&](const Op& op) {
      if (is_access(kernel_, op)) accesses_.push_back(&op);
      if (op.kind == OpKind::For) loop_ = &op;
    });
  }

  bool must_order(std::size_t a, std::size_t b) const {
    return order_.must_order(*accesses_[a], *accesses_[b]);
  }
  bool is_same_place(std::size_t a, std::size_t b) const {
    return order_.is_same_place(pointer(a), pointer(b));
  }
  std::string argument_of(std::size_t access) const {
    const Value argument = order_.argument_of(pointer(access));
    return argument ? kernel_.name_of(argument) : "";
  }
  bool is_apart_in_rounds(std::size_t a) const {
    return order_.is_apart_in_rounds(*loop_, pointer(a), pointer(a));
  }
  bool is_apart(std::size_t a, std::size_t b) const {
    return order_.is_apart(pointer(a), pointer(b));
  }
  bool is_apart_in_rounds(std::size_t a, std::size_t b) const {
    return order_.is_apart_in_rounds(*loop_, pointer(a), pointer(b));
  }
  bool are_apart_in_rounds(std::size_t a, std::size_t b) const {
    return order_.is_apart_in_rounds(*loop_, *accesses_[a], *accesses_[b]);
  }
  bool is_same_in_rounds(std::size_t a) const {
    return order_.is_same_in_rounds(*loop_, pointer(a));
  }

 private:
  Value pointer(std::size_t access) const { return accesses_[access]->operands[0]; }

  Kernel kernel_;
  MemoryOrder order_;
  std::vector<const Op*> accesses_;
  const Op* loop_ = nullptr;
};

TEST(MemoryOrder, ArgumentsAreApartUnlessTheirMemoryIsTheSame) {
  const auto text = [](const char* facts) {
    return std::string("kernel @k(%x: *i32") + facts + ", %y: *i32" + facts + R"() tile {
      %one = constant {value = 1} : i64
      %p = affine %x, %one : *i32[16]
      %q = affine %y, %one : *i32[16]
      %a = load %p : i32[16]
      store %q, %a
    })";
  };
  EXPECT_FALSE(Analysed(text("")).must_order(0, 1));
  EXPECT_TRUE(Analysed(text(" {memory = 0}")).must_order(0, 1));
  EXPECT_FALSE(Analysed(text(" {memory = 0}")).is_same_place(0, 1));
}

TEST(MemoryOrder, SelectedCarriedAndCastPointersHaveAllTheirOrigins) {
  const Analysed selected(R"(kernel @k(%x: *i32, %y: *i32, %z: *i32, %c: b1) source {
    %p = select %c, %x, %y : *i32
    %a = load %p : i32
    store %x, %a
    store %y, %a
    store %z, %a
  })");
  EXPECT_EQ(selected.argument_of(0), "");
  EXPECT_EQ(selected.argument_of(1), "x");
  EXPECT_TRUE(selected.must_order(0, 1));
  EXPECT_TRUE(selected.must_order(0, 2));
  EXPECT_FALSE(selected.must_order(0, 3));

  // y reaches p in the second round, through q.
  const Analysed carried(R"(kernel @k(%x: *i32, %y: *i32, %z: *i32, %n: i32) source {
    %zero = constant {value = 0} : i32
    %one = constant {value = 1} : i32
    %a0, %b0, %c0 = for %zero, %n, %one, %x, %x, %y : *i32, *i32, *i32 (%i: i32, %p: *i32, %q: *i32, %r: *i32) {
      %a = load %p : i32
      yield %q, %r, %r
    }
    store %y, %n
    store %z, %n
  })");
  EXPECT_TRUE(carried.must_order(0, 1));
  EXPECT_FALSE(carried.must_order(0, 2));

  const Analysed cast(R"(kernel @k(%x: *i32, %n: i64) source {
    %p = cast %n : *i32
    %a = load %p : i32
    store %x, %a
  })");
  EXPECT_TRUE(cast.must_order(0, 1));
}

TEST(MemoryOrder, APlaceHasNoAddressTwice) {
  const auto text = [](const char* row) {
    return std::string(
               "kernel @k(%x: *i32, %n: i64) tile {\n  %one = constant {value = 1} : i64\n") +
           "  %row = " + row + R"(
      %p = affine %x, %row, %one : *i32[4, 8]
      %a = load %p : i32[4, 8]
      store %p, %a
    })";
  };
  EXPECT_TRUE(Analysed(text("constant {value = 8} : i64")).is_same_place(0, 1));
  EXPECT_FALSE(Analysed(text("constant {value = 7} : i64")).is_same_place(0, 1));
  EXPECT_FALSE(Analysed(text("constant {value = 0} : i64")).is_same_place(0, 1));
  EXPECT_TRUE(Analysed(text("add %n, %n : i64")).is_same_place(0, 1));  // known at launch only
}

TEST(MemoryOrder, RoundsOfALoop) {
  const auto text = [](const char* step, const char* pointer) {
    return std::string(
               "kernel @k(%x: *i32, %n: i32) tile {\n  %one = constant {value = 1} : i64\n") +
           "  %zero = constant {value = 0} : i32\n  %by = constant {value = " + step +
           "} : i32\n  for %zero, %n, %by (%i: i32) {\n    %at = offset %x, " + pointer + R"( : *i32
        %p = affine %at, %one : *i32[16]
        %a = load %p : i32[16]
        store %p, %a
        yield
      }
    })";
  };
  EXPECT_TRUE(Analysed(text("16", "%i")).is_apart_in_rounds(0));
  EXPECT_FALSE(Analysed(text("15", "%i")).is_apart_in_rounds(0));
  EXPECT_FALSE(Analysed(text("16", "%i")).is_same_in_rounds(0));
  EXPECT_FALSE(Analysed(text("16", "%zero")).is_apart_in_rounds(0));
}

// One row of %d elements per round, of which each program has a part.
TEST(MemoryOrder, AMaskKeepsRoundsWithinTheirRows) {
  const auto text = [](const std::string& high, const std::string& by) {
    return R"(kernel @k(%x: *i32, %n: i32, %d: i32, %s: i64) tile {
      %one = constant {value = 1} : i64
      %zero = constant {value = 0} : i64
      %first = constant {value = 0} : i32
      %next = constant {value = 1} : i32
      %size = constant {value = 64} : i32
      %pid = program_id {axis = 0} : i32
      %part = mul %pid, %size : i32
      %start = cast %part : i64
      %row = cast %d : i64
      %less = sub %row, %start : i64
      %away = neg %start : i64
      %sum = add %away, %row : i64
      %more = add %row, %start : i64
      %odd = sub %row, %s : i64
      %base = offset %x, %start : *i32
      for %first, %n, %next (%i: i32) {
        %w = cast %i : i64
        %m = mul %w, )" +
           by + R"( : i64
        %at = offset %base, %m : *i32
        %p = affine %at, %one : *i32[64]
        %mask = bounds %zero, )" +
           high + R"( : b1[64]
        %a = load %p, %mask : i32[64]
        store %p, %a, %mask
        store %p, %a
        yield
      }
    })";
  };
  for (const char* high : {"%row", "%less", "%sum"}) {
    EXPECT_TRUE(Analysed(text(high, "%row")).are_apart_in_rounds(0, 1)) << high;
    EXPECT_TRUE(Analysed(text(high, "%row")).are_apart_in_rounds(1, 1)) << high;
    EXPECT_FALSE(Analysed(text(high, "%row")).are_apart_in_rounds(1, 2)) << high;  // no mask
    EXPECT_FALSE(Analysed(text(high, "%s")).are_apart_in_rounds(1, 1)) << high;    // other rows
  }
  EXPECT_FALSE(Analysed(text("%more", "%row")).are_apart_in_rounds(1, 1));
  EXPECT_FALSE(Analysed(text("%odd", "%row")).are_apart_in_rounds(1, 1));  // %s may be negative
}

// Rows of 64 elements in halves, as a rotary embedding has them.
TEST(MemoryOrder, HalvesOfRowsAreApart) {
  const auto text = [](const char* half, const char* row) {
    return std::string("kernel @k(%x: *i32, %n: i32, %s: i64) tile {\n") +
           "  %one = constant {value = 1} : i64\n  %half = constant {value = " + half +
           "} : i64\n  %row = constant {value = " + row + R"(} : i64
      %zero = constant {value = 0} : i32
      %by = constant {value = 1} : i32
      %size = constant {value = 64} : i32
      %base = offset %x, %s : *i32
      for %zero, %n, %by (%i: i32) {
        %m = mul %i, %size : i32
        %w = cast %m : i64
        %at = offset %base, %w : *i32
        %after = offset %at, %half : *i32
        %p = affine %at, %row, %one : *i32[2, 32]
        %q = affine %after, %row, %one : *i32[2, 32]
        %a = load %p : i32[2, 32]
        store %q, %a
        yield
      }
    })";
  };
  EXPECT_TRUE(Analysed(text("32", "64")).is_apart(0, 1));
  EXPECT_TRUE(Analysed(text("96", "64")).is_apart(0, 1));
  EXPECT_FALSE(Analysed(text("31", "64")).is_apart(0, 1));
  EXPECT_FALSE(Analysed(text("64", "64")).is_apart(0, 1));  // the second row
  EXPECT_FALSE(Analysed(text("32", "64")).is_apart_in_rounds(0, 1));
  EXPECT_TRUE(Analysed(text("32", "0")).is_apart_in_rounds(0, 1));
  EXPECT_FALSE(Analysed(text("33", "0")).is_apart_in_rounds(0, 1));
}

// Each sweep of a Laid kernel has the ops of its addresses and masks for itself.
TEST(MemoryOrder, EqualOpsOfSeveralSweepsAreKnownAgain) {
  const auto text = [](const std::string& end) {
    return R"(kernel @k(%p: *f32, %d: i64, %e: i64, %n: i64) laid {
      buffer @x : f32[8]
      %zero = constant {value = 0} : i64
      %one = constant {value = 1} : i64
      for %zero, %n, %one (%t: i64) {
        %by = mul %t, %d : i64
        %at = offset %p, %by : *f32
        %x = sweep {shape = [8], into = ["x"]} : f32[8] {
          %ps = affine %at, %one : *f32[8]
          %in = bounds %zero, %d : b1[8]
          %x.1 = load %ps, %in : f32[8]
          yield %x.1
        }
        sweep {shape = [8]} {
          %ps.1 = affine %at, %one : *f32[8]
          %in.1 = bounds %zero, )" +
           end + R"( : b1[8]
          store %ps.1, %x, %in.1
          yield
        }
        yield
      }
    })";
  };
  EXPECT_TRUE(Analysed(text("%d")).is_same_place(0, 1));
  EXPECT_TRUE(Analysed(text("%d")).are_apart_in_rounds(0, 1));
  EXPECT_FALSE(Analysed(text("%e")).are_apart_in_rounds(0, 1));
}

}  // namespace
}  // namespace tilewright::ir
