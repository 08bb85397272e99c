// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/host_compiler.cpp — C++ source to a shared object through the machine's own compiler.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <fmt/ranges.h>

#include "base/check.h"
#include "base/process.h"
#include "base/settings.h"
#include "runtime/compile.h"
#include "runtime/cpu/temporary_folder.h"

namespace tilewright {
namespace {

constexpr const char* known_compilers[] = {"g++", "clang++", "c++"};

struct Compiler {
  std::string path;
  std::vector<std::string> options;  // that CXX gives it: "g++ -m64"
};

// Words of CXX. What caches or hands out compilations is left out ("ccache g++"): ours are cached
// by us.
std::vector<std::string> words_of(const std::string& command) {
  static constexpr std::string_view launchers[] = {"ccache", "sccache", "distcc", "icecc"};
  std::vector<std::string> words;
  std::istringstream in(command);
  for (std::string word; in >> word;) {
    const std::string_view name = std::string_view(word).substr(word.rfind('/') + 1);
    const bool is_launcher = words.empty() && std::find(std::begin(launchers), std::end(launchers),
                                                        name) != std::end(launchers);
    if (!is_launcher) words.push_back(word);
  }
  return words;
}

Compiler find_compiler() {
  const std::string& chosen = settings().host_compiler;
  if (!chosen.empty()) {
    // A path may have blanks in it.
    if (std::string path = find_program(chosen); !path.empty()) return {path, {}};
    const std::vector<std::string> words = words_of(chosen);
    if (std::string path = words.empty() ? "" : find_program(words[0]); !path.empty())
      return {path, {words.begin() + 1, words.end()}};
    throw MissingError(
        fmt::format("the C++ compiler '{}' was not found; set TILEWRIGHT_CXX to one that exists, "
                    "or unset it and CXX",
                    chosen));
  }
  for (const char* name : known_compilers)
    if (std::string path = find_program(name); !path.empty()) return {path, {}};
  throw MissingError(
      "no C++ compiler was found (looked for g++, clang++, c++); install g++ or set "
      "TILEWRIGHT_CXX");
}

// Compiled code must be instrumented like ours: an object with the address sanitizer loads into
// nothing else.
#ifdef TW_SANITIZE
constexpr const char* sanitizer = TW_SANITIZE;
#else
constexpr const char* sanitizer = "";
#endif

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void write_headers(const KernelSource& source, const TemporaryFolder& folder) {
  for (const NamedFile& header : source.headers) {
    if (header.name.empty() || header.name.starts_with('/') ||
        header.name.find("..") != std::string::npos)
      throw ArgumentError(fmt::format(
          "source '{}' has a header named '{}'; it must be a relative path without '..'",
          source.name, header.name));
    folder.write("include/" + header.name, header.text);
  }
}

// Options of generated kernels that only g++ knows; clang++ neither knows nor needs them.
bool is_for_gnu_only(std::string_view option) {
  static constexpr std::string_view starts[] = {
      "-fvect-cost-model", "-fno-tree-loop-",    "-fno-loop-",
      "-fno-thread-jumps", "-fpeel-loops",       "-fsched",
      "-fopt-info",        "-fsanitize=integer-"};  // clang++ brings its library along
  return std::any_of(std::begin(starts), std::end(starts),
                     [&](std::string_view start) { return option.starts_with(start); });
}

bool is_clang(const std::string& compiler) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(compiler, ignored);
  return real.filename().string().find("clang") != std::string::npos;
}

struct Invocation {
  std::string source_path;
  std::string output_path;
  std::string include_path;
  std::vector<std::string> arguments;
};

Invocation invocation(const Compiler& compiler, const KernelSource& source, const Target& target,
                      const std::string& folder) {
  Invocation call{folder + "/source.cpp", folder + "/kernel.so", folder + "/include/", {}};
  std::vector<std::string>& out = call.arguments;
  out = {compiler.path};
  out.insert(out.end(), compiler.options.begin(), compiler.options.end());
  out.insert(out.end(),
             {"-x", "c++", "-std=gnu++20", "-O3", "-fno-math-errno", "-fPIC", "-shared", "-pipe"});
  out.push_back("-fmacro-prefix-map=" + call.source_path + "=" + source.name);
  out.insert(out.end(), target.compiler_flags.begin(), target.compiler_flags.end());
  if (*sanitizer)
    out.insert(out.end(), {fmt::format("-fsanitize={}", sanitizer), "-fno-omit-frame-pointer",
                           "-fno-sanitize-recover=all"});
  if (!source.headers.empty()) out.push_back("-I" + call.include_path);
  for (const std::string& include_folder : source.include_folders)
    out.push_back("-I" + include_folder);
  out.insert(out.end(), {call.source_path, "-o", call.output_path});
  const bool takes_all = !is_clang(compiler.path);
  std::copy_if(source.options.begin(), source.options.end(), std::back_inserter(out),
               [&](const std::string& option) { return takes_all || !is_for_gnu_only(option); });
  return call;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The compiler's words with the user's own names in place of our temporary ones.
std::string user_log(std::string output, const Invocation& call, const std::string& name) {
  replace_all(output, call.source_path, name);
  replace_all(output, call.include_path, "");
  return output;
}

}  // namespace

std::string host_compiler_path() { return find_compiler().path; }

std::string host_compiler_identity() {
  const Compiler compiler = find_compiler();
  struct stat info {};
  stat(compiler.path.c_str(), &info);
  return fmt::format("{} {} {} {}.{:09} {}", compiler.path, fmt::join(compiler.options, " "),
                     info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, sanitizer);
}

Binary compile_with_host_compiler(const KernelSource& source, const Target& target) {
  const Compiler compiler = find_compiler();
  const TemporaryFolder folder;
  const Invocation call = invocation(compiler, source, target, folder.path());
  folder.write("source.cpp", source.text);
  write_headers(source, folder);

  const ProcessRequest request{.arguments = call.arguments,
                               .environment = {"TMPDIR=" + folder.path(), "LC_ALL=C.UTF-8"}};
  const ProcessResult result = run_process(request);
  Binary binary;
  binary.log = user_log(result.output, call, source.name);
  if (result.timed_out)
    throw CompileError(
        fmt::format("source '{}' took {} longer than {} s to compile and was given up", source.name,
                    base_name(compiler.path), request.timeout_seconds),
        binary.log);
  if (result.exit_code != 0)
    throw CompileError(fmt::format("source '{}' does not compile ({} exit code {})", source.name,
                                   base_name(compiler.path), result.exit_code),
                       binary.log);
  binary.bytes = folder.read("kernel.so");
  return binary;
}

}  // namespace tilewright
