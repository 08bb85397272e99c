// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/minimise.cpp — statements are left out one by one, from the last to the first.
#include "minimise.h"

#include <algorithm>

namespace tilewright::fuzz {
namespace {

// Without a half, a quarter, an eighth of its statements.
void add_without_many(const Block& block, std::vector<Block>& out) {
  for (std::size_t size = block.size() / 2; size >= 2; size /= 2)
    for (std::size_t end = block.size(); end >= size; end -= size) {
      Block without = block;
      const auto last = without.begin() + static_cast<std::ptrdiff_t>(end);
      without.erase(last - static_cast<std::ptrdiff_t>(size), last);
      out.push_back(std::move(without));
    }
}

// Every smaller body that is one step away: without a statement, or with the blocks of a compound
// statement in its place.
void add_smaller(const Block& block, std::vector<Block>& out) {
  for (std::size_t i = block.size(); i-- > 0;) {
    if (block[i].is_kept) continue;
    Block without = block;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(without);
    for (const Statement::Branch& branch : block[i].branches) {
      Block inlined = without;
      inlined.insert(inlined.begin() + static_cast<std::ptrdiff_t>(i), branch.body.begin(),
                     branch.body.end());
      for (Statement& statement : inlined) statement.is_kept = false;
      out.push_back(std::move(inlined));
    }
  }
  for (std::size_t i = 0; i < block.size(); ++i)
    for (std::size_t b = 0; b < block[i].branches.size(); ++b) {
      std::vector<Block> inner;
      add_smaller(block[i].branches[b].body, inner);
      if (b > 0 && b + 1 == block[i].branches.size()) {
        Block without = block;
        without[i].branches.pop_back();
        out.push_back(std::move(without));
      }
      for (Block& body : inner) {
        Block with = block;
        with[i].branches[b].body = std::move(body);
        out.push_back(std::move(with));
      }
    }
}

// What was said, without the place where: a smaller kernel must be refused for the same reason.
std::string reason(const Failure& failure) {
  if (failure.kind != Failure::Kind::Refused) return {};
  const std::string line = failure.message.substr(0, failure.message.find('\n'));
  const std::size_t at = line.find("error: ");
  std::string words;
  for (const char letter : line.substr(at == std::string::npos ? 0 : at))
    if (letter < '0' || letter > '9') words += letter;
  return words;
}

bool is_alike(const Failure& a, const Failure& b) {
  return a.place == b.place && a.kind == b.kind && reason(a) == reason(b);
}

}  // namespace

Minimised minimise(const Program& program, const Failure& failure, EvaluateOptions options,
                   int attempts) {
  Minimised best{program, failure};
  options.places = {failure.place};
  options.seconds = std::min(options.seconds, 20u);
  if (failure.place == Place::Interpreter) options.places.clear();
  std::size_t start = 0;
  bool is_small = false;  // nothing larger than a statement can be left out
  while (true) {
    std::vector<Block> smaller;
    if (!is_small) add_without_many(best.program.body, smaller);
    else add_smaller(best.program.body, smaller);
    bool found = false;
    // Goes on where the last success was: what could not be left out before it still cannot,
    // mostly.
    for (std::size_t k = 0; k < smaller.size() && !found; ++k) {
      const std::size_t at = (start + k) % smaller.size();
      if (attempts-- <= 0) return best;
      Program candidate = best.program;
      candidate.body = smaller[at];
      for (const Failure& got : evaluate({candidate}, options)) {
        if (found || !is_alike(got, failure)) continue;
        best = {candidate, got};
        start = at;
        found = true;
      }
    }
    if (found) continue;
    if (is_small) return best;
    is_small = true;
    start = 0;
  }
}

}  // namespace tilewright::fuzz
