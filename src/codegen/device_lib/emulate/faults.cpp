// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/faults.cpp — faults of one sort are counted.
#include "codegen/device_lib/emulate/faults.h"

#include <atomic>
#include <cctype>

#include "base/check.h"

namespace tilewright {
namespace {

std::atomic<FaultCollector*> the_collector{nullptr};

}  // namespace

FaultCollector::FaultCollector() {
  FaultCollector* const before = the_collector.exchange(this);
  TW_CHECK(before == nullptr, "faults are collected twice");
}

FaultCollector::~FaultCollector() { the_collector.store(nullptr); }

FaultCollector* fault_collector() { return the_collector.load(std::memory_order_acquire); }

std::vector<CollectedFault> FaultCollector::all() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

void FaultCollector::add(const std::string& sentence) {
  const std::string sort = sort_of_fault(sentence);
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = numbers_.try_emplace(sort, faults_.size());
  if (is_new) faults_.push_back({sentence, 1});
  else ++faults_[found->second].count;
}

std::string sort_of_fault(std::string_view sentence) {
  std::string sort;
  bool is_quoted = false;
  int depth = 0;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const char c = sentence[i];
    if (c == '\'') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '(') ++depth;
    if (depth == 0) {
      const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      const bool is_of_line =
          sort.ends_with("line ") ||
          (!sort.empty() && std::isdigit(static_cast<unsigned char>(sort.back())) != 0);
      if (!is_digit || is_of_line) sort += c;
    }
    if (c == ')') --depth;
  }
  return sort;
}

}  // namespace tilewright
