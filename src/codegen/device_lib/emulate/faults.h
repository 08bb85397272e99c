// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/faults.h — what emulated blocks do wrong, all of it instead of the
// first.
//
// Without a collector the first fault ends the launch. With one, a thread that races goes on, a
// thread that cannot (an access outside of every tensor) ends alone, and a block in which no thread
// can advance ends without the others.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct CollectedFault {
  std::string sentence;    // the first of its sort
  std::int64_t count = 1;  // how many
};

// Faults of all launches of the process while it lives; one at a time.
class FaultCollector {
 public:
  FaultCollector();
  ~FaultCollector();
  FaultCollector(const FaultCollector&) = delete;
  FaultCollector& operator=(const FaultCollector&) = delete;

  // In the order in which they were found: each once, whichever its threads and elements.
  std::vector<CollectedFault> all() const;
  void add(const std::string& sentence);

 private:
  mutable std::mutex mutex_;
  std::vector<CollectedFault> faults_;
  std::map<std::string, std::size_t> numbers_;  // by what remains without threads and elements
};

// Null: there is none.
FaultCollector* fault_collector();

// The sentence without what differs from thread to thread: names in quotes, places in parentheses,
// and numbers that are no lines.
std::string sort_of_fault(std::string_view sentence);

}  // namespace tilewright
