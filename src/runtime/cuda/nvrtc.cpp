// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/nvrtc.cpp — from CUDA source to a cubin.
//
// Each compilation has a program of its own, so that several threads may compile at the same time.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "runtime/compile.h"
#include "runtime/cuda/library_search.h"
#include "runtime/cuda/nvrtc_api.h"

namespace tilewright {
namespace {

using namespace cuda;

class Program {
 public:
  Program(const NvrtcApi& api, const KernelSource& source) : api_(api), name_(source.name) {
    const std::string file = source_name(name_);
    std::vector<const char*> texts, names;
    for (const NamedFile& header : source.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    check(api_.nvrtcCreateProgram(&program_, source.text.c_str(), file.c_str(),
                                  static_cast<int>(texts.size()), texts.data(), names.data()),
          "nvrtcCreateProgram");
    for (const std::string& expression : source.name_expressions)
      check(api_.nvrtcAddNameExpression(program_, expression.c_str()), "nvrtcAddNameExpression");
  }
  ~Program() { api_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.nvrtcCompileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
  }

  std::string log() const {
    std::size_t size = 0;
    check(api_.nvrtcGetProgramLogSize(program_, &size), "nvrtcGetProgramLogSize");
    std::string text(size, '\0');
    check(api_.nvrtcGetProgramLog(program_, text.data()), "nvrtcGetProgramLog");
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    check(api_.nvrtcGetCUBINSize(program_, &size), "nvrtcGetCUBINSize");
    std::vector<std::byte> bytes(size);
    check(api_.nvrtcGetCUBIN(program_, reinterpret_cast<char*>(bytes.data())), "nvrtcGetCUBIN");
    return bytes;
  }

  std::string ptx() const {
    std::size_t size = 0;
    check(api_.nvrtcGetPTXSize(program_, &size), "nvrtcGetPTXSize");
    std::string text(size, '\0');
    check(api_.nvrtcGetPTX(program_, text.data()), "nvrtcGetPTX");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  std::string lowered_name(const std::string& expression) const {
    const char* lowered = nullptr;
    check(api_.nvrtcGetLoweredName(program_, expression.c_str(), &lowered), "nvrtcGetLoweredName");
    return lowered;
  }

 private:
  void check(nvrtcResult result, const char* call) const {
    if (result == NVRTC_SUCCESS) return;
    throw EnvironmentError(
        fmt::format("{} failed for '{}': {}", call, name_, api_.nvrtcGetErrorString(result)));
  }

  const NvrtcApi& api_;
  const std::string& name_;
  nvrtcProgram program_ = nullptr;
};

// The assembler's report says how long it took, which would make equal compilations differ.
std::string without_times(const std::string& log) {
  std::string kept;
  for (std::string_view rest = log; !rest.empty();) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.starts_with("ptxas info") && line.find("Compile time = ") != std::string_view::npos)
      continue;
    if (!kept.empty()) kept += '\n';
    kept += line;
  }
  return kept;
}

// "sm_90a" -> 90; 0 when the name is none of NVRTC's.
int architecture_number(const std::string& name) {
  if (!name.starts_with("sm_")) return 0;
  int number = 0;
  for (std::size_t i = 3; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
    number = number * 10 + (name[i] - '0');
  return number;
}

std::vector<int> supported_architectures(const NvrtcApi& api) {
  int count = 0;
  if (api.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0) return {};
  std::vector<int> architectures(static_cast<std::size_t>(count));
  if (api.nvrtcGetSupportedArchs(architectures.data()) != NVRTC_SUCCESS) return {};
  return architectures;
}

void check_target(const NvrtcApi& api, const Target& target) {
  const int wanted = architecture_number(target.name);
  if (!target.is_cuda() || wanted == 0)
    throw ArgumentError(fmt::format(
        "CUDA source cannot be compiled for target '{}'; name one such as sm_90a", target.name));
  const std::vector<int> known = supported_architectures(api);
  if (known.empty() || std::find(known.begin(), known.end(), wanted) != known.end()) return;
  const auto [oldest, newest] = std::minmax_element(known.begin(), known.end());
  throw MissingError(fmt::format(
      "NVRTC {}.{} at {} does not compile for {} (it knows sm_{} to sm_{}); install {} one or set "
      "TILEWRIGHT_CUDA_HOME",
      api.major, api.minor, api.path, target.name, *oldest, *newest,
      wanted > *newest ? "a newer" : "an older"));
}

// NVRTC writes the current folder into the PTX of a text with lines, as it is.
bool can_ptx_hold_folder() {
  std::error_code unknown;
  const std::string folder = std::filesystem::current_path(unknown).string();
  return source_name(folder) == folder;
}

// `architecture` is sm_90a, or compute_90a for PTX alone, which is not assembled.
std::vector<std::string> all_options(const NvrtcApi& api, const KernelSource& source,
                                     const std::string& architecture) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--ptxas-options=-v"};
  // Debug information has the lines, and ptxas warns of both.
  const bool has_debug = std::any_of(
      source.options.begin(), source.options.end(),
      [](const std::string& option) { return option == "--device-debug" || option == "-G"; });
  const bool can_have_lines = can_ptx_hold_folder();
  if (has_debug && !can_have_lines)
    throw EnvironmentError(
        "the current folder has a name that PTX cannot hold (quotes, backslashes, control "
        "characters), so there can be no debug information; change to another one");
  if (!has_debug && can_have_lines) options.emplace_back("--generate-line-info");
  // From 12.9 on NVRTC keeps a cache of its own where there is a driver; what it takes from there
  // has no report of registers and spills, and our cache does the rest.
  const int version = api.major * 100 + api.minor;
  if (version >= 1209) options.emplace_back("--no-cache");
  std::copy_if(source.options.begin(), source.options.end(), std::back_inserter(options),
               [&](const std::string& option) { return version >= 1204 || option != "--minimal"; });
  for (const std::string& folder : source.include_folders)
    options.push_back("--include-path=" + folder);
  for (const std::string& folder : include_folders_of(api.path))
    options.push_back("--include-path=" + folder);
  return options;
}

// Returns the log; throws what the compiler says when it fails.
std::string compile_program(const NvrtcApi& api, Program& program, const KernelSource& source,
                            const Target& target, const std::string& architecture) {
  const nvrtcResult result = program.compile(all_options(api, source, architecture));
  const std::string log = without_times(program.log());
  if (result == NVRTC_ERROR_COMPILATION)
    throw CompileError(fmt::format("'{}' does not compile for {}:", source.name, target.name), log);
  if (result == NVRTC_ERROR_INVALID_OPTION)
    throw ArgumentError(fmt::format("NVRTC {}.{} does not know one of the options of '{}' ({}): {}",
                                    api.major, api.minor, source.name,
                                    fmt::join(source.options, " "), log));
  if (result != NVRTC_SUCCESS)
    throw EnvironmentError(fmt::format("NVRTC {}.{} failed to compile '{}': {}\n{}", api.major,
                                       api.minor, source.name, api.nvrtcGetErrorString(result),
                                       log));
  return log;
}

}  // namespace

std::string nvrtc_identity() {
  const std::string path = nvrtc_path();
  if (path.empty()) nvrtc();  // throws and says why
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    throw MissingError(
        fmt::format("NVRTC at {} has gone; install it again or set TILEWRIGHT_CUDA_HOME", path));
  return fmt::format("nvrtc {} {} {}.{}", path, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

Binary compile_with_nvrtc(const KernelSource& source, const Target& target) {
  const NvrtcApi& api = nvrtc();
  check_target(api, target);
  Program program(api, source);
  Binary binary;
  binary.log = compile_program(api, program, source, target, target.name);
  binary.bytes = program.cubin();
  TW_CHECK(!binary.bytes.empty(), "NVRTC gave no cubin for {}", target.name);
  for (const std::string& expression : source.name_expressions)
    binary.symbols.emplace_back(expression, program.lowered_name(expression));
  return binary;
}

std::string ptx_with_nvrtc(const KernelSource& source, const Target& target) {
  const NvrtcApi& api = nvrtc();
  check_target(api, target);
  Program program(api, source);
  compile_program(api, program, source, target, "compute_" + target.name.substr(3));
  return program.ptx();
}

}  // namespace tilewright
