// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/groups_test.cpp — products of warpgroups and roles at stage Final: the text comes
// from it alone, the interpreter runs its threads, and what is taken out of the protocol is noticed.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../passes/product_kernel.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "machine/library.h"
#include "passes/choose_units.h"
#include "passes/defer_stores.h"
#include "passes/split_roles.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// Of a kernel without roles, whose operands threads write to shared memory.
const char* const written = R"(
@triton.jit
def product(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    total = tl.zeros((N, N), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        x = tl.load(x_ptr + k * N * N + at) * 2
        y = tl.load(y_ptr + k * N * N + at)
        total = tl.dot(x, tl.trans(y), total)
    tl.store(out_ptr + at, total)
)";

// The memory of a launch, and what the last buffer of it becomes.
struct Groups {
  ir::Kernel tile;
  CudaEmitOptions options;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<Memory> memory = {};
  std::vector<std::int64_t> numbers = {};

  ir::Kernel final_kernel() const {
    return final_for_cuda(laid_for_cuda(tile, options), options);
  }

  Memory run(const ir::Kernel& kernel, unsigned seed) const {
    std::vector<Memory> own = memory;
    std::vector<ir::InterpretBuffer> buffers;
    std::vector<ir::InterpretArgument> arguments;
    for (std::size_t i = 0; i < own.size(); ++i) {
      buffers.push_back(
          {.name = "buffer", .data = own[i].bytes.data(), .bytes = own[i].bytes.size()});
      arguments.emplace_back(ir::InterpretPointer{static_cast<int>(i), 0});
    }
    for (const std::int64_t number : numbers) arguments.emplace_back(number);
    ir::InterpretOptions how;
    for (std::size_t d = 0; d < 3; ++d) how.grid[d] = grid[d];
    how.role_seed = seed;
    ir::interpret(kernel, buffers, arguments, how);
    return own.back();
  }
};

Groups with_roles(bool persists, int bn, bool swaps = false) {
  std::string text = product_text({.bm = 128, .bn = bn, .bk = 64});
  if (swaps)
    text = replaced(replaced(text, "%sc: i32", "%sc: i32 {divisible = 16}"),
                    "%rounds = div %k_up, %depth : i32", "%rounds = constant {value = 3} : i32");
  Groups out{.tile = at_tile(text), .options = {.target = Target::parse("sm_90a"), .num_warps = 8}};
  EXPECT_TRUE(split_roles(
      out.tile, {.num_warps = 8, .num_stages = 2, .persists = persists, .asks_model = false}));
  for (const char* name : {"canonicalize", "hoist_loop_invariants",
                           "eliminate_common_subexpressions", "eliminate_dead_code"})
    pass_named(name).run(out.tile, out.options.target);
  defer_stores(out.tile, {.num_warps = 8});
  const std::int64_t m = 260, n = 100, k = 190;
  out.grid = {(m + 127) / 128 * ((n + bn - 1) / bn), 1, 1};
  out.memory = {numbers(DType::Float16, 260 * 256, 1), numbers(DType::Float16, 256 * 256, 2),
                zeros(DType::Float16, 260 * 256)};
  out.numbers = {m, n, k, 256, 256, 256};
  return out;
}

Groups without_roles() {
  const TileProgram program(written, "product", "*fp16:16, *fp16:16, *fp32:16, i32, 64", 4);
  Groups out{.tile = ir::parse(ir::print(program.kernel())),
             .options = {.target = Target::parse("sm_90a"), .num_warps = 4}};
  out.memory = {numbers(DType::Float16, 3 * 64 * 64, 1), numbers(DType::Float16, 3 * 64 * 64, 2),
                zeros(DType::Float32, 64 * 64)};
  out.numbers = {3};
  return out;
}

void expect_alike(const Memory& got, const Memory& want, const std::string& what) {
  for (std::size_t i = 0; i < want.count(); ++i)
    ASSERT_NEAR(got.at(i), want.at(i), 4e-3 * std::max(1.0, std::abs(want.at(i))))
        << "element " << i << what;
}

void expect_alike(const Groups& groups, std::vector<unsigned> seeds) {
  const ir::Kernel kernel = groups.final_kernel();
  ir::verify(kernel);
  const std::string text = ir::print(kernel);
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  const KernelSource from_final = emit_cuda(read, groups.options);
  const KernelSource from_laid = emit_cuda(laid_for_cuda(groups.tile, groups.options), groups.options);
  EXPECT_EQ(from_final.text, from_laid.text);
  EXPECT_EQ(from_final.kernels[0].variants[0].tensor_maps.size(),
            from_laid.kernels[0].variants[0].tensor_maps.size());
  const Memory want = groups.run(groups.tile, 0);
  for (const unsigned seed : seeds)
    expect_alike(groups.run(kernel, seed), want, ", seed " + std::to_string(seed) + "\n" + text);
}

TEST(CudaGroups, AProducerAndItsConsumersAtStageFinal) {
  for (const bool persists : {false, true}) expect_alike(with_roles(persists, 64), {0, 5});
}

TEST(CudaGroups, StoresBesideProductsAtStageFinal) { expect_alike(with_roles(true, 128), {3}); }

TEST(CudaGroups, LanesThatExchangeAtStageFinal) {
  const Groups groups = with_roles(true, 128, true);
  EXPECT_THAT(ir::print(groups.final_kernel()), HasSubstr("swap_lanes"));
  expect_alike(groups, {2});
}

TEST(CudaGroups, OperandsThatThreadsWriteAtStageFinal) {
  const Groups groups = without_roles();
  EXPECT_THAT(ir::print(groups.final_kernel()), HasSubstr("show_to_products"));
  expect_alike(groups, {0, 1});
}

// ---- What is wrong

struct Change {
  const char* name;
  std::function<bool(ir::Kernel&, ir::Op&)> change;  // returns whether the op is to go
  LibraryKind function;
};

// Changes the first call of a function, or takes it away.
void change(ir::Kernel& kernel, const Change& how) {
  bool is_done = false;
  const std::function<void(ir::Region&)> visit = [&](ir::Region& region) {
    for (std::size_t i = 0; i < region.ops.size() && !is_done; ++i) {
      ir::Op& op = *region.ops[i];
      if (op.kind == ir::OpKind::Call && op.text("function") == name_of(how.function)) {
        is_done = true;
        if (how.change(kernel, op)) region.ops.erase(region.ops.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
      for (ir::Region& inner : op.regions) visit(inner);
    }
  };
  visit(kernel.body);
  EXPECT_TRUE(is_done) << how.name;
}

bool take_away(ir::Kernel&, ir::Op&) { return true; }
std::function<bool(ir::Kernel&, ir::Op&)> with_number(std::size_t k, std::int64_t by) {
  return [=](ir::Kernel&, ir::Op& op) {
    std::vector<std::int64_t> numbers = op.integers("numbers");
    numbers[k] += by;
    op.set("numbers", numbers);
    return false;
  };
}

// What the verifier says, or one of four orders; "" where nothing is.
std::string noticed(const Groups& groups, const ir::Kernel& kernel) {
  try {
    ir::verify(kernel);
  } catch (const Error& error) {
    return std::string("verifier: ") + error.what();
  }
  try {
    for (unsigned seed = 0; seed < 4; ++seed) groups.run(kernel, seed);
  } catch (const Error& error) {
    return std::string("interpreter: ") + error.what();
  }
  return "";
}

const Change changes[] = {
    {"a slot is read before it is there", take_away, LibraryKind::AwaitSlot},
    {"a slot is not released", take_away, LibraryKind::ReleaseSlot},
    {"a slot is filled that is not acquired", take_away, LibraryKind::AcquireSlot},
    {"a copy is missing", take_away, LibraryKind::CopyBox},
    {"words are not set up", take_away, LibraryKind::SetUpRing},
    {"too few bytes are announced", with_number(1, -16), LibraryKind::AcquireSlot},
    {"too many bytes are announced", with_number(1, 16), LibraryKind::AcquireSlot},
    {"half of the warps release a slot", with_number(1, -4), LibraryKind::SetUpRing},
    {"more warps release a slot", with_number(1, 4), LibraryKind::SetUpRing},
    {"a product begins without a fence", take_away, LibraryKind::BeginProducts},
    {"products are no group", take_away, LibraryKind::CommitProducts},
    {"a slot is released while a product reads it", with_number(0, 2), LibraryKind::WaitProducts},
    {"the other parity",
     [](ir::Kernel& kernel, ir::Op& op) {
       // The position of the same slot, one time round later.
       ir::Op* cast = kernel.maker(op.operands[1]);
       ir::Op* later = kernel.make_op(ir::OpKind::Linear, {cast->operands[0]},
                                      {kernel.type(cast->operands[0])}, op.location);
       later->set("factors", std::vector<std::int64_t>{1});
       later->set("offset", op.integers("numbers")[0]);
       cast->operands[0] = later->result();
       const std::function<bool(ir::Region&)> put = [&](ir::Region& region) {
         for (std::size_t i = 0; i < region.ops.size(); ++i) {
           if (region.ops[i] == cast) {
             region.ops.insert(region.ops.begin() + static_cast<std::ptrdiff_t>(i), later);
             return true;
           }
           for (ir::Region& inner : region.ops[i]->regions)
             if (put(inner)) return true;
         }
         return false;
       };
       EXPECT_TRUE(put(kernel.body));
       return false;
     },
     LibraryKind::AwaitSlot},
};

TEST(CudaGroupsHostile, EveryStepOfTheProtocolIsMissed) {
  const Groups groups = with_roles(true, 64);
  const std::string text = ir::print(groups.final_kernel());
  EXPECT_EQ(noticed(groups, ir::parse(text)), "");
  for (const Change& how : changes) {
    ir::Kernel kernel = ir::parse(text);
    change(kernel, how);
    EXPECT_NE(noticed(groups, kernel), "") << how.name;
  }
}

TEST(CudaGroupsHostile, ABarrierBehindTheWordsIsMissed) {
  const Groups groups = with_roles(true, 64);
  ir::Kernel kernel = groups.final_kernel();
  std::erase_if(kernel.body.ops,
                [](const ir::Op* op) { return op->kind == ir::OpKind::Barrier; });
  EXPECT_THAT(noticed(groups, kernel), HasSubstr("rule F5"));
}

TEST(CudaGroupsHostile, WhatThreadsWriteIsShownAndMet) {
  const Groups groups = without_roles();
  const std::string text = ir::print(groups.final_kernel());
  ir::Kernel unshown = ir::parse(text);
  change(unshown, {"not shown", take_away, LibraryKind::ShowToProducts});
  EXPECT_NE(noticed(groups, unshown), "");
  EXPECT_ANY_THROW(groups.run(unshown, 0));
  ir::Kernel unwaited = ir::parse(text);
  change(unwaited, {"not waited", take_away, LibraryKind::WaitProducts});
  EXPECT_THAT(noticed(groups, unwaited), HasSubstr("rule F6"));
  EXPECT_ANY_THROW(groups.run(unwaited, 0));
}

}  // namespace
}  // namespace tilewright
