// SPDX-License-Identifier: Apache-2.0
// bench/suite/baseline.cpp — records are matched by their work and judged by their intervals.
#include "bench/suite/baseline.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/units.h"
#include "bench/suite/ops.h"

namespace tilewright::suite {
namespace {

using Kind = Verdict::Kind;

bool is_same_work(const Record& a, const Record& b) {
  return a.op == b.op && a.way == b.way && a.device == b.device && a.dtype == b.dtype &&
         a.shape == b.shape;
}

Verdict judged(const Record& before, const Record& now, double threshold) {
  Verdict verdict{now, 0, Kind::Same};
  if (!before.is_measured()) {
    verdict.kind = Kind::New;
    return verdict;
  }
  if (!now.is_measured()) {
    verdict.kind = now.status == Status::NotAvailable || now.status == Status::Interrupted
                       ? Kind::Same
                       : Kind::Broken;
    return verdict;
  }
  verdict.ratio = now.seconds / before.seconds;
  if (verdict.ratio > 1 + threshold && now.interval_low > before.interval_high)
    verdict.kind = Kind::Slower;
  if (verdict.ratio < 1 - threshold && now.interval_high < before.interval_low)
    verdict.kind = Kind::Faster;
  return verdict;
}

const char* word_for(Kind kind) {
  switch (kind) {
    case Kind::Same:
      return "same";
    case Kind::Faster:
      return "faster";
    case Kind::Slower:
      return "SLOWER";
    case Kind::New:
      return "new";
    case Kind::Broken:
      return "BROKEN";
  }
  return "";
}

}  // namespace

std::vector<Verdict> compare_with(const Report& before, const Report& now, double threshold) {
  std::vector<Verdict> verdicts;
  for (const Record& record : now.records) {
    const auto found = std::find_if(before.records.begin(), before.records.end(),
                                    [&](const Record& r) { return is_same_work(r, record); });
    if (found != before.records.end()) verdicts.push_back(judged(*found, record, threshold));
    else if (record.is_measured()) verdicts.push_back({record, 0, Kind::New});
  }
  return verdicts;
}

bool has_regression(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) {
    return v.kind == Kind::Slower || v.kind == Kind::Broken;
  });
}

std::string verdicts_text(const std::vector<Verdict>& verdicts, const std::string& baseline) {
  Table table({{"way"}, {"shape"}, {"dtype"}, {"now", Align::Right}, {"against", Align::Right}, {}},
              2);
  for (const Verdict& v : verdicts)
    table.add({v.now.way, shape_text(v.now.shape), v.now.dtype,
               v.now.is_measured() ? format_seconds(v.now.seconds) : "-",
               v.ratio > 0 ? fmt::format("{:+.1f}%", 100 * (v.ratio - 1)) : "-", word_for(v.kind)});
  const auto count = [&](Kind kind) {
    return std::count_if(verdicts.begin(), verdicts.end(),
                         [&](const Verdict& v) { return v.kind == kind; });
  };
  return fmt::format("against {}: {} slower, {} broken, {} faster, {} the same, {} new\n{}",
                     baseline, count(Kind::Slower), count(Kind::Broken), count(Kind::Faster),
                     count(Kind::Same), count(Kind::New), table.to_string());
}

}  // namespace tilewright::suite
