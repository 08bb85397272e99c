// SPDX-License-Identifier: Apache-2.0
// ir/check/finding.h — what `check` found wrong with a kernel: each thing once, and how often.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

enum class FindingKind : std::uint8_t {
  OutOfBounds,
  Race,
  SameValue,  // a race that changes nothing: harmless
  DuplicateStore,
  Unwritten,
  Undefined,  // a result depends on what a masked load does not define
  Nan,
  Infinity,
  IndexOverflow,
  DivisionByZero,
  Promise,
  Assertion,
  AtomicScope,
  Float64,
  Stride,
  Barrier,  // of CUDA sources: threads that do not meet
  Copy,     // of CUDA sources: an asynchronous copy that was not waited for
  Stopped,  // the launch could not go on
};

struct FindingFacts {
  std::string_view name;  // "out-of-bounds"
  bool is_harmless = false;
};
const FindingFacts& facts_of(FindingKind kind);

// A place of the user's source.
struct FindingPlace {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text() const;  // "k.py:12:5"
};

struct Finding {
  FindingKind kind = FindingKind::OutOfBounds;
  std::string kernel;
  FindingPlace place;
  std::string message;                       // one clause: what happens
  std::array<std::int64_t, 3> program = {};  // the first in which it does
  bool has_program = true;                   // else it is so in all
  std::string element;                       // "[3, 17]" of the op's tile; empty for scalars
  std::vector<std::string> values;           // what was involved, a clause each
  std::vector<std::string> notes;            // other places, a clause each
  std::string remedy;                        // what to do
  std::int64_t programs = 1;                 // in how many it happens
  std::int64_t elements = 1;                 // how often
};

// Those of one launch. An op has at most one finding of a kind with the same partner.
class Findings {
 public:
  // Counts an occurrence; true: it is the first, and is to be added.
  bool count(FindingKind kind, const Op& op, const Op* partner, std::int64_t program);
  void add(Finding finding);

  // In the order in which they were found.
  const std::vector<Finding>& all() const { return all_; }

 private:
  struct Key {
    FindingKind kind;
    const Op* op;
    const Op* partner;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Counter {
    std::size_t finding = 0;
    std::int64_t last_program = -1;
  };
  std::map<Key, Counter> counters_;
  std::vector<Finding> all_;
  const Key* last_key_ = nullptr;
  Counter* last_ = nullptr;
};

// Adds findings of another launch: those of a kind at a place that is known are counted there.
void merge_findings(std::vector<Finding>& into, const std::vector<Finding>& more);

FindingPlace place_of(const Kernel& kernel, const Op& op);

// With the line of the source, when it is given, and a caret.
std::string render(const Finding& finding, std::string_view source);

}  // namespace tilewright::ir
