// SPDX-License-Identifier: Apache-2.0
// compiler/launch_recording.h — launches of kernels in the IR, written down by the thread that
// makes them, so that they can be made again with other addresses and without looking anything up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/specialization.h"

namespace tilewright {

// Valid while the kernel lives. Keeps the memory of its arguments.
struct RecordedLaunch {
  const std::string* kernel = nullptr;  // its name, for messages
  const Specialization* specialization = nullptr;
  Dim3 grid;
  std::vector<Argument> arguments;
  std::vector<Buffer> memory;  // that arguments point to, one for each of them
};

class LaunchRecording {
 public:
  // With `runs` false launches are compiled and written down, and nothing else.
  explicit LaunchRecording(bool runs);
  ~LaunchRecording();
  LaunchRecording(const LaunchRecording&) = delete;
  LaunchRecording& operator=(const LaunchRecording&) = delete;

  static LaunchRecording* current() { return current_; }
  bool runs() const { return runs_; }
  void add(const std::string& kernel, const Specialization& specialization, const Dim3& grid,
           std::span<const Argument> arguments);

  std::vector<RecordedLaunch> launches;

 private:
  static thread_local LaunchRecording* current_;
  LaunchRecording* const before_;
  const bool runs_;
};

// On the current stream of its device.
void run_again(const RecordedLaunch& launch);

}  // namespace tilewright
