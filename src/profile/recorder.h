// SPDX-License-Identifier: Apache-2.0
// profile/recorder.h — collects what the library tells and what CUPTI records into a trace.
//
// One recorder listens at a time. Events come from any thread; those of the host go into a list per
// thread, so that threads do not wait for each other.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/events.h"
#include "profile/trace.h"

namespace tilewright {

class Recorder final : public EventListener {
 public:
  Recorder();
  ~Recorder();  // stops
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Throws ArgumentError when another recorder listens already.
  void start();
  void stop();

  void on_event(const HostEvent& event) override;
  void on_memory(int device, std::int64_t bytes) override;

  // From CUPTI; texts are copied.
  void add(TraceEvent event, std::string_view name, std::string_view detail = {});
  void note(std::string sentence);
  void add_device(TraceDevice device);

  // What came since the last call; not finished.
  Trace take();

 private:
  struct List;  // of one thread
  List& list_of_thread();

  const std::uint64_t number_;  // of this recorder among all, for the lists that threads remember
  std::mutex mutex_;
  std::vector<std::unique_ptr<List>> lists_;
  std::vector<std::string> notes_;
  std::vector<TraceDevice> devices_;
  bool is_listening_ = false;
};

}  // namespace tilewright
