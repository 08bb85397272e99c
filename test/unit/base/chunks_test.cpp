// SPDX-License-Identifier: Apache-2.0
// base/chunks_test.cpp — elements that stay where they are, and memory that is used again.
#include "base/chunks.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/recycled.h"

namespace tilewright {
namespace {

struct Counted {
  explicit Counted(int& alive, int number) : count(&alive), value(number) { ++*count; }
  Counted(const Counted&) = delete;
  ~Counted() { --*count; }
  int* count;
  int value;
  char filler[1000] = {};
};

TEST(Chunks, ElementsStayAndAreDestroyedOnce) {
  int alive = 0;
  {
    Chunks<Counted> list;
    std::vector<Counted*> places;
    for (int i = 0; i < 100; ++i) places.push_back(&list.emplace_back(alive, i));
    EXPECT_EQ(alive, 100);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(places[static_cast<std::size_t>(i)]->value, i);
    int next = 0;
    list.for_each([&](Counted& one) { EXPECT_EQ(one.value, next++); });
    EXPECT_EQ(next, 100);
    for (int i = 0; i < 60; ++i) list.pop_back();
    EXPECT_EQ(alive, 40);
    EXPECT_EQ(list.emplace_back(alive, 7).value, 7);
    next = 0;
    list.for_each([&](Counted& one) {
      EXPECT_EQ(one.value, next == 40 ? 7 : next);
      ++next;
    });
    EXPECT_EQ(next, 41);
    Chunks<Counted> moved = std::move(list), other(3);
    other.emplace_back(alive, 1);
    other = std::move(moved);
    EXPECT_EQ(alive, 42);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Chunks, ThatAreEmptiedCanBeFilledAgain) {
  Chunks<int> list(2);
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 5; ++i) list.emplace_back(i);
    for (int i = 0; i < 5; ++i) list.pop_back();
    list.for_each([](int) { FAIL(); });
  }
}

TEST(Recycled, PiecesOfAnySizeAreApart) {
  std::vector<std::pair<unsigned char*, std::size_t>> pieces;
  for (int turn = 0; turn < 2; ++turn) {
    for (const std::size_t bytes : {0u, 1u, 127u, 128u, 129u, 300u, 512u, 513u, 16384u, 16385u})
      for (int i = 0; i < 3; ++i) {
        auto* const piece = static_cast<unsigned char*>(allocate_recycled(bytes));
        std::fill(piece, piece + bytes, static_cast<unsigned char>(pieces.size()));
        pieces.emplace_back(piece, bytes);
      }
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const auto [piece, bytes] = pieces[p];
      for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(piece[i], static_cast<unsigned char>(p));
      free_recycled(piece, bytes);
    }
    pieces.clear();
  }
}

// What one thread makes another may drop, also when it ends right after.
TEST(Recycled, MemoryMayGoToAnotherThread) {
  using List = std::vector<std::array<char, 100>, Recycled<std::array<char, 100>>>;
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<List> lists;
    for (std::size_t i = 0; i < 200; ++i) lists.emplace_back(1 + i % 5);
    std::thread([given = std::move(lists)]() mutable { given.clear(); }).join();
  }
}

}  // namespace
}  // namespace tilewright
