// SPDX-License-Identifier: Apache-2.0
// cache/compile_key_test.cpp — everything that a binary depends on changes its key, and nothing
// else does.
#include <filesystem>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "cache_testing.h"
#include "runtime/compile.h"
#include "runtime/include_scan.h"

namespace tilewright {
namespace {

KernelSource sample_source() {
  KernelSource source;
  source.name = "gelu";
  source.text = "int x;";
  source.headers = {{"a.h", "int a;"}, {"b.h", "int b;"}};
  source.options = {"-DX=1", "-DY=2"};
  source.include_folders = {"/nowhere/one", "/nowhere/two"};
  source.name_expressions = {"k<1>", "k<2>"};
  return source;
}

std::string key_of(const KernelSource& source, const Target& target = Target::parse("sm_90"),
                   const std::string& compiler = "c") {
  return compile_key(source, target, compiler).hex();
}

TEST(CompileKey, EveryFieldCounts) {
  using Change = std::function<void(KernelSource&)>;
  const std::vector<Change> changes = {
      [](KernelSource&) {},
      [](KernelSource& s) { s.language = Language::Cpp; },
      [](KernelSource& s) { s.name = "gelu2"; },
      [](KernelSource& s) { s.text += ' '; },
      [](KernelSource& s) { s.text.clear(); },
      [](KernelSource& s) { s.headers[0].name = "c.h"; },
      [](KernelSource& s) { s.headers[0].text = "int c;"; },
      [](KernelSource& s) { s.headers.pop_back(); },
      [](KernelSource& s) { std::swap(s.headers[0], s.headers[1]); },
      [](KernelSource& s) { s.options[0] = "-DX=2"; },
      [](KernelSource& s) { std::swap(s.options[0], s.options[1]); },
      [](KernelSource& s) { s.options.clear(); },
      [](KernelSource& s) { s.options = {"-DX=1-DY=2"}; },
      [](KernelSource& s) { s.include_folders[0] = "/nowhere/three"; },
      [](KernelSource& s) { std::swap(s.include_folders[0], s.include_folders[1]); },
      [](KernelSource& s) { s.include_folders.clear(); },
      [](KernelSource& s) { s.name_expressions[0] = "k<3>"; },
      [](KernelSource& s) { s.name_expressions.clear(); },
      // The same texts in another list.
      [](KernelSource& s) {
        s.options.push_back(s.include_folders[0]),
            s.include_folders.erase(s.include_folders.begin());
      },
      [](KernelSource& s) {
        s.include_folders.push_back("k<1>"), s.name_expressions.erase(s.name_expressions.begin());
      },
  };
  std::set<std::string> keys;
  for (const Change& change : changes) {
    KernelSource source = sample_source();
    change(source);
    EXPECT_TRUE(keys.insert(key_of(source)).second) << "change " << keys.size();
    EXPECT_FALSE(keys.insert(key_of(source)).second);
  }
  EXPECT_EQ(keys.size(), changes.size());
}

TEST(CompileKey, TargetAndCompilerCount) {
  const KernelSource source = sample_source();
  std::set<std::string> keys;
  for (const char* name : {"sm_80", "sm_90", "sm_90a", "avx2", "avx512"})
    keys.insert(key_of(source, Target::parse(name)));
  Target flags = Target::parse("avx2");
  flags.compiler_flags.emplace_back("-mavx512f");
  keys.insert(key_of(source, flags));
  keys.insert(key_of(source, Target::parse("sm_90"), "another compiler"));
  EXPECT_EQ(keys.size(), 7u);
}

TEST(CompileKey, SignaturesAndCoreCountDoNotCount) {
  KernelSource source = sample_source();
  const std::string key = key_of(source);
  source.kernels.push_back({"k", {}, {direct_plan("k", 0)}, std::nullopt});
  EXPECT_EQ(key_of(source), key);
  Target target = Target::parse("sm_90");
  target.processors = 7;
  EXPECT_EQ(key_of(source, target), key);
}

// ---- Files on disk.

std::vector<std::string> paths_of(const KernelSource& source) {
  std::vector<std::string> paths;
  for (const IncludedFile& file : included_files(source)) paths.push_back(file.path);
  return paths;
}

TEST(IncludeScan, FollowsIncludesThroughFiles) {
  const TestFolder folder;
  std::filesystem::create_directories(folder / "one/sub");
  std::filesystem::create_directories(folder / "two");
  write_text(folder / "one/a.h", "#pragma once\n#include \"sub/b.h\"\n");
  write_text(folder / "one/sub/b.h",
             "  #  include <c.h>\n#include \"d.h\"\n#include <a.h>\n#include <vector>");
  write_text(folder / "one/sub/d.h", "int d;");
  write_text(folder / "two/c.h", "int c;\r\n");
  write_text(folder / "two/a.h", "shadowed");
  write_text(folder / "two/unused.h", "unused");
  KernelSource source;
  source.text =
      "// #include <no_comment_is_read>\n#include <a.h>\nint include;\n#include MACRO\n#include "
      "\"missing.h\"\n#include <";
  source.include_folders = {folder / "one", folder / "two"};
  EXPECT_EQ(paths_of(source),
            (std::vector<std::string>{folder / "one/a.h", folder / "one/sub/b.h",
                                      folder / "two/c.h", folder / "one/sub/d.h"}));
  source.include_folders = {folder / "two", folder / "one"};
  EXPECT_EQ(paths_of(source), (std::vector<std::string>{folder / "two/a.h"}));
  source.include_folders = {};
  EXPECT_TRUE(paths_of(source).empty());
}

TEST(IncludeScan, HeadersOfTheSourceComeFirst) {
  const TestFolder folder;
  write_text(folder / "a.h", "disk");
  write_text(folder / "b.h", "disk");
  KernelSource source;
  source.text = "#include \"a.h\"";
  source.headers = {{"a.h", "#include \"b.h\""}};
  source.include_folders = {folder.path()};
  EXPECT_EQ(paths_of(source), std::vector<std::string>{folder / "b.h"});
}

TEST(IncludeScan, ReadsFoldersAndFilesFromOptions) {
  const TestFolder folder;
  write_text(folder / "a.h", "int a;");
  KernelSource source;
  source.text = "#include <a.h>";
  const std::vector<std::vector<std::string>> ways = {
      {"-I" + folder.path()},       {"-I", folder.path()},
      {"-isystem", folder.path()},  {"--include-path=" + folder.path()},
      {"-include", folder / "a.h"}, {"--pre-include=" + (folder / "a.h")}};
  for (const auto& way : ways) {
    source.options = way;
    EXPECT_EQ(paths_of(source), std::vector<std::string>{folder / "a.h"}) << way[0];
  }
  source.options = {"-I"};
  EXPECT_TRUE(paths_of(source).empty());
}

TEST(IncludeScan, ContentOfIncludedFilesIsInTheKey) {
  const TestFolder folder;
  KernelSource source;
  source.text = "#include \"a.h\"";
  source.include_folders = {folder.path()};
  std::set<std::string> keys = {key_of(source)};
  write_text(folder / "a.h", "int a;");
  keys.insert(key_of(source));
  write_text(folder / "a.h", "int b;");
  keys.insert(key_of(source));
  write_text(folder / "a.h", "#include \"b.h\"");
  keys.insert(key_of(source));
  write_text(folder / "b.h", "int b;");
  keys.insert(key_of(source));
  EXPECT_EQ(keys.size(), 5u);
  const std::string key = key_of(source);
  write_text(folder / "unused.h", "int c;");
  set_age(folder / "b.h", 1000);
  EXPECT_EQ(key_of(source), key);
}

}  // namespace
}  // namespace tilewright
