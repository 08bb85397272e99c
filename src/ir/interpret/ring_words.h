// SPDX-License-Identifier: Apache-2.0
// ir/interpret/ring_words.h — the words of rings in shared memory at stage Final: each is a barrier
// with a phase, arrivals and bytes that are missing.
//
// A copy takes the place that it goes to when it starts, and is there when somebody has to wait for
// its word: who reads too early finds nothing, and who passes a word by the wrong parity too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// Where an element of a box lies in shared memory, which begins at byte `from`; chunks of 16 bytes
// are exchanged by bits of their own address.
std::int64_t place_in_box(std::int64_t from, std::int64_t offset, std::int64_t exchanged);

class RingWords {
 public:
  // Of one box.
  struct Copy {
    const Op* op = nullptr;
    std::vector<std::int64_t> coordinates = {};
    std::int64_t to = 0;  // the array
    std::vector<Element> elements = {};
  };
  struct Word {
    std::int64_t arrivals = 0, missing = 0;  // of a phase
    std::int64_t bytes = 0;                  // that are announced and not there
    int phase = 0;
    std::vector<Copy> copies = {};                 // under way
    std::unordered_set<std::size_t> landed = {};  // chunks of shared memory that the last ones filled
  };

  void set_up(std::int64_t address, std::int64_t arrivals) {
    words_[address] = {.arrivals = arrivals, .missing = arrivals};
  }
  Word* find(std::int64_t address);  // null where it is not set up
  // These give what is wrong, or nothing.
  static std::string arrive(Word& word);
  static std::string receive(Word& word, std::int64_t bytes);
  // Whether a phase of that parity has ended.
  static bool has_ended(const Word& word, std::int64_t parity) { return word.phase != parity; }

 private:
  static void end_phase(Word& word);

  std::map<std::int64_t, Word> words_;  // by address
};

}  // namespace tilewright::ir
