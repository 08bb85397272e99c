// SPDX-License-Identifier: Apache-2.0
// base/output_file_test.cpp — results replace files, but neither links nor devices.
#include "base/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "base/input_file.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  OutputFile() {
    std::string name = (fs::temp_directory_path() / "tilewright_output_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~OutputFile() override { fs::remove_all(folder_); }

  std::string folder_;
};

TEST_F(OutputFile, IsThereAsAWhole) {
  write_output(folder_ + "/x", "one");
  write_output(folder_ + "/x", "two");
  EXPECT_EQ(read_input(folder_ + "/x"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(OutputFile, LinksStay) {
  fs::create_symlink(folder_ + "/x", folder_ + "/link");
  write_output(folder_ + "/x", "old");
  write_output(folder_ + "/link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_EQ(read_input(folder_ + "/x"), "new");
}

TEST_F(OutputFile, PipesAreWrittenAsTheyAre) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  check_output(pipe);
  auto reader = std::async(std::launch::async, [&] { return read_input(pipe); });
  write_output(pipe, "through");
  EXPECT_EQ(reader.get(), "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(OutputFile, FoldersAreNoFiles) {
  try {
    read_input(folder_);
    FAIL() << "a folder was read";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()), "cannot open '" + folder_ + "': Is a directory");
  }
}

}  // namespace
}  // namespace tilewright
