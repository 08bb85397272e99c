// SPDX-License-Identifier: Apache-2.0
// bench/suite_test.cpp — the operations, their references and ways, on small problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/suite/run.h"
#include "bench/suite/user_kernel.h"
#include "codegen/device_lib/emulate/fibers.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

using ::testing::HasSubstr;

RunOptions quick() { return {.warmups = 0, .trials = 2}; }

Shape small_shape(const Operation& operation) {
  const std::size_t rank = operation.shape_of(1).size();
  if (rank == 4) return {1, 2, 40, 16};
  return rank == 3 ? Shape{33, 20, 17} : Shape{7, 37};
}

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Suite, EveryWayOfEveryOperationIsRight) {
  for (const Operation& operation : operations()) {
    const Shape shape = small_shape(operation);
    std::vector<Entry> entries;
    for (const Way& way : ways_of(operation.name))
      entries.push_back(entry_of(way, shape, DType::Float32, Device::cpu()));
    ASSERT_FALSE(entries.empty()) << operation.name;
    std::vector<Record> records;
    const Case which{&operation, shape, 0, DType::Float32, Device::cpu()};
    EXPECT_TRUE(run_case(which, entries, {1e10, 1e11, ""}, quick(), {}, records));
    ASSERT_EQ(records.size(), entries.size());
    for (const Record& record : records) {
      // Barriers of CUDA kernels cannot be emulated under the thread sanitizer, which says so.
      if (!can_emulate_barriers() && record.status != Status::Ok &&
          record.reason.find("has barriers") != std::string::npos)
        continue;
      SCOPED_TRACE(record.op + " " + record.way);
      EXPECT_EQ(record.status, Status::Ok) << record.reason;
      EXPECT_EQ(record.runs, 2);
      EXPECT_GT(record.rate, 0);
      EXPECT_GT(record.percent_of_ceiling, 0);
      EXPECT_GT(record.lines, 2);
      EXPECT_LT(record.error.value_or(1), 1e-5);
    }
  }
}

TEST(Suite, EveryWayBelongsToAnOperation) {
  for (const Way& way : all_ways())
    EXPECT_NO_THROW(static_cast<void>(operation_named(way.operation)));
}

TEST(Suite, ManualChainsMoveMoreThanFusedKernels) {
  const Operation& gelu = operation_named("gelu");
  std::vector<Entry> entries;
  for (const Way& way : ways_of("gelu"))
    if (way.name == std::string_view("manual") || way.name == std::string_view("tile"))
      entries.push_back(entry_of(way, {8, 8}, DType::BFloat16, Device::cpu()));
  std::vector<Record> records;
  run_case({&gelu, {8, 8}, 0, DType::BFloat16, Device::cpu()}, entries, {}, quick(), {}, records);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kernels, 9);
  EXPECT_EQ(records[0].bytes_moved, 11 * records[0].bytes);
  EXPECT_EQ(records[1].kernels, 1);
  EXPECT_EQ(records[1].bytes_moved, 2 * 64 * 2);
  EXPECT_EQ(records[0].status, Status::Ok) << records[0].reason;
  EXPECT_EQ(records[0].percent_of_ceiling, 0) << "no ceiling is known";
}

// ---- What goes wrong.

Entry entry_that(std::function<void(const Problem&)> does) {
  return {.name = "mine", .prepare = [=](const Problem& problem) -> Prepared {
            return {.run = [does, problem] { does(problem); }};
          }};
}

std::vector<Record> records_of(const std::vector<Entry>& entries, const char* operation = "add") {
  std::vector<Record> records;
  run_case({&operation_named(operation), {4, 8}, 0, DType::Float32, Device::cpu()}, entries, {},
           quick(), {}, records);
  return records;
}

TEST(Suite, WrongResultsHaveNoTime) {
  const auto records = records_of({entry_that([](const Problem& p) { p.out().fill(1); })});
  EXPECT_EQ(records[0].status, Status::Wrong);
  EXPECT_FALSE(records[0].is_measured());
  EXPECT_THAT(records[0].reason, HasSubstr("of the largest value, 8.1e-06 is allowed"));
}

TEST(Suite, WhatIsLeftOutIsSeen) {
  const auto records = records_of({entry_that([](const Problem&) {})});
  EXPECT_EQ(records[0].status, Status::Wrong);
  EXPECT_TRUE(std::isinf(*records[0].error));
}

TEST(Suite, AWayThatFailsDoesNotStopTheOthers) {
  std::vector<Entry> entries = {
      entry_that([](const Problem&) { throw ArgumentError("no such thing\nand a log"); }),
      entry_of(ways_of("add").front(), {4, 8}, DType::Float32, Device::cpu())};
  entries.insert(entries.begin() + 1,
                 {.name = "absent", .prepare = {}, .why_not = "not installed"});
  const auto records = records_of(entries);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].status, Status::Failed);
  EXPECT_EQ(records[0].reason, "no such thing");
  EXPECT_EQ(records[1].status, Status::NotAvailable);
  EXPECT_EQ(records[1].reason, "not installed");
  EXPECT_EQ(records[2].status, Status::Ok);
}

TEST(Suite, AReferenceThatIsNotFiniteIsSaid) {
  const auto records = records_of({entry_that([](const Problem& p) {
    p.tensor("x").select(0, 0).fill(NAN);
    p.out().fill(0);
  })});
  EXPECT_EQ(records[0].status, Status::Failed);
  EXPECT_EQ(records[0].reason, "cannot be checked: the reference is nan at row 0, column 0");
}

TEST(Suite, DropoutThatKeepsEverythingIsWrong) {
  const auto keep = entry_that([](const Problem& p) {
    p.out().copy_from(p.tensor("x").to(DType::Float64).to(DType::Float32));
  });
  EXPECT_EQ(records_of({keep}, "dropout")[0].status, Status::Wrong);
}

TEST(Suite, InterruptionKeepsWhatThereIs) {
  int runs = 0;
  RunOptions options;
  options.seconds = 0.02;
  options.is_interrupted = [&] { return runs > 20; };
  const Way way = ways_of("add").front();
  Entry entry = entry_of(way, {4, 8}, DType::Float32, Device::cpu());
  entry.prepare = [&, way](const Problem& problem) {
    Prepared prepared = way.prepare(problem, way);
    prepared.run = [&runs, run = prepared.run] { ++runs, run(); };
    return prepared;
  };
  std::vector<Record> records;
  EXPECT_FALSE(run_case({&operation_named("add"), {4, 8}, 0, DType::Float32, Device::cpu()},
                        {entry}, {}, options, {}, records));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::Interrupted);
}

TEST(Suite, NamesAndShapesThatAreNone) {
  EXPECT_EQ(message_of([] { static_cast<void>(operation_named("sofmax")); }),
            "there is no operation 'sofmax'; did you mean 'softmax'?");
  EXPECT_EQ(message_of([] {
              check_shape(operation_named("matmul"), {4, 4});
            }),
            "matmul has the shape M x N x K, so '4x4' does not fit");
  EXPECT_EQ(message_of([] {
              check_shape(operation_named("gelu"), {4, 0});
            }),
            "a shape has sizes of at least 1, so '4x0' is none");
  EXPECT_THAT(
      message_of([] {
        check_memory(operation_named("gelu"), {1 << 24, 1 << 20}, DType::Float32, Device::cpu());
      }),
      HasSubstr("gelu at 16777216x1048576 in float32 needs about 256 TiB, but cpu has "));
}

TEST(Suite, CountsLinesOfCode) {
  EXPECT_EQ(lines_of_code(""), 0);
  const std::string kernels =
      "import triton\n\n@triton.jit\ndef f(\n    a,\n):\n    b = a\n\n    # c\n    return b\n\n\n"
      "@triton.autotune(\n    configs=[],\n    key=[])\n@triton.jit\ndef g():\n    return";
  EXPECT_EQ(lines_of_kernel(load_triton_source(kernels, "f")), 6);
  EXPECT_EQ(lines_of_kernel(load_triton_source(kernels, "g")), 6);
  EXPECT_EQ(lines_of_code("# comment\nimport x\n\ndef f():\n    return 1"), 2);
  EXPECT_EQ(lines_of_code("// c\n#include <x>\n#if X\nint f();\n  // c\n#endif\n"), 3);
}

}  // namespace
}  // namespace tilewright::suite
