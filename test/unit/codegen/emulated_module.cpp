// SPDX-License-Identifier: Apache-2.0
// codegen/emulated_module.cpp — compiles and calls emulated kernels.
#include "emulated_module.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/process.h"
#include "base/settings.h"
#include "codegen/device_lib/emulate/fibers.h"

namespace tilewright {
namespace {

std::string make_folder() {
  std::string name =
      (std::filesystem::temp_directory_path() / "tilewright_emulate_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  return name;
}

std::vector<std::string> compiler_line() {
  const std::string compiler = settings().host_compiler.empty() ? "g++" : settings().host_compiler;
  std::vector<std::string> arguments = {compiler,  "-std=c++20", "-O2",   "-fPIC",
                                        "-shared", "-mavx2",     "-mfma", "-mf16c"};
#ifdef TW_SANITIZE
  arguments.push_back("-fsanitize=" TW_SANITIZE);
  arguments.push_back("-fno-sanitize-recover=all");
#endif
  for (const std::string& option : emulation_options()) arguments.push_back(option);
  return arguments;
}

// CTest runs each test as a process of its own: what one has compiled the others take from the
// build folder.
std::string kept_library(const std::string& cpp, const std::vector<std::string>& line) {
  Hasher hasher;
  hasher.add(cpp).add(
      std::filesystem::last_write_time(find_program(line[0])).time_since_epoch().count());
  for (const std::string& argument : line) hasher.add(argument);
  return fmt::format("{}/emulated_{}.so", TW_TEST_FOLDER, hasher.finish().hex());
}

DynamicLibrary compile(const std::string& cpp) {
  std::vector<std::string> line = compiler_line();
  const std::string kept = kept_library(cpp, line);
  if (DynamicLibrary library = DynamicLibrary::open(kept)) return library;
  const std::string folder = make_folder();
  std::ofstream(folder + "/source.cpp") << cpp;
  line.insert(line.begin() + 1, folder + "/source.cpp");
  line.insert(line.end(), {"-o", folder + "/module.so"});
  const ProcessResult result = run_process({.arguments = line});
  std::string error;
  DynamicLibrary library;
  if (result.exit_code == 0) library = DynamicLibrary::open(folder + "/module.so", &error);
  std::error_code ignored;
  std::filesystem::copy_file(folder + "/module.so", kept + folder.substr(folder.size() - 6),
                             ignored);
  std::filesystem::rename(kept + folder.substr(folder.size() - 6), kept, ignored);
  std::filesystem::remove_all(folder, ignored);
  if (!library) throw std::runtime_error("does not compile:\n" + result.output + error);
  return library;
}

void fail(const char* message) { throw std::runtime_error(message); }

}  // namespace

EmulatedModule::EmulatedModule(std::string_view text, std::vector<std::string> kernel_expressions)
    : source_(emulate_cuda(text, "test.cu")), kernels_(std::move(kernel_expressions)) {
  std::string cpp = emulation_prelude({&source_, 1}) + source_.text;
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    cpp += emulated_entry(fmt::format("entry_{}", i), kernels_[i],
                          uses_barriers(source_, kernels_[i]));
  library_ = compile(cpp);
}

bool EmulatedModule::with_barriers(std::string_view kernel) const {
  return uses_barriers(source_, kernel);
}

void EmulatedModule::launch(std::string_view kernel, const Blocks& blocks,
                            void* const* parameters) const {
  const auto found = std::find(kernels_.begin(), kernels_.end(), kernel);
  if (found == kernels_.end()) throw std::runtime_error("no such kernel");
  const std::string symbol = fmt::format("entry_{}", found - kernels_.begin());
  const auto entry = reinterpret_cast<TwCpuEntry>(library_.symbol(symbol.c_str()));
  const TwCpuServices services{sizeof(TwCpuServices), fail, emulation_services(), nullptr};
  TwCpuLaunch launch{{}, {}, blocks.shared_bytes, &services};
  std::copy(blocks.grid.begin(), blocks.grid.end(), launch.grid);
  std::copy(blocks.block.begin(), blocks.block.end(), launch.block);
  const std::uint64_t count = std::uint64_t{blocks.grid[0]} * blocks.grid[1] * blocks.grid[2];
  if (blocks.threads == 1) return entry(&launch, parameters, 0, count);

  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(blocks.threads));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < errors.size(); ++t)
    threads.emplace_back([&, t] {
      try {
        entry(&launch, parameters, count * t / errors.size(), count * (t + 1) / errors.size());
      } catch (...) {
        errors[t] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

struct WithSeed::State {
  SettingsOverride override;
};

WithSeed::WithSeed(std::uint64_t seed) {
  Settings replacement = settings();
  replacement.emulate_seed = seed;
  state_ = new State{SettingsOverride(std::move(replacement))};
}

WithSeed::~WithSeed() { delete state_; }

struct WithCheck::State {
  SettingsOverride override;
};

WithCheck::WithCheck(bool is_on) {
  Settings replacement = settings();
  replacement.emulate_check = is_on;
  state_ = new State{SettingsOverride(std::move(replacement))};
}

WithCheck::~WithCheck() { delete state_; }

EmulatedModule module_with_check(bool is_on, std::string_view text,
                                 std::vector<std::string> kernel_expressions) {
  const WithCheck check(is_on);
  return EmulatedModule(text, std::move(kernel_expressions));
}

}  // namespace tilewright
