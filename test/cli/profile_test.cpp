// SPDX-License-Identifier: Apache-2.0
// cli/profile_test.cpp — `tilewright profile`: a program's table and files, its exit code, wrong
// input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* source = R"(import triton
import triton.language as tl

@triton.jit
def twice(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)
)";

class ProfileVerb : public ::testing::Test {
 protected:
  ProfileVerb() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << source;
  }
  // This command itself is the program that is profiled.
  CommandResult profile(std::vector<std::string> options) {
    options.insert(options.begin(), "profile");
    options.insert(options.end(), {"--", tilewright_path(), "run", file_ + ":twice", "--device",
                                   "cpu", "--grid", "1", "x=ones:f32[64]", "BLOCK=64"});
    return tilewright_command(options);
  }
  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(ProfileVerb, PrintsLaunchesAndCompilePhasesAndWritesFiles) {
  const std::string trace = folder_.path() + "/t.json", flame = folder_.path() + "/f.svg";
  const CommandResult r = profile({"--json", "--trace", trace, "--flame", flame});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  // The program's own output comes first.
  const auto json = parse_json(r.output.substr(r.output.find("\n{") + 1));
  std::vector<std::string> names;
  for (const auto& row : json.at("rows")) names.push_back(row.at("name"));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"twice", "front end", "passes", "emitter"}));
  EXPECT_TRUE(Json::accept(std::ifstream(trace)));
  EXPECT_TRUE(std::filesystem::exists(flame));
}

TEST_F(ProfileVerb, PassesTheExitCodeOn) {
  const CommandResult r = tilewright_command({"profile", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.error,
            "tilewright: 'sh' did nothing that is recorded: it neither used this library nor "
            "CUDA\ntilewright: 'sh' ended with exit code 3\n");
}

TEST_F(ProfileVerb, SaysWhatIsWrongBeforeTheProgramRuns) {
  const auto expect = [&](const std::vector<std::string>& arguments, int code,
                          const std::string& text) {
    const CommandResult r = tilewright_command(arguments);
    EXPECT_EQ(r.exit_code, code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + text + "\n");
  };
  expect({"profile"}, 2, "COMMAND is required (see tilewright profile --help)");
  expect({"profile", "--", "no-such-program"}, 1,
         "program 'no-such-program' was not found; install it or add its folder to PATH");
  expect({"profile", "--sort-by", "hots", "--", "true"}, 1,
         "profiles cannot be sorted by 'hots'; did you mean 'host'?");
  expect({"profile", "--trace", "/nonexistent/t.json", "--", "true"}, 1,
         "cannot write '/nonexistent/t.json': No such file or directory");
}

}  // namespace
}  // namespace tilewright::cli
