// SPDX-License-Identifier: Apache-2.0
// cache/stress.cpp — many processes compile and load the same kernels through one cold cache while
// some are killed.
//
//   cache_stress [--processes N] [--kernels N] [--kills N] [--seed N]
//
// Every process loads and runs every kernel in an order of its own; a killed one is started again.
// At the end every result was right, every kernel was compiled once (again only where a kill took
// the result), every entry passes its checksum, and the next start leaves no temporary. Exit code
// 0, 1 with a sentence for each broken promise, 77 without a compiler.
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "cache_testing.h"
#include "runtime/compile.h"
#include "runtime/disk_cache.h"
#include "tilewright/device.h"
#include "tilewright/error.h"
#include "tilewright/module.h"

extern char** environ;

namespace tilewright {
namespace {

constexpr std::int64_t cache_bytes = std::int64_t{1} << 30;
constexpr int programs = 37;

struct Options {
  int processes = 8;
  int kernels = 200;
  int kills = 40;
  int seed = 1;
  int worker = -1;            // this process is worker number N
  bool must_be_warm = false;  // the worker compiles nothing
};

// ---- A worker.

KernelSource stress_kernel(int number) {
  KernelSource source;
  source.language = Language::Cpp;
  source.name = fmt::format("stress_{}", number);
  source.text = fmt::format(R"({}
extern "C" void {}(const TwCpuLaunch*, void* const* parameters, unsigned long first, unsigned long last) {{
  long* out = *static_cast<long**>(parameters[0]);
  const long factor = *static_cast<const long*>(parameters[1]);
  for (unsigned long i = first; i < last; ++i) out[i] = factor * {} + static_cast<long>(i);
}}
)",
                            cpu_entry_text, source.name, number);
  source.options = {"-O0", "-nostdlib"};
  source.kernels.push_back(
      {source.name,
       {{.name = "out", .kind = Parameter::Kind::Pointer, .dtype = DType::Int64},
        {.name = "factor", .kind = Parameter::Kind::Scalar, .dtype = DType::Int64}},
       {},
       std::nullopt});
  return source;
}

bool gives_right_result(const KernelSource& source, int number) {
  const std::int64_t factor = 1000 + number;
  std::array<std::int64_t, programs> out{};
  const Function function = Module::load(source, Device::cpu()).function(source.name);
  function[{.grid = programs}](out.data(), factor);
  Device::cpu().synchronize();
  for (int i = 0; i < programs; ++i)
    if (out[static_cast<std::size_t>(i)] != factor * number + i) return false;
  return true;
}

int run_worker(const Options& options) {
  std::vector<int> order(static_cast<std::size_t>(options.kernels));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(options.seed)));
  for (const int number : order) {
    const KernelSource source = stress_kernel(number);
    if (options.must_be_warm) {
      CompileReport report;
      compile(source, Device::cpu().target(), &report);
      if (!report.from_cache)
        throw EnvironmentError(fmt::format("{} was not in the cache", source.name));
    }
    if (!gives_right_result(source, number))
      throw EnvironmentError(fmt::format("{} gave a wrong result", source.name));
  }
  return 0;
}

// ---- The parent.

class Stress {
 public:
  explicit Stress(const Options& options)
      : options_(options), random_(static_cast<unsigned>(options.seed)) {
    // Compilers of killed workers become our children, so that their end can be waited for.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setenv("TILEWRIGHT_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    setenv("TILEWRIGHT_NUM_THREADS", "1", 1);
    setenv("TILEWRIGHT_LOG", "compile", 1);
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < options_.processes; ++i) start_worker(i);
    while (!workers_.empty()) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 100'000));
      kill_one();
      reap(WNOHANG);
    }
    reap(0);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    check_cache();
    fmt::print("{} processes, {} kernels, {} kills, {} compilations, {:.1f} s: {}\n",
               options_.processes, options_.kernels, killed_, compilations(), seconds,
               failures_ == 0 ? "all promises kept" : "FAILED");
    if (failures_ != 0) fmt::print("{}", read_text(log()));
    return failures_ == 0 ? 0 : 1;
  }

 private:
  std::string log() const { return folder_ / "log"; }

  void expect(bool is_kept, const std::string& sentence) {
    if (is_kept) return;
    ++failures_;
    fmt::print("broken: {}\n", sentence);
  }

  pid_t spawn_worker(int number, bool must_be_warm) {
    std::vector<std::string> words = {"cache_stress",
                                      "--worker",
                                      std::to_string(number),
                                      "--kernels",
                                      std::to_string(options_.kernels),
                                      "--seed",
                                      std::to_string(random_() % 1'000'000)};
    if (must_be_warm) words.emplace_back("--must-be-warm");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log().c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    pid_t pid = -1;
    const int status =
        posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0)
      throw EnvironmentError(fmt::format("cannot start a worker: {}", std::strerror(status)));
    return pid;
  }

  void start_worker(int number) { workers_[spawn_worker(number, false)] = number; }

  void kill_one() {
    if (killed_ >= options_.kills || workers_.empty()) return;
    const auto victim =
        std::next(workers_.begin(), static_cast<std::ptrdiff_t>(random_() % workers_.size()));
    if (kill(victim->first, SIGKILL) == 0) ++killed_;
  }

  // Starts killed workers again; ignores orphaned compilers.
  void reap(int how) {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, how)) > 0;) {
      const auto worker = workers_.find(pid);
      if (worker == workers_.end()) continue;
      const int number = worker->second;
      workers_.erase(worker);
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        start_worker(number);
      } else {
        expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
               fmt::format("worker {} ended with status {}", number, status));
      }
    }
  }

  std::int64_t compilations() const {
    const std::string text = read_text(log());
    std::int64_t count = 0;
    for (std::size_t at = text.find("compile: compiled"); at != std::string::npos;
         at = text.find("compile: compiled", at + 1))
      ++count;
    return count;
  }

  void check_cache() {
    const DiskCache::Info info = DiskCache(folder_ / "cache", cache_bytes).verify();
    expect(info.damaged == 0, fmt::format("{} entries are damaged", info.damaged));
    expect(info.entries == options_.kernels,
           fmt::format("there are {} entries for {} kernels", info.entries, options_.kernels));
    // A compilation that was logged had stored its result, which nobody compiles again.
    expect(compilations() <= options_.kernels,
           fmt::format("{} compilations for {} kernels", compilations(), options_.kernels));
    expect(compilations() >= options_.kernels - killed_,
           fmt::format("only {} compilations", compilations()));
    const pid_t warm = spawn_worker(0, true);
    int status = 0;
    waitpid(warm, &status, 0);
    expect(status == 0, fmt::format("the warm worker ended with status {}", status));
    DiskCache next(folder_ / "cache", cache_bytes);
    next.find({});
    const std::int64_t left = next.info().temporaries;
    expect(left == 0, fmt::format("{} temporaries survive the next start", left));
  }

  const Options options_;
  const TestFolder folder_;
  std::mt19937 random_;
  std::map<pid_t, int> workers_;
  int killed_ = 0;
  int failures_ = 0;
};

int number_after(const std::vector<std::string>& words, std::size_t& i) {
  int value = 0;
  const std::string text = i + 1 < words.size() ? words[++i] : "";
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < 0)
    throw ArgumentError(
        fmt::format("{} needs a number of 0 or more, got '{}'", words[i - 1], text));
  return value;
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  const std::map<std::string, int*> numbers = {{"--processes", &options.processes},
                                               {"--kernels", &options.kernels},
                                               {"--kills", &options.kills},
                                               {"--seed", &options.seed},
                                               {"--worker", &options.worker}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto found = numbers.find(words[i]); found != numbers.end())
      *found->second = number_after(words, i);
    else if (words[i] == "--must-be-warm") options.must_be_warm = true;
    else
      throw ArgumentError(fmt::format(
          "unknown option '{}'; there are --processes, --kernels, --kills, --seed", words[i]));
  }
  return options;
}

int run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  if (options.worker >= 0) return run_worker(options);
  try {
    host_compiler_identity();
  } catch (const MissingError& error) {
    fmt::print("skipped: {}\n", error.what());
    return 77;
  }
  return Stress(options).run();
}

}  // namespace
}  // namespace tilewright

int main(int count, char** words) {
  try {
    return tilewright::run(std::vector<std::string>(words + 1, words + count));
  } catch (const std::exception& error) {
    fmt::print(stderr, "cache_stress: {}\n", error.what());
    return 1;
  }
}
