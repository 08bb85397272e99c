// SPDX-License-Identifier: Apache-2.0
// profile/injection.cpp — records a whole process into a file: one that links this library, or one
// that uses CUDA without us.
//
// `tilewright profile -- PROGRAM` sets TILEWRIGHT_PROFILE to a folder, where each process that
// takes part writes a file of its own, and CUDA_INJECTION64_PATH to this library. The driver then
// loads the library when it starts and calls InitializeInjection; a program that links the library
// begins when the library is loaded. A thread of ours writes what has come a few times a second, so
// that a crash loses little.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/log.h"
#include "base/settings.h"
#include "profile/cuda_activity.h"
#include "profile/devices.h"
#include "profile/trace_file.h"

namespace tilewright {
namespace {

constexpr auto write_period = std::chrono::milliseconds(200);

class ProcessRecording {
 public:
  explicit ProcessRecording(const std::string& path) : file_(path) {
    recorder_.start();
    writer_ = std::thread([this] { write_on(); });
  }

  void start_cuda() { has_cuda_ = start_cuda_activity(recorder_); }

  // At the end of the process; the driver may be gone already, so CUPTI is only asked to flush.
  void end() {
    if (getpid() != process_) return;  // a forked child has no writer and shares the file
    {
      const std::lock_guard lock(mutex_);
      if (is_ended_) return;
      is_ended_ = true;
    }
    wake_.notify_all();
    writer_.join();
    if (has_cuda_) flush_cuda_activity(true);
    recorder_.stop();
    file_.append(recorder_.take());
  }

 private:
  void write_on() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, write_period, [&] { return is_ended_; })) {
      if (has_cuda_) flush_cuda_activity(false);
      // Not asked for at once: while the driver starts it must not be called.
      if (has_cuda_ && !has_devices_) {
        note_devices(recorder_);
        has_devices_ = true;
      }
      file_.append(recorder_.take());
    }
  }

  const pid_t process_ = getpid();
  TraceFile file_;
  Recorder recorder_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread writer_;
  std::atomic<bool> has_cuda_{false};
  bool has_devices_ = false;
  bool is_ended_ = false;
};

ProcessRecording* recording = nullptr;

// A profile that cannot be written must not stop the program that is profiled.
void start_if_asked() {
  if (recording || settings().profile_folder.empty()) return;
  try {
    // Lives until the process ends.
    recording =
        new ProcessRecording(fmt::format("{}/{}.trace", settings().profile_folder, getpid()));
    std::atexit([] { recording->end(); });
  } catch (const std::exception& error) {
    warn_once(fmt::format("nothing is profiled: {}", error.what()));
  }
}

// A wrong environment variable is told by whoever reads the settings next.
[[gnu::constructor]] void at_load() {
  try {
    start_if_asked();
  } catch (const std::exception&) {
  }
}

}  // namespace
}  // namespace tilewright

// Called by the CUDA driver when it starts, by the name that it expects. Non-zero: all is well.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  if (tilewright::recording) tilewright::recording->start_cuda();
  return 1;
}
