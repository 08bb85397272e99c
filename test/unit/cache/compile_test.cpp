// SPDX-License-Identifier: Apache-2.0
// cache/compile_test.cpp — compile(): through the cache, its report, the dump folder, and what is
// not kept.
#include "runtime/compile.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "cache_testing.h"
#include "runtime/disk_cache.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

class Compile : public testing::Test {
 protected:
  static Settings private_settings(const TestFolder& folder) {
    Settings changed = settings();
    changed.cache_folder = folder / "cache";
    changed.cache_max_bytes = 16 << 20;
    changed.dump_folder = folder / "dump/here";
    return changed;
  }
  DiskCache::Info info() const { return DiskCache::shared().info(); }

  const TestFolder folder;
  const SettingsOverride scope{private_settings(folder)};
};

KernelSource cpp_source(const std::string& text) {
  KernelSource source;
  source.language = Language::Cpp;
  source.name = "a/sum.cpp";
  source.text = text;
  source.options = {"-O0", "-nostdlib"};
  return source;
}

TEST_F(Compile, SecondTimeComesFromTheCache) {
  const KernelSource source = cpp_source("extern \"C\" int f() { return 1; }\n");
  CompileReport report;
  const Binary first = compile(source, Target::host(), &report);
  EXPECT_FALSE(report.from_cache);
  EXPECT_GT(report.seconds, 0);
  EXPECT_FALSE(first.bytes.empty());
  const Binary second = compile(source, Target::host(), &report);
  EXPECT_TRUE(report.from_cache);
  EXPECT_TRUE(same(first, second));
  EXPECT_EQ(info().entries, 1);
  EXPECT_EQ(names_in(DiskCache::shared().temporary_folder()), std::vector<std::string>{});
}

TEST_F(Compile, FailureIsNotKept) {
  const KernelSource source = cpp_source("extern \"C\" int f() { return oops; }\n");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(compile(source, Target::host()), CompileError);
  EXPECT_EQ(info().entries, 0);
  EXPECT_EQ(names_in(DiskCache::shared().temporary_folder()), std::vector<std::string>{});
}

TEST_F(Compile, EditedHeaderIsCompiledAgain) {
  KernelSource source =
      cpp_source("#include \"value.h\"\nextern \"C\" int f() { return value; }\n");
  source.include_folders = {folder / "include"};
  std::filesystem::create_directories(folder / "include");
  for (const char* value : {"1", "2", "1"}) {
    write_text(folder / "include/value.h", fmt::format("enum {{ value = {} }};\n", value));
    compile(source, Target::host());
  }
  EXPECT_EQ(info().entries, 2);
}

TEST_F(Compile, SourceIsDumped) {
  const KernelSource source = cpp_source("extern \"C\" int f() { return 2; }\n");
  for (int i = 0; i < 2; ++i) compile(source, Target::host());  // from the cache as well
  const std::string key = compile_key(source, Target::host(), host_compiler_identity()).hex();
  const std::vector<std::string> names = names_in(folder / "dump/here");
  ASSERT_EQ(names, std::vector<std::string>{"a_sum-" + key.substr(0, 8) + ".cpp"});
  EXPECT_EQ(read_text(folder / ("dump/here/" + names[0])), source.text);
}

TEST_F(Compile, DumpFolderThatCannotBeWrittenIsOnlyWarnedAbout) {
  write_text(folder / "dump", "a file");
  const ChildResult child = run_in_child([&] {
    for (const char* text : {"int a;", "int b;"}) compile(cpp_source(text), Target::host());
    return std::string("compiled");
  });
  EXPECT_EQ(child.result, "compiled");
  EXPECT_EQ(child.errors, fmt::format("tilewright: warning: sources are not written to "
                                      "TILEWRIGHT_DUMP_DIR={} (Not a directory); "
                                      "name a folder that can be written\n",
                                      folder / "dump/here"));
}

TEST_F(Compile, WorksWithoutACache) {
  Settings changed = private_settings(folder);
  changed.cache_folder = "";
  const SettingsOverride without(changed);
  const ChildResult child = run_in_child([&] {
    setenv("TMPDIR", folder.path().c_str(), 1);  // a child that ends by _exit removes nothing
    std::string found;
    for (int i = 0; i < 2; ++i) {
      CompileReport report;
      compile(cpp_source("int a;"), Target::host(), &report);
      found += report.from_cache ? "found " : "compiled ";
    }
    return found;
  });
  EXPECT_EQ(child.result, "compiled compiled ");
  EXPECT_EQ(child.errors,
            "tilewright: warning: kernels are not kept on disk: no cache folder is known because "
            "TILEWRIGHT_CACHE_DIR, "
            "XDG_CACHE_HOME and HOME are not set; set TILEWRIGHT_CACHE_DIR\n");
}

TEST_F(Compile, CudaComesFromTheCacheToo) {
  KernelSource source;
  source.name = "add.cu";
  source.text = "template <int N> __global__ void add(float* x) { x[threadIdx.x] += N; }";
  source.name_expressions = {"add<3>"};
  CompileReport report;
  Binary first;
  try {
    first = compile(source, Target::parse("sm_90"), &report);
  } catch (const MissingError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_FALSE(report.from_cache);
  const Binary second = compile(source, Target::parse("sm_90"), &report);
  EXPECT_TRUE(report.from_cache);
  EXPECT_TRUE(same(first, second));
  EXPECT_EQ(second.symbols.size(), 1u);
  compile(source, Target::parse("sm_80"), &report);
  EXPECT_FALSE(report.from_cache);
}

}  // namespace
}  // namespace tilewright
