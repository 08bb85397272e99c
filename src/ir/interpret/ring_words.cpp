// SPDX-License-Identifier: Apache-2.0
// ir/interpret/ring_words.cpp — phases of words, and places in boxes.
#include "ir/interpret/ring_words.h"

namespace tilewright::ir {

RingWords::Word* RingWords::find(std::int64_t address) {
  const auto found = words_.find(address);
  return found == words_.end() ? nullptr : &found->second;
}

void RingWords::end_phase(Word& word) {
  if (word.missing != 0 || word.bytes != 0) return;
  word.phase ^= 1;
  word.missing = word.arrivals;
}

std::string RingWords::arrive(Word& word) {
  if (word.missing == 0) return "a slot of a ring is acquired or released too often";
  --word.missing;
  end_phase(word);
  return "";
}

std::string RingWords::receive(Word& word, std::int64_t bytes) {
  word.bytes -= bytes;
  if (word.bytes < 0) return "more bytes arrive in a slot of a ring than were announced";
  end_phase(word);
  return "";
}

std::int64_t place_in_box(std::int64_t from, std::int64_t offset, std::int64_t exchanged) {
  const std::int64_t address = from + offset;
  if (exchanged == 0) return address;
  return address ^ (address >> 7 & (exchanged / 16 - 1)) << 4;
}

}  // namespace tilewright::ir
