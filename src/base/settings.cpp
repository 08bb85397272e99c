// SPDX-License-Identifier: Apache-2.0
// base/settings.cpp — reads the environment.
#include "base/settings.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string first_set(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::string value = variable(name); !value.empty()) return value;
  return "";
}

bool flag(const char* name, bool otherwise = false) {
  const std::string value = variable(name);
  if (value.empty()) return otherwise;
  if (value == "1" || value == "on" || value == "true") return true;
  if (value == "0" || value == "off" || value == "false") return false;
  throw ArgumentError(
      fmt::format("{}='{}' is neither on nor off; unset it or give one of them", name, value));
}

std::int64_t number(const char* name, std::int64_t otherwise) {
  const std::string value = variable(name);
  if (value.empty()) return otherwise;
  std::int64_t parsed = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (status != std::errc{} || end != value.data() + value.size() || parsed < 0)
    throw ArgumentError(fmt::format(
        "{}='{}' is not a whole number; unset it or give one of 0 or more", name, value));
  return parsed;
}

constexpr std::string_view known_topics[] = {"compile",   "cache",  "launch",     "guess",
                                             "graph",     "fusion", "recompiles", "output_code",
                                             "libraries", "all"};

std::string log_topics() {
  const std::string value = variable("TILEWRIGHT_LOG");
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    if (std::find(std::begin(known_topics), std::end(known_topics), item) == std::end(known_topics))
      throw ArgumentError(fmt::format("TILEWRIGHT_LOG has no topic '{}'; there are: {}", item,
                                      fmt::join(known_topics, ", ")));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
  }
  return value;
}

std::string default_cache_folder() {
  if (std::string folder = variable("TILEWRIGHT_CACHE_DIR"); !folder.empty()) return folder;
  if (std::string folder = variable("XDG_CACHE_HOME"); folder.starts_with('/'))
    return folder + "/tilewright";
  if (std::string home = variable("HOME"); home.starts_with('/'))
    return home + "/.cache/tilewright";
  return "";
}

Settings read_environment() {
  const bool checks = !variable("TILEWRIGHT_CHECK").empty();
  return {.cache_folder = default_cache_folder(),
          .cache_max_bytes = number("TILEWRIGHT_CACHE_SIZE", 1024) << 20,
          .cuda_home = first_set({"TILEWRIGHT_CUDA_HOME", "CUDA_HOME", "CUDA_PATH"}),
          .launch_blocking = flag("TILEWRIGHT_LAUNCH_BLOCKING"),
          .host_compiler = first_set({"TILEWRIGHT_CXX", "CXX"}),
          .threads = static_cast<int>(number("TILEWRIGHT_NUM_THREADS", 0)),
          .dump_folder = variable("TILEWRIGHT_DUMP_DIR"),
          .interpret = flag("TILEWRIGHT_INTERPRET") || checks,
          .check_folder = variable("TILEWRIGHT_CHECK"),
          .debug = flag("TILEWRIGHT_DEBUG") || checks,
          .skipped_passes = variable("TILEWRIGHT_SKIP_PASSES"),
          .extra_passes = variable("TILEWRIGHT_EXTRA_PASSES"),
          .autotune = flag("TILEWRIGHT_AUTOTUNE", true),
          .print_autotuning = flag("TILEWRIGHT_PRINT_AUTOTUNING"),
          .profile_folder = variable("TILEWRIGHT_PROFILE"),
          .check_trace = flag("TILEWRIGHT_CHECK_TRACE"),
          .check_text = flag("TILEWRIGHT_CHECK_TEXT"),
          .nvtx_injection = variable("NVTX_INJECTION64_PATH"),
          .log = log_topics(),
          .no_color = !variable("NO_COLOR").empty(),
          .search_path =
              first_set({"PATH"}).empty() ? "/usr/local/bin:/usr/bin:/bin" : variable("PATH"),
          .emulate_seed = static_cast<std::uint64_t>(number("TILEWRIGHT_EMULATE_SEED", 1)),
          .emulate_check = flag("TILEWRIGHT_EMULATE_CHECK") || checks,
          .use_libraries = flag("TILEWRIGHT_LIBRARIES", true),
          .allow_tf32 = flag("TILEWRIGHT_ALLOW_TF32"),
          .onednn = variable("TILEWRIGHT_ONEDNN"),
          .library_path = variable("LD_LIBRARY_PATH"),
          .virtual_env = variable("VIRTUAL_ENV"),
          .conda_prefix = variable("CONDA_PREFIX"),
          .home = variable("HOME")};
}

std::atomic<const Settings*> override_settings{nullptr};

}  // namespace

const Settings& settings() {
  if (const Settings* replaced = override_settings.load(std::memory_order_acquire))
    return *replaced;
  static const Settings environment = read_environment();
  return environment;
}

SettingsOverride::SettingsOverride(Settings replacement) : replacement_(std::move(replacement)) {
  previous_ = override_settings.exchange(&replacement_);
}

SettingsOverride::~SettingsOverride() { override_settings.store(previous_); }

}  // namespace tilewright
