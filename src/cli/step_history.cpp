// SPDX-License-Identifier: Apache-2.0
// cli/step_history.cpp — when checkpoints are made, and which are kept.
#include "cli/step_history.h"

#include <algorithm>

namespace tilewright::cli {

void StepHistory::clear() {
  marks_.clear();
  bytes_ = 0;
  spacing_ = limits_.spacing;
  since_ = Clock::now();
}

// Copying the values of a program with large tiles takes a while itself: it is to stay a small
// share of the time.
void StepHistory::keep(const std::function<StepMark()>& make) {
  const Clock::time_point begin = Clock::now();
  if (begin - since_ <= spacing_) return;
  marks_.push_back(make());
  bytes_ += marks_.back().program.bytes();
  while (bytes_ > limits_.bytes && marks_.size() > 2) thin();
  since_ = Clock::now();
  spacing_ = std::max<Clock::duration>(limits_.spacing, 3 * (since_ - begin));
}

// The one goes whose neighbours are closest to each other, for how long ago it is.
void StepHistory::thin() {
  const std::int64_t now = marks_.back().place.time + 1;
  std::size_t chosen = 0;
  double least = 0;
  for (std::size_t i = 0; i + 1 < marks_.size(); ++i) {
    const std::int64_t before = i == 0 ? 0 : marks_[i - 1].place.time;
    const double gap = static_cast<double>(marks_[i + 1].place.time - before) /
                       static_cast<double>(now - marks_[i].place.time);
    if (i == 0 || gap < least) {
      least = gap;
      chosen = i;
    }
  }
  bytes_ -= marks_[chosen].program.bytes();
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(chosen));
}

const StepMark* StepHistory::last_until(std::int64_t time) {
  while (!marks_.empty() && marks_.back().place.time >= time) {
    bytes_ -= marks_.back().program.bytes();
    marks_.pop_back();
  }
  since_ = Clock::now();
  return marks_.empty() ? nullptr : &marks_.back();
}

}  // namespace tilewright::cli
