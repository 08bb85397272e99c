// SPDX-License-Identifier: Apache-2.0
// cli/bench_rivals_test.cpp — `tilewright bench --rivals`: helpers that answer, lack packages, die
// and hang, made up by the test; and a real Python where there is one with PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include "bench/json.h"
#include "bench/suite/helper_process.h"
#include "command.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

class Rivals : public ::testing::Test {
 protected:
  // A program that is given the place of Python: it knows the protocol, or breaks it.
  std::string program(const std::string& body) {
    const std::string path = folder_.path() + "/python";
    std::ofstream(path) << "#!/bin/sh\nFOLDER=" << folder_.path() << "\n" << body;
    chmod(path.c_str(), 0755);
    return path;
  }
  Json run(const std::string& python) {
    const CommandResult r =
        tilewright_command({"bench", "add", "--shape", "8x8", "--ways", "tile", "--device", "cpu",
                            "--trials", "2", "--no-ceiling", "--json", "--rivals", python});
    EXPECT_EQ(r.error, "");
    exit_code_ = r.exit_code;
    const Json report = parse_json(r.output);
    EXPECT_EQ(report["records"].size(), 5U);
    EXPECT_EQ(report["records"][0]["status"], "ok")
        << "ours is measured whatever becomes of the others";
    return report;
  }
  TemporaryFolder folder_;
  int exit_code_ = 0;
};

constexpr const char* versions = R"(read line; echo '{"torch": "9.9", "triton": null}'
)";

TEST_F(Rivals, StandInTheSameTable) {
  const Json report = run(program(std::string(versions) + R"(
while read line; do case "$line" in
  *prepare*) echo '{"id": 0, "first_seconds": 0.5, "error": 1e-8, "bytes_moved": 1024, "kernels": 2}';;
  *measure*) echo '{"samples": [0.25, 0.25, 0.25], "host_seconds": 0, "clock": "wall"}';;
esac; done
)"));
  EXPECT_EQ(exit_code_, 0);
  EXPECT_EQ(report["rivals"], "PyTorch 9.9");
  const Json& eager = report["records"][1];
  EXPECT_EQ(eager["way"], "torch eager");
  EXPECT_EQ(eager["status"], "ok") << eager;
  EXPECT_EQ(eager["seconds"], 0.25);
  EXPECT_EQ(eager["bytes_moved"], 1024) << "its own, not those of the operation";
  EXPECT_EQ(eager["kernels"], 2);
  EXPECT_EQ(eager["rate"], 8 * 8 * 4 * 3 / 0.25);
  EXPECT_EQ(report["records"][4]["way"], "triton");
  EXPECT_EQ(report["records"][4]["status"], "not available");
  EXPECT_EQ(report["records"][4]["reason"], "not installed");
}

// The helper copies a file of the test to where the function's result belongs.
TEST_F(Rivals, AFunctionOfPyTorchBesideAKernelOfTheUsers) {
  const std::string kernel = folder_.path() + "/k.py";
  std::ofstream(kernel) << R"(import triton
import triton.language as tl

@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
)";
  const auto bench = [&](double factor) {
    std::vector<double> values;
    for (int i = 0; i < 8; ++i) values.push_back(factor * i);
    save_npy(folder_.path() + "/result.npy", tensor(values, {2, 4}, Device::cpu()));
    const std::string python = program(std::string(versions) + R"x(
read line; echo "$line" > $FOLDER/request
cp $FOLDER/result.npy "$(echo "$line" | sed 's/.*"\([^"]*expected_0.npy\)".*/\1/')"
echo '{"id": 0, "first_seconds": 0.5}'
while read line; do echo '{"samples": [0.25, 0.25, 0.25], "host_seconds": 0, "clock": "wall"}'; done
)x");
    return tilewright_command({"bench", kernel + ":twice", "x=arange:f32[2,4]",
                               "out=zeros:f32[2,4]", "n=8", "BLOCK=8", "--grid=1", "--reference",
                               "torch:torch.add", "--rivals", python, "--device", "cpu", "--trials",
                               "2", "--no-ceiling", "--json"});
  };
  const CommandResult good = bench(2);
  EXPECT_EQ(good.exit_code, 0) << good.error << good.output;
  const Json records = parse_json(good.output)["records"];
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0]["way"], "twice");
  EXPECT_EQ(records[0]["error"], 0.0);
  EXPECT_EQ(records[1]["way"], "torch.add");
  EXPECT_EQ(records[1]["seconds"], 0.25);
  std::ostringstream request;
  request << std::ifstream(folder_.path() + "/request").rdbuf();
  const Json asked = parse_json(request.str());
  EXPECT_EQ(asked["function"], "torch.add");
  ASSERT_EQ(asked["inputs"].size(), 1U);
  EXPECT_EQ(asked["inputs"][0]["dtype"], "float32");
  const CommandResult bad = bench(3);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(parse_json(bad.output)["records"][0]["reason"].get<std::string>(),
              HasSubstr("7 of 8 differ; first at [0, 1]: 2, expected 3; worst at [1, 3]: 14, "
                        "expected 21"));
}

TEST_F(Rivals, AreDoubtedAsOurs) {
  for (const bool is_steady : {true, false}) {
    const Json report =
        run(program(std::string(versions) + R"(
while read line; do case "$line" in
  *prepare*) echo '{"id": 0, "first_seconds": 0.5, "error": 1e-8, "bytes_moved": 1024, "kernels": 2}';;
  *measure*) echo '{"samples": [1, 1, 1, 1, 1, 1, )" +
                    std::string(is_steady ? "1, 1, 1, 1, 1, 1" : "9, 9, 9, 9, 9, 9") +
                    R"(], "host_seconds": 0, "clock": "wall"}';;
esac; done
)"));
    EXPECT_EQ(report["records"][1]["not_steady"], !is_steady) << report["records"][1];
  }
}

TEST_F(Rivals, WithoutPyTorchAreNotInstalled) {
  const std::string python =
      program("read line; echo '{\"torch\": null, \"triton\": null, \"problem\": \"x\"}'\n");
  const Json report = run(python);
  EXPECT_EQ(exit_code_, 0);
  EXPECT_EQ(report["records"][2]["status"], "not available");
  EXPECT_EQ(report["records"][2]["reason"], "not installed: " + python + " has no PyTorch");
}

TEST_F(Rivals, ThatDieSayHow) {
  const Json report = run(program(std::string(versions) + R"(
read line; echo 'Traceback' >&2; echo 'MemoryError: no room' >&2; exit 3
)"));
  EXPECT_EQ(exit_code_, 1);
  EXPECT_EQ(report["records"][1]["status"], "failed");
  EXPECT_EQ(report["records"][1]["reason"],
            "its process ended with exit code 3: MemoryError: no room");
}

TEST_F(Rivals, PythonThatCannotBeStarted) {
  const Json report = run("/nowhere/python");
  EXPECT_EQ(report["records"][1]["status"], "not available");
  EXPECT_EQ(report["records"][1]["reason"],
            "'/nowhere/python' cannot be started: No such file or directory");
}

std::string problem_of(suite::HelperProcess& helper, double limit) {
  try {
    helper.ask("question", limit);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "an answer";
}

TEST_F(Rivals, ThatHangAreEnded) {
  suite::HelperProcess helper({program("sleep 100\n")});
  EXPECT_EQ(problem_of(helper, 0.2), "gave no answer within 0 s");
  EXPECT_FALSE(helper.is_alive());
  EXPECT_EQ(problem_of(helper, 1), "its process is gone");
}

TEST_F(Rivals, ThatAreKilledSayTheSignal) {
  suite::HelperProcess helper({program("read line; kill -SEGV $$\n")});
  EXPECT_THAT(problem_of(helper, 20),
              HasSubstr("its process was ended by signal 11 (Segmentation fault)"));
}

TEST_F(Rivals, AnswersMayComeInPieces) {
  suite::HelperProcess helper(
      {program("read line; printf a; sleep 0.05; printf 'b\\nc\\n'; read line\n")});
  EXPECT_EQ(helper.ask("one", 20), "ab");
  EXPECT_EQ(helper.ask("two", 20), "c");
}

// With TILEWRIGHT_RIVALS_PYTHON, the program itself; without, it is enough that its text is Python.
TEST_F(Rivals, OfARealPython) {
  const char* python = std::getenv("TILEWRIGHT_RIVALS_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "TILEWRIGHT_RIVALS_PYTHON names no Python with PyTorch";
  const Json report = run(python);
  for (const int i : {1, 2}) {
    EXPECT_EQ(report["records"][i]["status"], "ok") << report["records"][i];
    EXPECT_LT(report["records"][i]["error"], 1e-6);
  }
}

TEST_F(Rivals, AFunctionOfARealPyTorch) {
  const char* python = std::getenv("TILEWRIGHT_RIVALS_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "TILEWRIGHT_RIVALS_PYTHON names no Python with PyTorch";
  const std::string kernel = folder_.path() + "/k.py";
  std::ofstream(kernel) << R"(import triton
import triton.language as tl

@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)
)";
  const auto beside = [&](const std::string& function) {
    return tilewright_command({"bench", kernel + ":gelu", "x=randn:f32[100]", "out=zeros:f32[100]",
                               "n=100", "BLOCK=128", "--grid=1", "--reference", "torch:" + function,
                               "--rivals", python, "--device", "cpu", "--trials", "2",
                               "--no-ceiling", "--json"});
  };
  const CommandResult exact = beside("torch.nn.functional.gelu");
  EXPECT_EQ(exact.exit_code, 0) << exact.error << exact.output;
  EXPECT_LT(parse_json(exact.output)["records"][0]["error"], 1e-6);
  const CommandResult near = beside("lambda x: F.gelu(x, approximate='tanh')");
  EXPECT_EQ(near.exit_code, 1) << "the other form of GELU";
  EXPECT_EQ(parse_json(near.output)["records"][0]["status"], "wrong");
}

}  // namespace
}  // namespace tilewright::cli
