// SPDX-License-Identifier: Apache-2.0
// bench/report_test.cpp — sizes, fits, printed forms and comparison of reports.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "bench/suite/baseline.h"
#include "bench/suite/print.h"
#include "bench/suite/record_json.h"
#include "bench/suite/run.h"
#include "bench/suite/sizes.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Record record_of(std::string way, double seconds, std::int64_t dim = 64) {
  Record r;
  r.op = "gelu";
  r.way = std::move(way);
  r.device = "cpu";
  r.dtype = "float32";
  r.shape = {dim, dim};
  r.dim = dim;
  r.seconds = seconds;
  r.p10 = r.interval_low = seconds * 0.99;
  r.p90 = r.interval_high = seconds * 1.01;
  r.runs = 20;
  r.is_stable = true;
  r.rate = seconds > 0 ? 1 / seconds : 0;
  r.unit = "B/s";
  r.bytes = r.bytes_moved = 32768;
  r.error = 1e-7;
  return r;
}

Report report_with(std::vector<Record> records) {
  Report report;
  report.version = "1";
  report.device = "cpu";
  report.device_name = "a machine";
  report.ceilings = {1e10, 0, ""};
  report.records = std::move(records);
  return report;
}

TEST(Sizes, ListsAndRanges) {
  EXPECT_THAT(parse_sizes("1024"), ElementsAre(1024));
  EXPECT_THAT(parse_sizes("3,5..24"), ElementsAre(3, 5, 10, 20));
  EXPECT_THAT(parse_sizes("1k..4k"), ElementsAre(1024, 2048, 4096));
  EXPECT_THAT(parse_sizes("1M"), ElementsAre(1 << 20));
  EXPECT_THAT(parse_shapes("4x8,2..4x3"), ElementsAre(Shape{4, 8}, Shape{2, 3}, Shape{4, 3}));
}

TEST(Sizes, TextsThatAreNone) {
  const std::string rule =
      " is no size; write 1024, 4k, a list 256,512 or a doubling range 1k..64k";
  for (const char* text : {"", "x", "0", "-4", "1.5", "4kk", "99999999999999999999"})
    EXPECT_EQ(message_of([&] { parse_sizes(text); }), "'" + std::string(text) + "'" + rule);
  EXPECT_EQ(message_of([] { parse_sizes("8..4"); }), "the range '8..4' ends before it begins");
  EXPECT_EQ(message_of([] { parse_shapes("4x"); }), "'4x' is no shape; write 8192x781");
}

TEST(ReportCeilings, TheHigherFigureCounts) {
  Report report = report_with({record_of("tile", 1e-3)});
  report.ceilings = {32768 / 1e-4, 0, ""};
  raise_ceilings(report, {32768 / 2e-4, 0, ""}, false);
  EXPECT_NEAR(report.records[0].percent_of_ceiling, 10, 1e-9);
  raise_ceilings(report, {32768 / 5e-5, 0, ""}, false);
  EXPECT_NEAR(report.records[0].percent_of_ceiling, 5, 1e-9);
  EXPECT_EQ(report.ceilings.bytes_per_second, 32768 / 5e-5);
}

TEST(Fits, FindsTheExponent) {
  std::vector<Record> records;
  for (const std::int64_t dim : {64, 128, 256, 512})
    records.push_back(record_of("tile", 1e-9 * std::pow(static_cast<double>(dim), 2.5), dim));
  records.push_back(record_of("cuda", 1, 64));
  const auto fits = fit_exponents(records);
  ASSERT_EQ(fits.size(), 1U) << "one size makes no curve";
  EXPECT_EQ(fits[0].way, "tile");
  EXPECT_EQ(fits[0].against, "dim");
  EXPECT_EQ(fits[0].points, 4);
  EXPECT_NEAR(fits[0].exponent, 2.5, 1e-9);
}

TEST(Printing, TheTableNamesWhatFailed) {
  Record failed = record_of("cuda", 0);
  failed.status = Status::Failed;
  failed.reason = "it broke";
  failed.error.reset();
  const std::string text = report_text(report_with({record_of("tile", 2e-3), failed}));
  EXPECT_THAT(text, HasSubstr("a machine: a copy makes 10.0 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("gelu 64x64 float32 on cpu: at least 32.0 KiB\n"));
  EXPECT_THAT(text, HasSubstr("tile  2.00 ms"));
  EXPECT_THAT(text, HasSubstr("failed: it broke"));
}

TEST(Printing, CsvQuotesAndMarkdownEscapes) {
  Record failed = record_of("cuda", 0);
  failed.status = Status::Failed;
  failed.reason = "a \"b\", c | d";
  const Report report = report_with({failed});
  EXPECT_THAT(report_csv(report), HasSubstr(",failed,\"a \"\"b\"\", c | d\"\n"));
  EXPECT_THAT(report_markdown(report), HasSubstr("| failed: a \"b\", c \\| d |\n"));
}

class ReportFile : public ::testing::Test {
 protected:
  ~ReportFile() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  // Tests run side by side.
  std::string path_ = fmt::format("{}tilewright_report_{}.json", ::testing::TempDir(), ::getpid());
};

TEST_F(ReportFile, JsonGoesThereAndBack) {
  Record wrong = record_of("cuda", 0);
  wrong.status = Status::Wrong;
  wrong.error = INFINITY;
  write(report_json(report_with({record_of("tile", 2e-3), wrong})));
  const Report back = read_report(path_);
  ASSERT_EQ(back.records.size(), 2U);
  EXPECT_EQ(back.records[0].seconds, 2e-3);
  EXPECT_EQ(back.records[0].shape, (Shape{64, 64}));
  EXPECT_EQ(back.records[0].error, 1e-7);
  EXPECT_EQ(back.records[1].status, Status::Wrong);
  EXPECT_FALSE(back.records[1].is_measured());
}

TEST_F(ReportFile, WhatWasNotMeasuredIsNull) {
  const std::string text = report_json(report_with({record_of("tile", 0)}));
  EXPECT_THAT(text, HasSubstr("\"seconds\": null"));
  EXPECT_THAT(text, HasSubstr("\"percent_of_ceiling\": null"));
}

TEST_F(ReportFile, OtherFilesAreNoReports) {
  write("{\"a\": 1}");
  const std::string sentence = "'" + path_ + "' is no report of tilewright bench --json: ";
  EXPECT_EQ(message_of([&] { read_report(path_); }),
            sentence + "it is JSON without the fields of one");
  write("{\"records\": [{\"op\": 3}]}");
  EXPECT_EQ(message_of([&] { read_report(path_); }),
            sentence + "it is JSON without the fields of one");
  write("not json");
  EXPECT_EQ(message_of([&] { read_report(path_); }), sentence + "it is no JSON from byte 2 on");
  EXPECT_EQ(message_of([] { read_report("/nowhere/x.json"); }),
            "cannot open '/nowhere/x.json': No such file or directory");
}

using Kind = Verdict::Kind;

TEST(Baseline, JudgesByIntervalAndThreshold) {
  Record noisy = record_of("noisy", 1.2);
  noisy.interval_low = 0.9;
  Record broken = record_of("broken", 0);
  broken.status = Status::Failed;
  const Report before =
      report_with({record_of("slow", 1), record_of("fast", 1), record_of("same", 1),
                   record_of("noisy", 1), record_of("broken", 1)});
  const auto verdicts = compare_with(
      before, report_with({record_of("slow", 1.2), record_of("fast", 0.8), record_of("same", 1.04),
                           noisy, broken, record_of("new", 1)}));
  std::vector<Kind> kinds;
  for (const Verdict& v : verdicts) kinds.push_back(v.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::Slower, Kind::Faster, Kind::Same, Kind::Same, Kind::Broken,
                                 Kind::New));
  EXPECT_TRUE(has_regression(verdicts));
  EXPECT_FALSE(has_regression(compare_with(before, report_with({record_of("fast", 0.8)}))));
  EXPECT_THAT(verdicts_text(verdicts, "old.json"),
              HasSubstr("against old.json: 1 slower, 1 broken, 1 faster, 2 the same, 1 new\n"));
}

}  // namespace
}  // namespace tilewright::suite
