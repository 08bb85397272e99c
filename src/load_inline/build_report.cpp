// SPDX-License-Identifier: Apache-2.0
// load_inline/build_report.cpp — reports of builds.
#include "load_inline/build_report.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/units.h"
#include "load_inline/compiler_flags.h"

namespace tilewright {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush())
    throw EnvironmentError(fmt::format("cannot write {}; check build_directory", path.string()));
}

void write_files(const InlineOptions& options, const KernelSource& source, const std::string& log) {
  if (options.build_directory.empty()) return;
  const std::filesystem::path folder = options.build_directory;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw EnvironmentError(
        fmt::format("cannot make build_directory {}: {}", folder.string(), failure.message()));
  const bool is_cuda = source.language == Language::Cuda;
  const std::string name = source.name + (is_cuda ? ".cuda" : ".host");
  write_file(folder / (name + (is_cuda ? ".cu" : ".cpp")), source.text);
  write_file(folder / (name + ".log"), log);
}

void print(const InlineOptions& options, const std::string& line) {
  if (options.verbose) std::fprintf(stderr, "tilewright: %s\n", line.c_str());
}

}  // namespace

Binary compile_reported(const InlineOptions& options, const KernelSource& source,
                        const Target& target) {
  const bool is_cuda = source.language == Language::Cuda;
  if (is_cuda)
    for (const std::string& note : nvrtc_flags(options).notes) print(options, note);
  print(options,
        fmt::format("compiling '{}' for {} with {}: {}", source.name, target.name,
                    is_cuda ? "NVRTC" : "the host compiler", fmt::join(source.options, " ")));
  try {
    CompileReport report;
    Binary binary = compile(source, target, &report);
    print(options, report.from_cache ? fmt::format("'{}' was in the cache", source.name)
                                     : fmt::format("'{}' compiled in {}", source.name,
                                                   format_seconds(report.seconds)));
    if (!binary.log.empty()) print(options, binary.log);
    write_files(options, source, binary.log);
    return binary;
  } catch (const CompileError& error) {
    write_files(options, source, error.log());
    throw;
  }
}

void report_build(const InlineOptions& options, const KernelSource& source, Device device) {
  if (options.verbose || !options.build_directory.empty())
    compile_reported(options, source, device.target());
}

}  // namespace tilewright
