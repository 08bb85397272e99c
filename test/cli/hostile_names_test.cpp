// SPDX-License-Identifier: Apache-2.0
// cli/hostile_names_test.cpp — names of files and kernels, messages and prefixes that would end a
// comment, a string, a directive or a script of what is made from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include <fmt/format.h>

#include "bench/suite/html.h"
#include "browser.h"
#include "command.h"
#include "runtime/components.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* scale_source = R"(import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * 2, mask=i < n)
)";

// Runs when a text that holds it as code is loaded; what follows the name is left out.
constexpr const char* payload =
    "#ifndef H\n#define H\n"
    "int system(const char*) __asm__(\"system\"); static int h = system(\"touch $TW_MARKER\");\n"
    "#endif\n#pragma x ";

std::vector<std::string> hostile_names() {
  return {std::string("a\n") + payload,
          std::string("a\\\n") + payload,
          std::string("a\r") + payload,
          "a\" , 7",
          "a\\",
          "a?\?/",
          "a\\n\"\n.target sm_1",
          "*/ int a; /*",
          "a\n#error named",
          "\u2028\u202e\u0085",
          "<!--<script>",
          "$(touch $TW_MARKER)`touch $TW_MARKER`;'",
          "%s%n {} {0}",
          "\xff\xfe",
          "\x1b[31m",
          "tilewright",
          "é漢"};
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool can_compile_cuda() {
  for (const ComponentStatus& component : cuda_components())
    if (component.name == "NVRTC") return component.is_usable();
  return false;
}

// Without comments, directives that name the file, and the bytes of the binary.
std::string code_of(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    const bool is_code = first != std::string::npos && line.compare(first, 2, "//") != 0 &&
                         std::isdigit(static_cast<unsigned char>(line[first])) == 0;
    if (is_code) out += line + "\n";
  }
  return out;
}

class HostileNames : public ::testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text = scale_source) {
    const fs::path path = folder_.path() + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string marker() const { return folder_.path() + "/marker"; }
  CommandResult command(const std::vector<std::string>& arguments) {
    return tilewright_command(arguments, {"TW_MARKER=" + marker()});
  }
  TemporaryFolder folder_;
};

TEST_F(HostileNames, OfFilesChangeNothingOfTheGeneratedCode) {
  const auto compiled = [&](const std::string& name) {
    const std::string file = make(name + ".py"), out = folder_.path() + "/out";
    fs::remove_all(out);
    std::vector<std::string> arguments = {
        "compile", file, "--signature", "*fp32:16,*fp32,i32,1024", "--target", "cpu",
        "-o",      out,  "--emit"};
    arguments.push_back(can_compile_cuda() ? "cuda,cpp,header,ptx" : "cpp");
    if (can_compile_cuda()) arguments.insert(arguments.end(), {"--target", "sm_80"});
    const CommandResult r = command(arguments);
    EXPECT_EQ(r.exit_code, 0) << name << "\n" << r.error;
    std::vector<std::string> texts;
    for (const char* ending : {".cu", ".cpp", ".h"})
      for (const fs::directory_entry& entry : fs::directory_iterator(out))
        if (entry.path().extension() == ending) texts.push_back(code_of(read(entry.path())));
    EXPECT_EQ(texts.size(), can_compile_cuda() ? 3u : 1u);
    return texts;
  };
  const auto plain = compiled("plain");
  for (const std::string& name : hostile_names()) EXPECT_EQ(compiled(name), plain) << name;
  EXPECT_FALSE(fs::exists(marker()));
}

TEST_F(HostileNames, OfFilesAreNotRunByGuess) {
  const std::string tree = folder_.path() + "/" + "dir\n" + payload;
  fs::create_directory(tree);
  std::ofstream(tree + "/plain.py") << scale_source;
  std::size_t count = 1;
  for (const std::string& name : hostile_names()) {
    if (name.find('/') != std::string::npos) continue;
    std::ofstream(tree + "/" + name + ".py") << scale_source;
    ++count;
  }
  const CommandResult r = command({"run", tree, "--guess"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr(fmt::format("of {0}: {0} agrees\n", count)));
  EXPECT_FALSE(fs::exists(marker()));
  // A row of the table is a line.
  EXPECT_EQ(std::count(r.output.begin(), r.output.end(), '\n'), static_cast<long>(count + 2));
  EXPECT_THAT(r.output, Not(HasSubstr("\x1b")));
}

TEST_F(HostileNames, OfSourcesInCudaCompile) {
  if (!can_compile_cuda()) GTEST_SKIP() << "NVRTC is not here";
  for (const std::string& name : hostile_names()) {
    const std::string file =
        make(name + ".cu", "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1; }\n");
    const CommandResult r = command({"compile", file, "--target", "sm_80"});
    EXPECT_EQ(r.exit_code, 0) << name << "\n" << r.error;
  }
}

TEST_F(HostileNames, OfTheCurrentFolderDoNotReachPtx) {
  if (!can_compile_cuda()) GTEST_SKIP() << "NVRTC is not here";
  const std::string file = make("k.py");
  const auto compile_in = [&](const std::string& folder, const std::string& option) {
    fs::create_directory(folder_.path() + "/" + folder);
    return run_process(
        {.arguments = {"sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh",
                       folder_.path() + "/" + folder, tilewright_path(), "compile", file,
                       "--signature", "*fp32,*fp32,i32,1024", "--target", "sm_80", option},
         .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
         .timeout_seconds = 120});
  };
  const ProcessResult r = compile_in("q\"x\n.visible", "-O3");
  EXPECT_EQ(r.exit_code, 0) << r.output;
  const ProcessResult debug = compile_in("q\\", "-G");
  EXPECT_EQ(debug.exit_code, 1);
  EXPECT_THAT(debug.output, HasSubstr("the current folder has a name that PTX cannot hold"));
}

TEST_F(HostileNames, OfFilesAreReadBackFromTheIr) {
  for (const std::string& name : hostile_names()) {
    const std::string file = make(name + ".py");
    const CommandResult ir = command({"compile", file, "--signature", "*fp32,*fp32,i32,1024",
                                      "--target", "cpu", "--emit", "ir"});
    ASSERT_EQ(ir.exit_code, 0) << ir.error;
    const std::string text = ir.output.substr(0, ir.output.find("// ---- stage Tile"));
    const CommandResult again = command({"opt", make("k.tir", text)});
    EXPECT_EQ(again.exit_code, 0) << again.error;
    const auto files_of = [](const std::string& kernel) {
      const std::string head = kernel.substr(0, kernel.find('\n'));
      return head.substr(head.find(" \""));
    };
    EXPECT_EQ(files_of(again.output), files_of(text));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

// Words of C++, functions of CUDA, another script, and names that the launcher uses itself.
TEST_F(HostileNames, OfKernelsAndParametersMayBeWordsOfCpp) {
  if (!can_compile_cuda()) GTEST_SKIP() << "NVRTC is not here";
  for (const char* name : {"double", "min", "f32", "tw", "asm", "__global__", "printf", "threadIdx",
                           "naïve", "expf", "ядро"}) {
    std::string text = scale_source;
    text.replace(text.find("scale"), 5, name);
    const CommandResult r =
        command({"compile", make("k.py", text), "--signature", "*fp32,*fp32,i32,1024", "--target",
                 "cpu", "--target", "sm_80"});
    EXPECT_EQ(r.exit_code, 0) << name << "\n" << r.error;
    EXPECT_THAT(r.output, HasSubstr("registers"));
  }
  const CommandResult r = command({"run",
                                   make("r.py",
                                        "import triton\nimport triton.language as tl\n@triton.jit\n"
                                        "def double(int, stream, новый: tl.constexpr):\n"
                                        "    i = tl.arange(0, новый)\n"
                                        "    tl.store(int + i, tl.load(stream + i) * 2)\n"),
                                   "--device", "cpu", "--grid", "1", "int=zeros:f32[8]",
                                   "stream=ones:f32[8]", "новый=8"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("2"));
}

TEST_F(HostileNames, OfParametersOfALauncherAreItsOwn) {
  if (!can_compile_cuda()) GTEST_SKIP() << "NVRTC is not here";
  const std::string text =
      "import triton\nimport triton.language as tl\n@triton.jit\n"
      "def copy(stream, grid, arguments, int, B: tl.constexpr):\n"
      "    i = tl.arange(0, B)\n    tl.store(grid + i, tl.load(stream + i) + arguments + int)\n";
  const CommandResult r =
      command({"compile", make("k.py", text), "--signature", "*fp32,*fp32,i32,i32,64", "--target",
               "sm_80", "--emit", "header"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("inline CUresult copy(CUstream stream, copy_grid grid, "
                                  "float* stream_2, float* grid_2, std::int32_t arguments_2, "
                                  "std::int32_t int_v)"));
  EXPECT_THAT(r.output,
              HasSubstr("void* arguments[] = {&stream_2, &grid_2, &arguments_2, &int_v}"));
}

TEST_F(HostileNames, OfMessagesAndPrefixesAreKeptAsTheyAre) {
  if (!can_compile_cuda()) GTEST_SKIP() << "NVRTC is not here";
  const std::string text =
      "import triton\nimport triton.language as tl\n@triton.jit\n"
      "def shout(x, n, B: tl.constexpr):\n"
      "    tl.device_print('a\"\\\\ ?\?/ %s </script>|', tl.load(x))\n"
      "    tl.device_assert(n < 1, '\"); system(\"touch $TW_MARKER\"); //\\\\')\n"
      "    tl.store(x + tl.arange(0, B), 1.0)  # a comment that ends so \\\\\n";
  const std::string file = make("k.py", text);
  const CommandResult compiled = command({"compile", file, "--signature", "*fp32,i32,64",
                                          "--target", "cpu", "--target", "sm_80", "--debug"});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.error;
  const CommandResult run = command(
      {"run", file, "--device", "cpu", "--debug", "--grid", "1", "x=zeros:f32[64]", "n=3", "B=64"});
  EXPECT_THAT(run.output, HasSubstr("a\"\\ ?\?/ %s </script>|"));
  EXPECT_THAT(run.error, HasSubstr("assertion failed: \"); system(\"touch $TW_MARKER\"); //\\"));
  EXPECT_FALSE(fs::exists(marker()));
}

// ---- Pages.

suite::Report hostile_report(const std::string& text) {
  suite::Report report;
  report.version = text;
  report.command = "tilewright bench " + text;
  report.device = report.device_name = report.rivals = report.clock_note = text;
  report.ceilings = {1e10, 1e11, text};
  suite::Record record;
  record.op = record.way = record.device = record.note = text;
  record.dtype = "float32";
  record.shape = {16, 16};
  record.seconds = record.p10 = record.p90 = 1e-6;
  record.rate = 1e9;
  record.unit = "B/s";
  record.bytes = record.bytes_moved = record.flops = 2048;
  record.explanation = {{text, text}};
  report.records = {record};
  return report;
}

TEST_F(HostileNames, OfWaysStandOnThePageAsTheyAre) {
  const std::string program = find_program("chromium");
  if (program.empty()) GTEST_SKIP() << "chromium is not installed";
  Browser browser(program, folder_.path() + "/profile");
  for (const std::string text :
       {"<!--<script>", "</script><script>problems.push(1)</script>", "\u2028'\"\\</title>",
        "@DATA@ @CHART@ @COMMAND@", "<img src=x onerror=problems.push(1)>", "a & b &lt; ]]> -->"}) {
    std::ofstream(folder_.path() + "/page.html") << suite::report_html(hostile_report(text));
    browser.open("file://" + folder_.path() + "/page.html");
    SCOPED_TRACE(text);
    EXPECT_EQ(browser.evaluate("document.documentElement.dataset.problems"), "0");
    EXPECT_EQ(browser.evaluate("document.documentElement.dataset.charts"), "2");
    EXPECT_EQ(browser.evaluate("document.querySelector('tbody th').textContent"), text);
    EXPECT_EQ(browser.evaluate("document.getElementById('command').textContent"),
              "tilewright bench " + text);
    EXPECT_EQ(browser.evaluate("document.title"),
              text + " 16x16 float32 on " + text + " - tilewright bench");
  }
}

TEST_F(HostileNames, OfFilesStandOnPagesAndInCommandsAsTheyAre) {
  const std::string name = "a'\" <!--<script>\n$(x).py";
  const std::string source =
      "import triton\nimport triton.language as tl\n@triton.jit\n"
      "def g(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n"
      "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
      "    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)\n"
      "    t = 0.79788456 * (x + 0.044715 * x * x * x)\n"
      "    y = x * (1 - 1 / (tl.exp(2 * t) + 1))\n"
      "    tl.store(y_ptr + i, y, mask=i < n)\n";
  const std::string page = folder_.path() + "/page.html";
  const CommandResult r = command({"bench", make(name, source) + ":g", "--like", "gelu", "--ways",
                                   "tile", "--dim", "16", "--device", "cpu", "--trials", "2",
                                   "--no-ceiling", "--html", page, "--markdown"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  const std::string html = read(page);
  EXPECT_THAT(html, HasSubstr("a'\\\\''\\\" \\u003c!--\\u003cscript\\u003e\\n$(x).py:g'"));
  EXPECT_THAT(html, HasSubstr("a&#39;\\&#39;&#39;&quot; &lt;!--&lt;script&gt;\n$(x).py:g&#39;"));
  EXPECT_THAT(html, Not(HasSubstr("<!--<script>")));
}

}  // namespace
}  // namespace tilewright::cli
