// SPDX-License-Identifier: Apache-2.0
// cli/step_html_test.cpp — the page of `tilewright step --html`, in a real browser where there is
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "browser.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two programs copy 8 elements each, the last of which are masked off; the third store is outside.
constexpr const char* traced_source = R"(import triton
import triton.language as tl

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i < n)

@triton.jit
def tile(x, out, N: tl.constexpr):
    r = tl.arange(0, N)[:, None] + tl.program_id(0) * N
    c = tl.arange(0, N)[None, :]
    tl.store(out + r * 16 + c, tl.load(x + r * 16 + c))

@triton.jit
def outside(x, out):
    tl.store(out + tl.arange(0, 8), 1.0)

@triton.jit
def many(x, out):
    for r in range(0, 30000):
        tl.store(out, r * 1.0)
)";

class StepPage : public ::testing::Test {
 protected:
  StepPage() { std::ofstream(folder_.path() + "/k.py") << traced_source; }

  CommandResult make(const std::string& kernel, std::vector<std::string> more) {
    more.insert(more.begin(), {"step", folder_.path() + "/k.py:" + kernel, "--html", page_});
    return tilewright_command(more);
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(page_).rdbuf();
    return text.str();
  }
  Json data() const {
    const std::string page = text();
    const std::string begin = "id=\"data\">";
    const std::size_t at = page.find(begin) + begin.size();
    return parse_json(page.substr(at, page.find("</script>", at) - at));
  }

  TemporaryFolder folder_;
  std::string page_ = folder_.path() + "/trace.html";
  const std::vector<std::string> copy_ = {"--grid",           "2",    "x=randn:f32[n]",
                                          "out=empty:f32[n]", "n=13", "BLOCK=8"};
};

TEST_F(StepPage, HasEveryAccessOfEveryProgram) {
  const CommandResult r = make("copy", copy_);
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(r.output, "copy: 4 accesses to memory are in " + page_ + "\n");
  EXPECT_THAT(text(), Not(HasSubstr("<script src")));
  EXPECT_THAT(text(), HasSubstr("2 programs in a grid of 2 x 1 x 1, 4 accesses to memory"));
  const Json page = data();
  EXPECT_EQ(page["tensors"].dump(), R"([{"name":"x","dtype":"float32","shape":[13]},)"
                                    R"({"name":"out","dtype":"float32","shape":[13]}])");
  // Program, file, line, kind, tensor, runs, masked off, outside.
  const auto access = [&](std::size_t i) {
    Json each = page["accesses"][i];
    each.erase(8);
    return each.dump();
  };
  ASSERT_EQ(page["accesses"].size(), 4u);
  EXPECT_EQ(access(0), "[0,0,7,0,0,[0,8,1,0],0,0]");
  EXPECT_EQ(access(1), "[0,0,8,1,1,[0,8,1,0],0,0]");
  EXPECT_EQ(access(2), "[1,0,7,0,0,[8,5,1,0],3,0]");
  EXPECT_EQ(access(3), "[1,0,8,1,1,[8,5,1,0],3,0]");
  EXPECT_THAT(page["accesses"][3][8], HasSubstr("float32[8]  min "));
}

TEST_F(StepPage, ATileIsOneRunOfRowsAndWhatIsOutsideIsCounted) {
  ASSERT_EQ(
      make("tile", {"--grid", "2", "x=randn:f32[16,16]", "out=empty:f32[16,16]", "N=8"}).exit_code,
      0);
  EXPECT_EQ(data()["accesses"][2][5].dump(), "[128,8,8,16]");
  ASSERT_EQ(make("outside", {"--grid", "1", "x=zeros:f32[8]", "out=zeros:f32[5]"}).exit_code, 0);
  EXPECT_EQ(data()["accesses"][0][7], 3);
}

TEST_F(StepPage, OfALongLaunchEndsAndSaysSo) {
  const CommandResult r = make("many", {"--grid", "3", "x=zeros:f32[1]", "out=zeros:f32[1]"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("many: 20000 accesses to memory"));
  EXPECT_THAT(text(), HasSubstr("the record ends with program 1 of 3"));
}

TEST_F(StepPage, WrongCommandLinesAreSentences) {
  std::vector<std::string> both = copy_;
  both.emplace_back("--dap");
  EXPECT_EQ(make("copy", both).error,
            "tilewright: --html writes a page and --dap speaks to an editor; give one of them\n");
  page_ = "/nowhere/trace.html";
  EXPECT_EQ(make("copy", copy_).error,
            "tilewright: cannot write '/nowhere/trace.html': No such file or directory\n");
}

// ---- In a browser.

class StepPageInBrowser : public StepPage {
 protected:
  void open(const std::string& kernel, const std::vector<std::string>& arguments) {
    ASSERT_EQ(make(kernel, arguments).exit_code, 0);
    browser_.emplace(find_program("chromium"), folder_.path() + "/profile");
    browser_->open("file://" + page_);
  }
  std::string shown(const std::string& expression) { return browser_->evaluate(expression).dump(); }
  // Cells of tensor i that are touched now, and that were before.
  std::string touched(int i) {
    return shown(
        "(c => c.dataset.now + ' ' + c.dataset.past)(document.querySelectorAll('canvas')[" +
        std::to_string(i) + "])");
  }
  std::optional<Browser> browser_;
};

TEST_F(StepPageInBrowser, TimeIsDraggedByKeysAndElementsAreColoured) {
  if (find_program("chromium").empty()) GTEST_SKIP() << "chromium is not installed";
  open("copy", copy_);
  EXPECT_EQ(touched(0), "\"8 0\"");
  EXPECT_EQ(touched(1), "\"0 0\"");
  EXPECT_THAT(shown("document.getElementById('now').textContent"),
              HasSubstr("Program (0, 0, 0), line 7: load of 8 elements of x. float32[8]"));
  shown("document.getElementById('time').focus()");
  browser_->press("ArrowRight");
  EXPECT_EQ(touched(0), "\"0 8\"");
  EXPECT_EQ(touched(1), "\"8 0\"");
  browser_->press("End");
  EXPECT_EQ(touched(1), "\"5 8\"");
  EXPECT_THAT(shown("document.getElementById('now').textContent"),
              HasSubstr("Program (1, 0, 0), line 8: store of 5 elements of out, 3 masked off."));
  EXPECT_THAT(shown("document.querySelector('.here').textContent"),
              HasSubstr("   8      tl.store(out + i, v, mask=i < n)"));
  browser_->press("Home");
  EXPECT_EQ(touched(1), "\"0 0\"");  // back in time nothing is left of later
  // What is read now has a strong colour, what was not touched yet has none.
  const std::string pixel =
      "(x => [...document.querySelector('canvas').getContext('2d')"
      ".getImageData(x * document.querySelector('canvas').width, 3, 1, 1).data])";
  EXPECT_NE(shown(pixel + "(1 / 26)"), shown(pixel + "(25 / 26)"));
  EXPECT_EQ(shown(pixel + "(1 / 26)"), shown(pixel + "(13 / 26)"));
}

TEST_F(StepPageInBrowser, ProgramsRunAtOnceOrOneIsChosenAndCellsTellWhoTouchesThem) {
  if (find_program("chromium").empty()) GTEST_SKIP() << "chromium is not installed";
  open("copy", copy_);
  const auto choose = [&](const std::string& id, const std::string& value) {
    shown("(e => { e.value = '" + value +
          "'; e.dispatchEvent(new Event('change')); })(document.getElementById('" + id + "'))");
  };
  choose("order", "together");
  EXPECT_EQ(shown("document.getElementById('count').textContent"), "\"1 of 2\"");
  EXPECT_EQ(touched(0), "\"13 0\"");
  EXPECT_THAT(shown("document.getElementById('now').textContent"),
              HasSubstr("2 programs at line 7."));
  choose("program", "1,0,0");
  EXPECT_EQ(touched(0), "\"5 0\"");
  choose("program", "2");
  EXPECT_EQ(shown("document.getElementById('problem').textContent"),
            "\"no program of a grid of 2 x 1 x 1\"");
  choose("program", "all");
  shown("document.querySelectorAll('canvas')[1].focus()");
  for (int i = 0; i < 9; ++i) browser_->press("ArrowRight");
  EXPECT_EQ(shown("document.querySelectorAll('.about')[1].textContent"),
            "\"out[9]: store of program (1, 0, 0) at line 8\"");
}

TEST_F(StepPageInBrowser, FitsWideAndNarrowScreens) {
  if (find_program("chromium").empty()) GTEST_SKIP() << "chromium is not installed";
  open("tile", {"--grid", "2", "x=randn:f32[400,400]", "out=empty:f32[400,400]", "N=8"});
  for (const int width : {1280, 420}) {
    browser_->resize(width, 900);
    EXPECT_EQ(shown("document.documentElement.scrollWidth <= innerWidth"), "true") << width;
    EXPECT_EQ(shown("[...document.querySelectorAll('canvas')].every(c => "
                    "c.getBoundingClientRect().right <= innerWidth && "
                    "c.getBoundingClientRect().width > 150)"),
              "true")
        << width;
    // Beside the memory where there is room, below it where there is none.
    EXPECT_EQ(shown("document.querySelector('pre').getBoundingClientRect().top > "
                    "document.querySelector('canvas').getBoundingClientRect().bottom"),
              width == 420 ? "true" : "false");
  }
}

}  // namespace
}  // namespace tilewright::cli
