// SPDX-License-Identifier: Apache-2.0
// golden/passes_doc_test.cpp — docs/passes.md is the table of passes, the order in which pipelines
// run them, and what the head of each pass's header says.
//
// With TW_UPDATE_GOLDEN set in the environment the page is written anew.

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/pipeline.h"
#include "golden.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// The comment at the head of a pass's header, below its licence.
std::vector<std::string> head_lines(std::string_view pass) {
  const golden::fs::path root = TW_SOURCE_FOLDER;
  const bool is_laid = !golden::fs::exists(root / fmt::format("src/passes/{}.h", pass));
  const std::string folder = is_laid ? "passes/laid" : "passes";
  const std::string path = fmt::format("src/{}/{}.h", folder, pass);
  std::istringstream header(golden::read(golden::fs::path(TW_SOURCE_FOLDER) / path));
  std::vector<std::string> out;
  std::string line;
  std::getline(header, line);  // the licence
  while (std::getline(header, line) && line.starts_with("//"))
    out.push_back(line.substr(std::min<std::size_t>(line.size(), 3)));
  const std::string place = fmt::format("{}/{}.h — ", folder, pass);
  if (out.empty() || !out[0].starts_with(place))
    throw InternalError(path + " does not begin with its name and purpose");
  out[0] = out[0].substr(place.size());
  return out;
}

// Lines that begin with blanks are an example.
std::string as_markdown(const std::vector<std::string>& lines) {
  std::string out;
  bool is_example = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_blank = lines[i].empty();
    const bool is_now = is_blank
                            ? is_example && i + 1 < lines.size() && lines[i + 1].starts_with(" ")
                            : lines[i].starts_with(" ");
    if (is_now != is_example) out += "```\n";
    is_example = is_now;
    out += lines[i] + "\n";
  }
  return out + (is_example ? "```\n" : "");
}

std::string passes_page() {
  std::string out = R"(# The passes

This page is the table of `src/passes/passes.cpp`, the order of `src/compiler/pipeline.cpp` and the
heads of the passes' headers, written by `golden_passes_doc_test` (`TW_UPDATE_GOLDEN=1` writes it
anew). `tilewright opt FILE --passes NAME,NAME` runs any of them on a kernel of the IR;
`TILEWRIGHT_SKIP_PASSES` leaves some out. A pass whose machines do not include the target is left
out of its pipeline.

## The order
)";
  for (const PassGroup& group : pass_groups())
    out += fmt::format("- {}: {}\n", group.title, fmt::join(group.passes, ", "));
  std::vector<PassEntry> all(all_passes().begin(), all_passes().end());
  std::vector<std::string_view> laid;
  for (const PassEntry& pass : laid_passes()) {
    laid.push_back(pass.name);
    all.push_back(pass);
  }
  out += fmt::format("- At Laid, by the emitter of a machine with threads: {}\n", fmt::join(laid, ", "));
  std::vector<std::string_view> of_threads;
  for (const PassEntry& pass : final_passes()) {
    of_threads.push_back(pass.name);
    all.push_back(pass);
  }
  out += fmt::format("- At Final, of the program of a thread: {}\n", fmt::join(of_threads, ", "));
  out += "\n## All passes\n| pass | what it does | at stage | for |\n|---|---|---|---|\n";
  for (const PassEntry& pass : all)
    out +=
        fmt::format("| [`{0}`](#{0}) | {1} | {2} | {3} |\n", pass.name, pass.summary,
                    stages_of(pass), machines_of(pass));
  for (const PassEntry& pass : all)
    out += fmt::format("\n### {}\n{}", pass.name, as_markdown(head_lines(pass.name)));
  return out;
}

TEST(PassesDoc, IsTheTableOfPasses) {
  golden::expect_file(golden::fs::path(TW_SOURCE_FOLDER) / "docs/passes.md", passes_page());
}

// What a pipeline names is a pass, and no pass is in none.
TEST(PassesDoc, EveryPassHasAPlace) {
  std::set<std::string_view> placed;
  for (const PassGroup& group : pass_groups())
    for (const std::string_view name : group.passes) placed.insert(pass_named(name).name);
  for (const PassEntry& pass : all_passes()) EXPECT_TRUE(placed.contains(pass.name)) << pass.name;
}

TEST(PassesDoc, MachinesAreNamedByFeatures) {
  EXPECT_EQ(machines_of(pass_named("canonicalize")), "every machine");
  EXPECT_EQ(machines_of(pass_named("pipeline_loops")), "machines with async_copy");
  EXPECT_EQ(machines_of(pass_named("turn_loads")), "machines without threads");
  EXPECT_FALSE(pass_named("turn_loads").is_for(Target::parse("sm_80")));
  EXPECT_TRUE(pass_named("turn_loads").is_for(Target::parse("avx2")));
}

}  // namespace
}  // namespace tilewright
