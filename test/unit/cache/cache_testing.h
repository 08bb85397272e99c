// SPDX-License-Identifier: Apache-2.0
// cache/cache_testing.h — what the cache tests share: a folder of their own, sample binaries, work
// in a forked child.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "runtime/backend.h"

namespace tilewright {

constexpr std::int64_t megabyte = 1 << 20;

// A new folder that goes with the value.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Hash128 test_key(std::uint64_t number);
// Different for every seed; `size` bytes of code, a log and two symbols.
Binary test_binary(std::uint64_t seed, std::size_t size = 300);
bool same(const Binary& a, const Binary& b);

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);
std::vector<std::string> names_in(const std::string& folder);
void set_age(const std::string& path, std::int64_t seconds);

// Runs `work` in a forked child; what it returns and what it wrote to standard error come back. An
// exception is reported as "threw: ...".
struct ChildResult {
  int exit_code = 0;
  std::string result;
  std::string errors;
};
ChildResult run_in_child(const std::function<std::string()>& work);

// For use in a child: become uid 65534, or mount a small tmpfs on a folder, seen by this process
// only. They return why that is refused, empty on success.
std::string become_nobody();
std::string mount_small_disk(const std::string& folder, const std::string& size);
// What a child returns when it could not do that; the test then is skipped.
constexpr const char* skip_mark = "skip: ";

}  // namespace tilewright
