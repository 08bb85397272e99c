// SPDX-License-Identifier: Apache-2.0
// cli/profile_flame_test.cpp — the flame graph of `tilewright profile --flame` in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "browser.h"
#include "command.h"
#include "profile/trace.h"
#include "tilewright/profile.h"

namespace tilewright::cli {
namespace {

using nlohmann::json;

class FlamePage : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string program = find_program("chromium");
    if (program.empty()) GTEST_SKIP() << "chromium is not installed";
    browser_ = std::make_unique<Browser>(program, folder_.path() + "/profile");
    browser_->resize(1000, 700);
  }
  void add(const std::string& name, std::int64_t start, std::int64_t end) {
    TraceEvent event;
    event.name = trace_.number_of(name);
    event.start = start * 1000;
    event.end = end * 1000;
    trace_.events.push_back(event);
  }
  void open() {
    trace_.finish();
    const std::string path = folder_.path() + "/flame.svg";
    Profile(std::make_shared<Trace>(trace_)).flame_graph(path);
    browser_->open("file://" + path);
  }
  json ask(const std::string& expression) { return browser_->evaluate(expression); }
  double width_of(const std::string& name) {
    return ask("frames.find((f) => f.name === '" + name + "').rect.getBBox().width");
  }
  bool is_shown(const std::string& name) {
    return ask("frames.find((f) => f.name === '" + name + "').group.style.display !== 'none'");
  }
  TemporaryFolder folder_;
  std::unique_ptr<Browser> browser_;
  Trace trace_;
};

TEST_F(FlamePage, ZoomsByClickAndKeysAndShowsAllAgain) {
  add("step", 0, 100);
  add("forward", 0, 60);
  add("gelu", 10, 20);
  add("backward", 60, 100);
  open();
  const double whole = width_of("step");
  EXPECT_NEAR(width_of("forward"), 0.6 * whole, 1);
  EXPECT_TRUE(ask("reset.disabled"));
  ask("frames.find((f) => f.name === 'forward').rect.dispatchEvent(new MouseEvent('click', "
      "{bubbles: true}))");
  EXPECT_NEAR(width_of("forward"), whole, 1);
  EXPECT_NEAR(width_of("step"), whole, 1);
  EXPECT_NEAR(width_of("gelu"), whole / 6, 1);
  EXPECT_FALSE(is_shown("backward"));
  browser_->press("Escape");
  EXPECT_TRUE(is_shown("backward"));
  EXPECT_NEAR(width_of("forward"), 0.6 * whole, 1);
  ask("frames.find((f) => f.name === 'backward').group.focus()");
  browser_->press("Enter");
  EXPECT_FALSE(is_shown("forward"));
  ask("reset.click()");
  EXPECT_TRUE(is_shown("forward"));
}

TEST_F(FlamePage, SearchMarksBoxesAndSaysTheirShare) {
  add("step", 0, 100);
  add("gelu forward", 0, 40);
  add("gelu kernel", 0, 30);  // inside: not counted again
  add("softmax", 50, 60);
  open();
  ask("search.value = 'GELU'; search.dispatchEvent(new Event('input'))");
  EXPECT_EQ(ask("[...document.querySelectorAll('.found')].map((g) => g.dataset.name)"),
            (json{"gelu forward", "gelu kernel"}));
  EXPECT_EQ(ask("document.getElementById('status').textContent"), "2 of 4 boxes, 40% of the time");
  ask("search.value = ''; search.dispatchEvent(new Event('input'))");
  EXPECT_EQ(ask("document.querySelectorAll('.found').length"), 0);
}

TEST_F(FlamePage, FitsANarrowWindow) {
  add("step", 0, 100);
  open();
  browser_->resize(420, 700);
  EXPECT_LE(ask("new Promise((done) => setTimeout(() => done(frames[0].rect.getBoundingClientRect()"
                ".right), 200))"),
            421);
}

TEST_F(FlamePage, HoldsAnyName) {
  const std::vector<std::string> names = {
      "]]><script>alert(1)</script>", "<!--", "a & \"b\" 'c'", "x;y 5\nz", "\x1b[0m\x01", "\xff"};
  for (std::size_t i = 0; i < names.size(); ++i)
    add(names[i], static_cast<std::int64_t>(10 * i), static_cast<std::int64_t>(10 * i + 10));
  open();
  std::vector<std::string> shown = names;
  shown[3] = "x;y 5\\nz";
  shown[4] = "\\x1b[0m\\x01";
  shown[5] = "\\xff";
  std::sort(shown.begin(), shown.end());
  EXPECT_EQ(ask("frames.map((f) => f.name).sort()"), json(shown));
  EXPECT_EQ(ask("document.querySelectorAll('script').length"), 1);
}

}  // namespace
}  // namespace tilewright::cli
