// SPDX-License-Identifier: Apache-2.0
// cli/bench_html_keyboard_test.cpp — the page of `tilewright bench --html` by keyboard and for
// screen readers, with real key presses in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "bench/suite/explain.h"
#include "bench/suite/html.h"
#include "browser.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

suite::Record record_of(const std::string& way, double seconds, std::int64_t dim) {
  const double bytes = static_cast<double>(8 * dim * dim);
  suite::Record r;
  r.op = "gelu";
  r.way = way;
  r.device = "cpu";
  r.dtype = "float32";
  r.shape = {dim, dim};
  r.dim = dim;
  r.seconds = seconds * static_cast<double>(dim * dim);
  r.p10 = 0.9 * r.seconds;
  r.p90 = 1.2 * r.seconds;
  r.rate = bytes / r.seconds;
  r.unit = "B/s";
  r.percent_of_ceiling = 40;
  r.bytes = r.bytes_moved = bytes;
  r.flops = bytes;
  r.kernels = r.lines = 1;
  r.error = 1e-7;
  r.explanation = {{"bound by", "memory"}};
  suite::Evidence evidence;
  for (int i = 0; i < 3; ++i)
    evidence.timeline.push_back({"host", "event " + std::to_string(i), i * 1e-6, 1e-6});
  r.evidence = std::make_shared<const suite::Evidence>(std::move(evidence));
  return r;
}

// Two ways of three sizes, all that a page can have.
suite::Report sample_report() {
  suite::Report report;
  report.version = "1";
  report.command = "tilewright bench gelu --dim 16..64";
  report.date = "2026-11-16 16:30 UTC";
  report.device = "cpu";
  report.device_name = "a machine";
  report.ceilings = {1e10, 1e11, ""};
  for (const std::int64_t dim : {16, 32, 64})
    report.records.insert(report.records.end(),
                          {record_of("manual", 3e-9, dim), record_of("tile", 1e-9, dim)});
  report.fits = {{"manual", "float32", "dim", 2, 3}, {"tile", "float32", "dim", 2, 3}};
  return report;
}

class BenchPageKeys : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string program = find_program("chromium");
    if (program.empty()) GTEST_SKIP() << "chromium is not installed";
    const std::string page = folder_.path() + "/report.html";
    std::ofstream(page) << suite::report_html(sample_report());
    browser_ = std::make_unique<Browser>(program, folder_.path() + "/profile");
    browser_->resize(1200, 900);
    browser_->prefer_dark(false);
    browser_->open("file://" + page);
  }

  json ask(const std::string& expression) { return browser_->evaluate(expression); }
  void press(const std::string& key, bool shift = false) { browser_->press(key, shift); }
  // Puts the focus on an element as a user would have it there, keyboard last.
  void focus_on(const std::string& selector) {
    ask("document.querySelector('" + selector + "').focus({focusVisible: true})");
  }
  bool is_on(const std::string& selector) {
    return ask("document.activeElement.matches('" + selector + "')");
  }
  TemporaryFolder folder_;
  std::unique_ptr<Browser> browser_;
};

// Everything that can be operated, in the order of the page; closed tables are not there yet.
constexpr const char* stops =
    "[...document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]')]"
    ".filter((e) => e.checkVisibility())";

TEST_F(BenchPageKeys, TabReachesEverythingInOrderAndSeesIt) {
  const int count = ask(std::string("window.stops = ") + stops + "; stops.length");
  // A link, the colours, a sweep with two buttons, then pictures and tables.
  EXPECT_GE(count, 20);
  for (int i = 0; i < count; ++i) {
    press("Tab");
    const json now = ask(
        "(() => { const e = document.activeElement, s = getComputedStyle(e),"
        " b = e.getBoundingClientRect();"
        " return {at: stops.indexOf(e), what: e.outerHTML.slice(0, 80), line: s.outlineStyle,"
        " width: parseFloat(s.outlineWidth), marked: e.matches(':focus-visible'),"
        " seen: b.bottom > 0 && b.top < innerHeight && b.right > 0 && b.left < innerWidth}; })()");
    SCOPED_TRACE(now.dump());
    EXPECT_EQ(now["at"], i);
    EXPECT_EQ(now["line"], "solid");
    EXPECT_GE(now["width"], 2);
    EXPECT_TRUE(now["marked"]);
    EXPECT_TRUE(now["seen"]);
  }
  press("Tab");  // past the last one, out of the page: nothing holds the focus
  EXPECT_EQ(ask("stops.indexOf(document.activeElement)"), -1);
  focus_on("footer pre");
  for (int i = count - 2; i >= 0; --i) {
    press("Tab", true);
    EXPECT_EQ(ask("stops.indexOf(document.activeElement)"), i);
  }
}

TEST_F(BenchPageKeys, EnterAndSpaceOperateLinksButtonsAndTables) {
  press("Tab");
  EXPECT_TRUE(is_on("a.skip"));
  press("Enter");
  EXPECT_TRUE(is_on("main"));
  press("Tab");
  EXPECT_TRUE(is_on("main .legend button"));

  const auto theme = [&] { return ask("document.documentElement.dataset.theme"); };
  EXPECT_EQ(theme(), "light");
  focus_on("#theme");
  press("Enter");
  EXPECT_EQ(theme(), "dark");
  // A button says what it does, not what is.
  EXPECT_EQ(ask("document.activeElement.textContent"), "Light colours");
  press("Space");
  EXPECT_EQ(theme(), "light");
  EXPECT_EQ(ask("document.activeElement.textContent"), "Dark colours");

  focus_on("details summary");
  press("Enter");
  EXPECT_TRUE(ask("document.querySelector('details').open"));
  press("Tab");
  EXPECT_TRUE(is_on("details .scroll"));
  press("Tab", true);
  press("Space");
  EXPECT_FALSE(ask("document.querySelector('details').open"));
}

TEST_F(BenchPageKeys, LegendsAreButtons) {
  const auto is_shown = [&] {
    return ask("Chart.getChart(document.querySelector('canvas')).isDatasetVisible(0)");
  };
  focus_on(".legend button");
  EXPECT_EQ(ask("document.activeElement.textContent.trim().split(' ').pop()"), "manual");
  EXPECT_TRUE(is_shown());
  press("Space");
  EXPECT_FALSE(is_shown());
  EXPECT_EQ(ask("document.activeElement.getAttribute('aria-pressed')"), "false");
  ask("document.getElementById('theme').click()");  // charts are drawn anew
  EXPECT_FALSE(is_shown());
  press("Enter");
  EXPECT_TRUE(is_shown());
  EXPECT_EQ(ask("document.activeElement.getAttribute('aria-pressed')"), "true");
}

TEST_F(BenchPageKeys, ArrowsGoThroughTheValuesOfEveryChart) {
  const int charts = ask("charts.length");
  ASSERT_EQ(charts, 8);
  for (int i = 0; i < charts; ++i) {
    SCOPED_TRACE(i);
    const std::string chart = "charts[" + std::to_string(i) + "]";
    const auto said = [&] { return ask(chart + ".status.textContent").get<std::string>(); };
    const auto opacity = [&] { return ask(chart + ".chart.tooltip.opacity").get<double>(); };
    ask(chart + ".canvas.focus({focusVisible: true})");
    EXPECT_EQ(said(), "");
    press("ArrowRight");
    const std::string first = said();
    EXPECT_THAT(first, Not(IsEmpty()));
    EXPECT_EQ(opacity(), 1);
    press("ArrowDown");
    EXPECT_NE(said(), first);
    press("ArrowLeft");
    EXPECT_EQ(said(), first);
    press("End");
    EXPECT_NE(said(), first);
    press("Home");
    EXPECT_EQ(said(), first);
    press("Escape");
    EXPECT_EQ(said(), "");
    EXPECT_EQ(opacity(), 0);
    press("ArrowUp");
    press("Tab");
    EXPECT_EQ(said(), "");
  }
}

TEST_F(BenchPageKeys, WideTablesScrollByArrows) {
  browser_->resize(660, 700);
  focus_on("section > .scroll");
  // A browser on a busy machine may get the key before it has laid the page out anew: as a user
  // would, press again until the table moves.
  const auto moved = [&] {
    return ask(
        "new Promise((done) => setTimeout(() => done(document.activeElement.scrollLeft), 200))");
  };
  json now = 0;
  for (int i = 0; i < 50 && now == 0; ++i) {
    press("ArrowRight");
    now = moved();
  }
  EXPECT_GT(now, 0);
  EXPECT_LE(ask("document.documentElement.scrollWidth"), 660);  // the page itself does not
}

TEST_F(BenchPageKeys, NothingIsCutOnANarrowScreen) {
  ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
  for (const int width : {420, 320}) {
    browser_->resize(width, 900);
    EXPECT_LE(ask("new Promise((done) => setTimeout(() => done("
                  "document.documentElement.scrollWidth), 200))"),
              width);
    EXPECT_EQ(ask("[...document.querySelectorAll('.scroll, pre, dd, h1')].filter((e) => "
                  "e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML).join()"),
              "");
  }
  // Each cell stands beside the title of its column.
  EXPECT_EQ(ask("getComputedStyle(document.querySelector('section > .scroll td'), '::before')"
                ".content"),
            "\"time\"");
}

TEST_F(BenchPageKeys, WordsOfAxesHaveRoomOnANarrowScreen) {
  suite::Report report = sample_report();
  report.records.resize(2);
  report.records[0].way = "max-autotune-no-cudagraphs";
  report.records[1].seconds *= 1e6;  // six powers of ten, so that the axis is logarithmic
  const std::string page = folder_.path() + "/narrow.html";
  std::ofstream(page) << suite::report_html(report);
  browser_->resize(420, 900);
  browser_->open("file://" + page);
  const std::string scales = "charts.map((one) => one.chart.scales)";
  // A name in lines that fit; its whole text is left of the picture.
  EXPECT_EQ(ask(scales + "[0].y.ticks.map((one) => one.label)"),
            (json{{"max-autotune-no-", "cudagraphs"}, "tile"}));
  EXPECT_EQ(ask(scales + "[1].y.ticks[0].label"),
            (json{"max-autotune-no-", "cudagraphs: host"}));
  EXPECT_EQ(ask(scales + "[1].x.ticks[0].label"), "0");
  // Words of neighbours do not touch.
  EXPECT_EQ(ask("(() => { const x = charts[0].chart.scales.x, context = charts[0].chart.ctx;"
                "context.font = '12px system-ui, sans-serif';"
                "const shown = x.ticks.filter((one) => one.label);"
                "return shown.length >= 2 && shown.every((one, i) => i === 0 || "
                "x.getPixelForValue(one.value) - x.getPixelForValue(shown[i - 1].value) > "
                "(context.measureText(one.label).width + "
                "context.measureText(shown[i - 1].label).width) / 2 + 4); })()"),
            true);
  browser_->resize(1280, 900);
  browser_->open("file://" + page);
  EXPECT_EQ(ask(scales + "[0].y.ticks[0].label"), "max-autotune-no-cudagraphs");
}

TEST_F(BenchPageKeys, DoubtsAreShownAsInTheTable) {
  suite::Report report = sample_report();
  report.records.resize(2);
  report.records[0].runs = 20;  // and not stable
  report.records[1].status = suite::Status::Wrong;
  report.records[1].reason = "off by 1";
  const std::string page = folder_.path() + "/doubts.html";
  std::ofstream(page) << suite::report_html(report);
  browser_->open("file://" + page);
  EXPECT_EQ(ask("[...document.querySelectorAll('section > .scroll td:last-child')]"
                ".map((e) => e.textContent).slice(0, 2)"),
            (json{"not steady", "wrong: off by 1"}));
  EXPECT_EQ(ask("document.querySelectorAll('td.doubt').length"), 4);
  EXPECT_EQ(ask("charts[0].chart.data.datasets[0].words"),
            (json{"768 ns, not steady", "256 ns, wrong"}));
}

TEST_F(BenchPageKeys, AWayHasOneColourAndItsOwnIntensity) {
  suite::Report report = sample_report();
  report.records.resize(2);
  report.records[0].bytes_moved *= 9;  // nine kernels
  report.records[1].way = "torch.compile";
  report.records[1].bytes_moved = 0;
  const std::string page = folder_.path() + "/colours.html";
  std::ofstream(page) << suite::report_html(report);
  browser_->open("file://" + page);
  // Bars, timeline, roofline: the first dataset of the last is the line.
  ASSERT_EQ(ask("charts.length"), 3);
  const json bar = ask("charts[0].chart.data.datasets[0].backgroundColor");
  EXPECT_NE(bar[0], bar[1]);
  const json events = ask("charts[1].chart.data.datasets[0].backgroundColor");
  EXPECT_EQ(events, (json{bar[0], bar[0], bar[0], bar[1], bar[1], bar[1]}));
  EXPECT_EQ(ask("charts[2].chart.data.datasets.slice(1).map((d) => d.borderColor)"), bar);
  const json points = ask("charts[2].chart.data.datasets.slice(1).map((d) => d.data[0].x)");
  EXPECT_NEAR(points[0].get<double>(), 1.0 / 9, 1e-9);
  EXPECT_NEAR(points[1].get<double>(), 1, 1e-9);
  EXPECT_EQ(ask("charts[2].chart.data.datasets[2].data[0].perByte"), "at most 1.00");
  EXPECT_EQ(ask("[...document.querySelectorAll('figure .legend button')]"
                ".map((e) => e.textContent.slice(2))"),
            (json{"ceiling", "manual", "torch.compile"}));
}

TEST_F(BenchPageKeys, AScreenReaderIsToldEverything) {
  EXPECT_EQ(ask("document.documentElement.lang"), "en");
  EXPECT_EQ(ask("document.title"), "gelu, 3 sizes, float32 on a machine - tilewright bench");
  ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
  std::map<std::string, std::vector<std::string>> names;  // by role
  int level = 0;
  for (const Spoken& one : browser_->spoken()) {
    names[one.role].push_back(one.name);
    if (one.role != "heading") continue;
    EXPECT_LE(one.level, level + 1) << one.name;  // no level is left out
    level = one.level;
  }
  EXPECT_EQ(names["heading"].front(), "gelu, 3 sizes, float32 on a machine");
  for (const char* role : {"banner", "main", "contentinfo"})
    EXPECT_EQ(names[role].size(), 1u) << role;
  for (const char* role : {"heading", "button", "image", "region", "table", "columnheader"})
    EXPECT_THAT(names[role], AllOf(Not(IsEmpty()), Each(Not(IsEmpty())))) << role;
  EXPECT_THAT(names["image"], AllOf(SizeIs(8), Each(HasSubstr("manual"))));
  EXPECT_THAT(names["rowheader"], IsSupersetOf({"manual", "tile", "manual: host"}));
  EXPECT_EQ(ask("document.querySelectorAll('th:not([scope])').length"), 0);
  // Regions are told apart by their names.
  std::vector<std::string>& regions = names["region"];
  std::sort(regions.begin(), regions.end());
  const auto twice = std::adjacent_find(regions.begin(), regions.end());
  EXPECT_TRUE(twice == regions.end()) << *twice;
}

// The ratio that WCAG asks for: 4.5 for text, 3 for what is drawn.
TEST_F(BenchPageKeys, ColoursStandOutLightAndDark) {
  const std::string script = R"((() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
      const hex = style.getPropertyValue(name).trim();
      const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
        .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const low = [];
    for (const ground of ['--page', '--card']) {
      for (const text of ['--text', '--quiet', '--accent', '--bad', '--doubt'])
        if (!(ratio(text, ground) >= 4.5)) low.push(`${text} on ${ground}: ${ratio(text, ground)}`);
      for (let i = 0; i < 10; ++i)
        if (!(ratio(`--hue-${i}`, ground) >= 3)) low.push(`--hue-${i} on ${ground}: ${ratio(`--hue-${i}`, ground)}`);
    }
    return low.join(', ');
  })())";
  for (const bool dark : {false, true}) {
    browser_->prefer_dark(dark);
    EXPECT_EQ(ask("new Promise((done) => setTimeout(() => done("
                  "document.documentElement.dataset.theme), 50))"),
              dark ? "dark" : "light");
    EXPECT_EQ(ask(script), "");
  }
}

}  // namespace
}  // namespace tilewright::cli
