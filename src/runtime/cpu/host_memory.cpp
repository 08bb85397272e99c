// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/host_memory.cpp — /proc/meminfo and the control group's limit.
#include "runtime/cpu/host_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace tilewright {
namespace {

// The first piece of a small file of the kernel; no allocation, since memory may be short.
std::string_view read_small_file(const char* path, char (&space)[4096]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = read(file, space, sizeof space);
  close(file);
  return got > 0 ? std::string_view(space, static_cast<std::size_t>(got)) : std::string_view{};
}

// The number after `label` (or at the start for an empty one); none for "max" or a missing label.
std::optional<std::size_t> number_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + label.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::size_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{}) return std::nullopt;
  return number;
}

// Page cache that the kernel would drop first does not count as used.
std::size_t left_in_control_group() {
  char space[4096];
  const auto limit = number_after(read_small_file("/sys/fs/cgroup/memory.max", space), "");
  if (!limit) return std::numeric_limits<std::size_t>::max();
  const std::size_t used =
      number_after(read_small_file("/sys/fs/cgroup/memory.current", space), "").value_or(0);
  const std::size_t cache =
      number_after(read_small_file("/sys/fs/cgroup/memory.stat", space), "inactive_file ")
          .value_or(0);
  const std::size_t held = used - std::min(used, cache);
  return *limit - std::min(*limit, held);
}

}  // namespace

std::size_t total_host_memory() {
  static const std::size_t total = [] {
    const std::size_t machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    char space[4096];
    const auto limit = number_after(read_small_file("/sys/fs/cgroup/memory.max", space), "");
    return std::min(machine, limit.value_or(machine));
  }();
  return total;
}

std::size_t available_host_memory() {
  char space[4096];
  const auto kib = number_after(read_small_file("/proc/meminfo", space), "MemAvailable:");
  const std::size_t machine = kib ? *kib << 10 : total_host_memory();
  return std::min(machine, left_in_control_group());
}

}  // namespace tilewright
