// SPDX-License-Identifier: Apache-2.0
// tensor/draws.h — which random numbers this thread has drawn from the process-wide generator, to
// draw the same ones again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

// A place in a seed's sequence of blocks.
struct RandomPosition {
  std::uint64_t seed = 0;
  std::uint64_t block = 0;
};

// While it lives, draws of this thread are written down.
class Draws {
 public:
  Draws();
  ~Draws();
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;

  // From here on they are the first ones again, in the same order; those beyond them are new.
  void repeat() { next_ = 0; }

  // For draws: from the generator, or once more.
  static RandomPosition take(std::int64_t blocks);

 private:
  static thread_local Draws* current_;
  Draws* const before_;
  std::vector<RandomPosition> taken_;
  std::size_t next_ = 0;
};

}  // namespace tilewright
