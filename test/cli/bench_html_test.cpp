// SPDX-License-Identifier: Apache-2.0
// cli/bench_html_test.cpp — the page of `tilewright bench --html`, also in a real browser where
// there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

class BenchPage : public ::testing::Test {
 protected:
  CommandResult make(const std::string& path, const std::string& dims,
                     const std::vector<std::string>& more = {"--no-ceiling"}) {
    std::vector<std::string> arguments = {"bench",    "gelu",        "--dim",    dims,
                                          "--ways",   "manual,tile", "--device", "cpu",
                                          "--trials", "2",           "--html",   path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tilewright_command(arguments);
  }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  TemporaryFolder folder_;
};

TEST_F(BenchPage, HoldsEverythingItNeeds) {
  const std::string path = folder_.path() + "/report.html";
  const CommandResult r = make(path, "16");
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const std::string page = text_of(path);
  EXPECT_THAT(page, HasSubstr("\"op\": \"gelu\""));
  EXPECT_THAT(page, HasSubstr("\"command\": \"tilewright bench gelu --dim 16 --ways manual,tile"));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  // What it is, when and how it was made, also without its script.
  EXPECT_THAT(page, HasSubstr("<title>gelu 16x16 float32 on "));
  EXPECT_THAT(page, HasSubstr("<h1 id=\"title\">gelu 16x16 float32 on "));
  EXPECT_THAT(page, ContainsRegex("<p class=\"quiet\" id=\"subtitle\">20[0-9][0-9]-[0-9][0-9]-"
                                  "[0-9][0-9] [0-9][0-9]:[0-9][0-9] UTC, tilewright "));
  EXPECT_THAT(page, HasSubstr("Made by <code>tilewright bench gelu --dim 16 --ways manual,tile"));
}

TEST_F(BenchPage, ThatCannotBeWrittenIsSaidBeforeMeasuring) {
  const CommandResult r = make("/nowhere/report.html", "16");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.output, "");
  EXPECT_EQ(r.error,
            "tilewright: cannot write '/nowhere/report.html': No such file or directory\n");
  EXPECT_EQ(make(folder_.path(), "16").error,
            "tilewright: cannot write '" + folder_.path() + "': Is a directory\n");
}

TEST_F(BenchPage, IsDrawnByABrowser) {
  const std::string browser = find_program("chromium");
  if (browser.empty()) GTEST_SKIP() << "chromium is not installed";
  const std::string path = folder_.path() + "/report.html";
  ASSERT_EQ(make(path, "16..64", {"--explain"}).exit_code, 0);
  const ProcessResult r = run_process(
      {.arguments = {browser, "--headless", "--no-sandbox", "--disable-gpu",
                     "--user-data-dir=" + folder_.path() + "/profile", "--enable-logging=stderr",
                     "--virtual-time-budget=5000", "--dump-dom", "file://" + path},
       .timeout_seconds = 120});
  // A sweep, three bar charts, three timelines and a roofline.
  EXPECT_THAT(r.output, HasSubstr("data-charts=\"8\""));
  EXPECT_THAT(r.output, HasSubstr("data-problems=\"0\""));
  EXPECT_THAT(r.output, Not(HasSubstr("CONSOLE")));
  EXPECT_THAT(r.output, HasSubstr("<th scope=\"row\">manual</th>"));
  EXPECT_THAT(r.output, HasSubstr("aria-label=\"Time of each way"));
  EXPECT_THAT(r.output, HasSubstr("aria-label=\"Timeline: one run of each way"));
  EXPECT_THAT(r.output, HasSubstr("manual: host 9 events until"));
  EXPECT_THAT(r.output, HasSubstr("<summary>Why tile takes"));
  // What hovering tells is also in tables that open, and every chart is named.
  EXPECT_THAT(r.output, HasSubstr("<summary>Events of the timeline</summary>"));
  EXPECT_THAT(r.output, HasSubstr("<td data-title=\"event\">gelu_kernel</td>"));
  EXPECT_THAT(r.output, HasSubstr("<summary>Points of the roofline</summary>"));
  EXPECT_EQ(count_of(r.output, "<canvas"),
            count_of(r.output, "<canvas role=\"img\" aria-label=\""));
  EXPECT_EQ(count_of(r.output, "<canvas"), 8);
}

}  // namespace
}  // namespace tilewright::cli
