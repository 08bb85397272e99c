// SPDX-License-Identifier: Apache-2.0
// cli/step_test.cpp — `tilewright step` by scripts.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quote.h"
#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* stepped_source = R"(import triton
import triton.language as tl

@triton.jit
def double(v):
    w = v * 2
    return w + 1

@triton.jit
def k(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)

    v = tl.load(x + i, mask=i < n, other=0.0)
    y = double(v)
    acc = tl.zeros([BLOCK], tl.float32)
    for r in range(0, 3):
        acc += y
        y = y * 0.5
    tl.store(out + i, acc, mask=i < n)
    tl.store(out + i, tl.load(out + i, mask=i < n) + 1, mask=i < n)

@triton.jit
def outside(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i)

@triton.jit
def endless(x):
    while tl.load(x) < 1:
        tl.store(x, tl.load(x) * 0.5)
)";

class Step : public ::testing::Test {
 protected:
  Step() { std::ofstream(file_) << stepped_source; }

  // Everything that is printed for these commands, a line each.
  std::string session(const std::string& commands,
                      const std::string& launch =
                          "k --grid 'cdiv(n, BLOCK)' x=arange:f32[n] out=zeros:f32[n] n=20 BLOCK=8",
                      int expected_code = 0) {
    std::ofstream(folder_.path() + "/commands") << commands;
    const ProcessResult r = run_process(
        {.arguments = {"sh", "-c",
                       "cd " + shell_word(folder_.path()) + " && " + shell_word(tilewright_path()) +
                           " step k.py:" + launch + " < commands"},
         .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
         .timeout_seconds = 60});
    EXPECT_EQ(r.exit_code, expected_code) << r.output;
    return r.output;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.path() + "/k.py";
};

TEST_F(Step, NextGoesOverCallsAndIntoEntersThem) {
  EXPECT_EQ(session("next\nnext\nprint v\ninto\nwhere\ninto\nprint w\nout\nprint y\n"),
            R"(program (0, 0, 0), k.py:11
->   11     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
program (0, 0, 0), k.py:13
->   13     v = tl.load(x + i, mask=i < n, other=0.0)
program (0, 0, 0), k.py:14
->   14     y = double(v)
v = float32[8]  min 0  max 7  NaN 0
  0, 1, 2, 3, 4, 5, 6, 7
program (0, 0, 0), k.py:6
->    6     w = v * 2
double at line 6
k at line 14
program (0, 0, 0), k.py:7
->    7     return w + 1
w = float32[8]  min 0  max 14  NaN 0
  0, 2, 4, 6, 8, 10, 12, 14
program (0, 0, 0), k.py:15
->   15     acc = tl.zeros([BLOCK], tl.float32)
y = float32[8]  min 1  max 15  NaN 0
  1, 3, 5, 7, 9, 11, 13, 15
)");
}

TEST_F(Step, BreakpointsMoveToLinesThatDoSomethingAndHaveConditions) {
  const std::string text =
      session("break 12\nbreak 17 if r == 2\nbreak 99\ncontinue\nc\nprint r\nprint acc[1:3]\n");
  EXPECT_THAT(text, HasSubstr("line 12 does nothing by itself; the breakpoint is at line 13\n"
                              "breakpoint at line 13\n"
                              "breakpoint at line 17 if r == 2\n"
                              "no line from 99 on does anything\n"
                              "breakpoint at line 13\n"
                              "program (0, 0, 0), k.py:13\n"));
  EXPECT_THAT(text, HasSubstr("breakpoint at line 17: r == 2\nprogram (0, 0, 0), k.py:17\n"));
  EXPECT_THAT(text, HasSubstr("r = int32  2\nacc[1:3] = float32  min 4.5  max 7.5  NaN 0\n"
                              "  4.5, 7.5\n"));
}

TEST_F(Step, BackUndoesWhatTheProgramWrote) {
  const std::string text = session(
      "break 20\nc\nprint tl.load(out + i)\nback\nprint tl.load(out + i)\nprint acc[0]\nnext\n"
      "print tl.load(out + i)\n");
  EXPECT_THAT(text, HasSubstr("tl.load(out + i) = float32[8]  min 1.75  max 26.25  NaN 0\n"));
  EXPECT_THAT(text, HasSubstr("program (0, 0, 0), k.py:19\n"
                              "->   19     tl.store(out + i, acc, mask=i < n)\n"
                              "tl.load(out + i) = float32[8]  min 0  max 0  NaN 0\n"));
  EXPECT_THAT(text, HasSubstr("acc[0] = float32  1.75\nprogram (0, 0, 0), k.py:20\n"));
  EXPECT_THAT(session("back\n"), HasSubstr("this is the first line of the program\n"));
}

// Rounds of a few milliseconds: going back begins at checkpoints in the loop, not at its begin.
TEST_F(Step, BackInALongLoopGivesTheValuesThatWereThere) {
  std::ofstream(folder_.path() + "/k.py") << R"(import triton
import triton.language as tl

@triton.jit
def long(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    acc = tl.zeros([N, N], tl.float32)
    for r in range(0, 30):
        acc = tl.dot(a, a * r, acc)
        if r % 2 == 0:
            acc = acc * 0.5
        tl.store(out + r, tl.sum(tl.sum(acc, 1)))
)";
  const std::string launch = "long --grid 1 x=randn:f32[64,64] out=zeros:f32[30] N=64";
  const auto seen = [&](const std::string& commands) {
    const std::string text = session(commands, launch);
    return text.substr(text.rfind("program (0, 0, 0)"));
  };
  const std::string look =
      "print r\nprint acc\nprint tl.sum(tl.load(out + tl.arange(0, 32) % 30))\n";
  const std::string there = seen("break 13 if r == 17\nc\n" + look);
  EXPECT_THAT(there, HasSubstr("k.py:13\n"));
  EXPECT_THAT(there, HasSubstr("r = int32  17\n"));
  // Four lines for two rounds and one more line.
  std::string back;
  for (int i = 0; i < 7; ++i) back += "back\n";
  EXPECT_EQ(seen("break 13 if r == 19\nc\n" + back + look), there);
  for (int i = 0; i < 7; ++i) back += "back\n";
  EXPECT_EQ(seen("break 13 if r == 21\nc\n" + back + look), there);
  EXPECT_THAT(session("break 13 if r == 21\nc\n" + back + "watch acc\nbreak 10\nc\nnext\n", launch),
              HasSubstr("'acc' has changed at line 10\n"));
}

TEST_F(Step, WatchStopsWhereANameChanges) {
  const std::string text = session("break 16\nc\nwatch acc\nc\nprint acc[0]\nc\nprint acc[0]\n");
  EXPECT_THAT(text, HasSubstr("'acc' is watched\n'acc' has changed at line 17\n"
                              "program (0, 0, 0), k.py:18\n->   18         y = y * 0.5\n"
                              "acc[0] = float32  1\n'acc' has changed at line 17\n"));
  EXPECT_THAT(text, HasSubstr("acc[0] = float32  1.5\n"));
}

TEST_F(Step, ProgramsAreReachedForwardsAndBackwards) {
  const std::string text = session(
      "program 2\nnext\nprint i\nprogram 1,0,0\nnext\nprint i[0]\nprint tl.load(out)\n"
      "program 0\nprint tl.load(out)\nprogram 7\n");
  EXPECT_THAT(text, HasSubstr("program (2, 0, 0), k.py:11\n"));
  EXPECT_THAT(text, HasSubstr("i = int32[8]  min 16  max 23\n"));
  EXPECT_THAT(text, HasSubstr("i[0] = int32  8\ntl.load(out) = float32  2.75\n"));
  EXPECT_THAT(text, HasSubstr("program (0, 0, 0), k.py:11\n"));
  EXPECT_THAT(text, HasSubstr("tl.load(out) = float32  0\n"));
  EXPECT_THAT(text, HasSubstr("'7' is no program of a grid of 3 x 1 x 1; write program X,Y,Z\n"));
}

TEST_F(Step, ExpressionsMapsAndMistakes) {
  const std::string text = session(
      "break 15\nc\nprint tl.sum(v) / n\nprint BLOCK\nheat v\nprint nothing\nprint tl.sum(v\n"
      "print v[9]\nfly\nprint i < 4\n");
  EXPECT_THAT(text, HasSubstr("tl.sum(v) / n = float32  1.4\nBLOCK = the constant 8\n"
                              "from ' ' = 0 to '@' = 7, NaN '?'\n  | .-=+*%@|\n"
                              "'nothing' has no value here; locals lists what has\n"));
  EXPECT_THAT(text, HasSubstr("'(' was never closed"));
  EXPECT_THAT(text, HasSubstr("'9' is outside of a dimension of 8\n"
                              "there is no command 'fly'; help lists them\n"
                              "i < 4 = bool[8]  true 4 of 8\n"));
}

TEST_F(Step, AFailingKernelStopsWhereItFailsWithItsValues) {
  const std::string text =
      session("continue\nprint i\nc\n", "outside --grid 1 x=zeros:i32[4] BLOCK=8", 1);
  EXPECT_THAT(text,
              HasSubstr("the kernel fails here: store writes index 4 of buffer 'x', which has "
                        "4 elements of int32\nprogram (0, 0, 0), k.py:25\n"));
  EXPECT_THAT(text, HasSubstr("i = int32[8]  min 0  max 7\n"));
}

TEST_F(Step, AnEndlessLoopCanBeInterruptedAndLookedAt) {
  const std::string commands = folder_.path() + "/commands";
  std::ofstream(commands) << "c\nprint tl.load(x)\nquit\n";
  const ProcessResult r = run_process(
      {.arguments =
           {"sh", "-c",
            "in=$1; shift; timeout --foreground --preserve-status -s INT 1 \"$@\" < \"$in\"", "sh",
            commands, tilewright_path(), "step", file_ + ":endless", "--grid", "1",
            "x=zeros:f32[1]"},
       .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
       .timeout_seconds = 30});
  EXPECT_EQ(r.exit_code, 0) << r.output;
  EXPECT_THAT(r.output,
              ::testing::ContainsRegex("interrupted\nprogram .0, 0, 0., .*k.py:(29|30)\n"));
  EXPECT_THAT(r.output, HasSubstr("tl.load(x) = float32  0\n"));
}

// ---- The Debug Adapter Protocol.

std::string framed(int sequence, const std::string& command, const std::string& arguments = "{}") {
  const std::string text = R"({"seq": )" + std::to_string(sequence) +
                           R"(, "type": "request", "command": ")" + command +
                           R"(", "arguments": )" + arguments + "}";
  return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

std::vector<Json> messages_in(const std::string& output) {
  std::vector<Json> messages;
  for (std::size_t at = output.find("Content-Length: "); at != std::string::npos;) {
    const std::size_t length = std::stoul(output.substr(at + 16));
    const std::size_t begin = output.find("\r\n\r\n", at) + 4;
    messages.push_back(parse_json(output.substr(begin, length)));
    at = output.find("Content-Length: ", begin + length);
  }
  return messages;
}

TEST_F(Step, AnEditorStepsByTheDebugAdapterProtocol) {
  int sequence = 0;
  std::string requests;
  const auto ask = [&](const std::string& command, const std::string& arguments = "{}") {
    requests += framed(++sequence, command, arguments);
    return sequence;
  };
  ask("initialize");
  ask("launch", R"({"stopOnEntry": false})");
  ask("setBreakpoints", R"({"source": {"path": "k.py"}, "breakpoints": [{"line": 12}]})");
  const int elsewhere =
      ask("setBreakpoints", R"({"source": {"path": "other.py"}, "breakpoints": [{"line": 3}]})");
  ask("configurationDone");
  ask("threads");
  ask("next");
  ask("stepIn");
  const int stack = ask("stackTrace", R"({"threadId": 1})");
  ask("stepOut");
  ask("scopes", R"({"frameId": 1})");
  const int variables = ask("variables", R"({"variablesReference": 1})");
  const int value = ask("evaluate", R"({"expression": "tl.sum(y) / n"})");
  const int wrong = ask("evaluate", R"({"expression": "nothing"})");
  ask("stepBack");
  const int unknown = ask("fly");
  ask("disconnect");
  const std::vector<Json> messages = messages_in(session(
      requests, "k --dap --grid 'cdiv(n, BLOCK)' x=arange:f32[n] out=zeros:f32[n] n=20 BLOCK=8"));
  std::map<int, Json> answers;
  std::vector<std::string> stops;
  int moved_to = 0;
  for (const Json& message : messages) {
    if (message["type"] == "event" && message["event"] == "breakpoint")
      moved_to = message["body"]["breakpoint"]["line"];
    if (message["type"] == "response") answers[message["request_seq"].get<int>()] = message;
    if (message["type"] == "event" && message["event"] == "stopped")
      stops.push_back(message["body"]["reason"]);
  }
  EXPECT_EQ(answers.size(), static_cast<std::size_t>(sequence));
  EXPECT_EQ(answers[1]["body"]["supportsStepBack"], true);
  EXPECT_EQ(stops, (std::vector<std::string>{"breakpoint", "step", "step", "step", "step"}));
  EXPECT_EQ(moved_to, 13);  // line 12 is empty
  EXPECT_EQ(answers[elsewhere]["body"]["breakpoints"][0]["verified"], false);
  const Json& frames = answers[stack]["body"]["stackFrames"];
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0]["name"], "double");
  EXPECT_EQ(frames[0]["line"], 6);
  EXPECT_EQ(frames[0]["source"]["path"], file_);
  EXPECT_EQ(frames[1]["name"], "k");
  EXPECT_EQ(frames[1]["line"], 14);
  EXPECT_THAT(answers[variables]["body"].dump(), HasSubstr("float32[8]  min 1  max 15  NaN 0"));
  EXPECT_EQ(answers[value]["body"]["result"], "float32  3.2");
  EXPECT_EQ(answers[wrong]["success"], false);
  EXPECT_EQ(answers[unknown]["message"], "'fly' is not supported");
}

TEST_F(Step, WrongCommandLinesAreSentences) {
  const CommandResult r = tilewright_command({"step", "k.cu:k"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(
      r.error,
      "tilewright: tilewright step takes FILE.py:KERNEL; tilewright check takes a .cu file\n");
}

}  // namespace
}  // namespace tilewright::cli
