// SPDX-License-Identifier: Apache-2.0
// runtime/host_compiler_test.cpp — C++ source through the machine's compiler: headers, options, and
// errors in the user's own names and lines.
#include <filesystem>
#include <fstream>

#include "base/settings.h"
#include "cpu_sources.h"
#include "expect_error.h"
#include "runtime/compile.h"
#include "runtime/disk_cache.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string temporary_folder() { return DiskCache::shared().temporary_folder(); }

KernelSource plain_source(const std::string& name, const std::string& text) {
  KernelSource source;
  source.language = Language::Cpp;
  source.name = name;
  source.text = text;
  return source;
}

TEST(HostCompiler, ErrorsHaveTheUsersNameAndLines) {
  const KernelSource source = plain_source("my kernel.cpp", "int a;\nint b = unknown_name;\n");
  try {
    compile_with_host_compiler(source, Target::host());
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("source 'my kernel.cpp' does not compile ("))
        << error.what();
    EXPECT_NE(error.log().find("my kernel.cpp:2:9: error:"), std::string::npos) << error.log();
    EXPECT_NE(error.log().find("int b = unknown_name;"), std::string::npos) << error.log();
    EXPECT_EQ(error.log().find(temporary_folder()), std::string::npos) << error.log();
  }
}

TEST(HostCompiler, FindsEmbeddedHeadersFirst) {
  KernelSource source = plain_source(
      "headers.cpp",
      "#include \"math.h\"\n#include <deep/er/value.h>\nint x = from_ours + deeper;\n");
  source.headers = {{"math.h", "constexpr int from_ours = 1;"},
                    {"deep/er/value.h", "constexpr int deeper = 2;"}};
  EXPECT_FALSE(compile_with_host_compiler(source, Target::host()).bytes.empty());
  source.headers[0].text = "#error broken";
  try {
    compile_with_host_compiler(source, Target::host());
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_NE(error.log().find("math.h:1:2: error: #error broken"), std::string::npos)
        << error.log();
  }
}

TEST(HostCompiler, RefusesHeadersOutsideItsFolder) {
  for (const std::string name : {"../up.h", "/etc/x.h", ""}) {
    KernelSource source = plain_source("bad.cpp", "");
    source.headers = {{name, ""}};
    expect_error("source 'bad.cpp' has a header named '" + name +
                     "'; it must be a relative path without '..'",
                 [&] { compile_with_host_compiler(source, Target::host()); });
  }
}

TEST(HostCompiler, PassesOptionsAndFolders) {
  KernelSource source = plain_source("options.cpp", "#ifndef VALUE\n#error no value\n#endif\n");
  EXPECT_THROW(compile_with_host_compiler(source, Target::host()), CompileError);
  source.options = {"-DVALUE=1", "-nostdlib"};
  EXPECT_FALSE(compile_with_host_compiler(source, Target::host()).bytes.empty());
}

TEST(HostCompiler, KeepsWarningsInTheLog) {
  KernelSource source = plain_source("warns.cpp", "#warning be careful\n");
  EXPECT_NE(compile_with_host_compiler(source, Target::host())
                .log.find("warns.cpp:1:2: warning: #warning be careful"),
            std::string::npos);
}

TEST(HostCompiler, LeavesNothingBehind) {
  compile_with_host_compiler(plain_source("good.cpp", "int x;"), Target::host());
  EXPECT_THROW(compile_with_host_compiler(plain_source("bad.cpp", "int"), Target::host()),
               CompileError);
  EXPECT_TRUE(fs::is_empty(temporary_folder()));
}

TEST(HostCompiler, MissingOnesAreNamed) {
  Settings changed = settings();
  changed.host_compiler = "no-such-compiler";
  {
    const SettingsOverride guard(changed);
    expect_error<MissingError>(
        "the C++ compiler 'no-such-compiler' was not found; set TILEWRIGHT_CXX to one that exists, "
        "or unset it and CXX",
        [] { host_compiler_identity(); });
  }
  changed.host_compiler = "";
  changed.search_path = "/nowhere";
  const SettingsOverride guard(changed);
  expect_error<MissingError>(
      "no C++ compiler was found (looked for g++, clang++, c++); install g++ or set TILEWRIGHT_CXX",
      [] { compile_with_host_compiler(plain_source("x.cpp", ""), Target::host()); });
}

TEST(HostCompiler, MayBeACommandOfSeveralWords) {
  Settings changed = settings();
  changed.host_compiler = "ccache  g++ -DLEFT=3";
  const SettingsOverride guard(changed);
  EXPECT_EQ(fs::path(host_compiler_path()).filename(), "g++");
  EXPECT_NE(host_compiler_identity().find("-DLEFT=3"), std::string::npos);
  const KernelSource source = plain_source("words.cpp", "static_assert(LEFT == 3);");
  EXPECT_NO_THROW(compile_with_host_compiler(source, Target::host()));
}

// A compiler called clang++ that gives back its own command line.
TEST(HostCompiler, ClangGetsNoOptionsThatOnlyGnuKnows) {
  const fs::path folder = fs::path(testing::TempDir()) / "twin_of_clang";
  fs::create_directories(folder);
  std::ofstream(folder / "clang++") << "#!/bin/sh\n"
                                       "all=\"$*\"\n"
                                       "while [ \"$1\" != -o ]; do shift; done\n"
                                       "printf '%s' \"$all\" > \"$2\"\n";
  fs::permissions(folder / "clang++", fs::perms::owner_all);
  Settings changed = settings();
  changed.host_compiler = folder / "clang++";
  const SettingsOverride guard(changed);
  KernelSource source = plain_source("options.cpp", "");
  source.options = {"-fvect-cost-model=dynamic", "-fno-loop-interchange", "-fwrapv"};
  const Binary binary = compile_with_host_compiler(source, Target::host());
  const std::string line(reinterpret_cast<const char*>(binary.bytes.data()), binary.bytes.size());
  EXPECT_TRUE(line.ends_with(".so -fwrapv")) << line;
}

TEST(HostCompiler, IdentityIsStableAndNamesThePath) {
  EXPECT_EQ(host_compiler_identity(), host_compiler_identity());
  EXPECT_EQ(host_compiler_identity()[0], '/');
}

}  // namespace
}  // namespace tilewright
