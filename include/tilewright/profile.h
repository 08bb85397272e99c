// SPDX-License-Identifier: Apache-2.0
// tilewright/profile.h — where the time goes: which kernels ran, what the host did meanwhile, what
// waited for what, and how much memory it took.
//
//   tw::Profile p = tw::profile([&] { f(x); });
//   std::cout << p.table();           // like key_averages().table()
//   p.chrome_trace("trace.json");     // for Perfetto or chrome://tracing
//   for (const std::string& finding : p.findings()) ...
//
// On CUDA device times come from CUPTI; without it a note says so and host times remain. One
// profile at a time can be taken in a process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct Trace;

// Names what happens while it lives: in profiles, and as a range of NVTX for NVIDIA's own tools.
class Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  std::string name_;
  std::int64_t start_ = 0;
  bool is_in_nvtx_ = false;
};

struct ProfileTableOptions {
  int row_limit = 20;  // 0: all
  // "device", "self_device", "host", "self_host", "calls", "name", "memory"; empty: device time
  // where there is any, else the host's own
  std::string sort_by;
  bool group_by_stack = false;  // one row per name and place in the nesting, else one per name
  int name_width = 60;          // longer names are cut
};

// What happened under one name.
struct ProfileRow {
  std::string name;  // with its nesting, "step > forward > gelu", when grouped by stack
  std::string kind;  // "range", "launch", "compile", "tensor", "wait", "call", "kernel", "copy" ...
  std::int64_t calls = 0;
  double host_seconds = 0;       // from begin to end
  double self_host_seconds = 0;  // without what is nested inside
  double device_seconds = 0;     // of all device work that was started inside
  double self_device_seconds = 0;
  std::int64_t bytes = 0;  // moved by copies and fills
  std::string shapes;      // of the first call: grid and block, or the tensor's shape
};

class Profile {
 public:
  Profile();
  explicit Profile(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}

  std::vector<ProfileRow> rows(const ProfileTableOptions& options = {}) const;
  std::string table(const ProfileTableOptions& options = {}) const;

  // What stands out, one sentence each: host waits, idle gaps of the device, kernels too small for
  // it.
  std::vector<std::string> findings() const;
  // What could not be recorded, and why.
  const std::vector<std::string>& notes() const;

  // The trace event format that Perfetto and chrome://tracing open. Throws EnvironmentError when
  // the file cannot be written; nothing half-written stays. So do the two below.
  void chrome_trace(const std::string& path) const;
  // "step;forward;gelu 1200" lines, microseconds of the host's own time, for flame graph tools.
  void folded_stacks(const std::string& path) const;
  // The same drawn as one SVG that opens in a browser.
  void flame_graph(const std::string& path) const;

  double seconds() const;                          // from the first event to the last
  std::int64_t peak_bytes(int device = -1) const;  // that the library held at once; -1: the host

  const Trace& trace() const { return *trace_; }

 private:
  std::shared_ptr<const Trace> trace_;
};

struct ProfileOptions {
  bool device = true;  // record the GPU where there is one
};

// Runs it once, waits for the devices, and returns what happened. What it throws passes through.
Profile profile(const std::function<void()>& run, const ProfileOptions& options = {});

}  // namespace tilewright
