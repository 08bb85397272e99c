// SPDX-License-Identifier: Apache-2.0
// graph/node_table_test.cpp — equal nodes are found, and many that differ in one number alone cost
// each no more than few do.
#include "graph/trace/node_table.h"

#include <ctime>

#include <algorithm>

#include <gtest/gtest.h>

namespace tilewright::graph {
namespace {

Node element_of(std::int64_t offset, std::uint64_t number) {
  Node node{.op = Op::Multiply};
  node.operands.push_back({.node = 0, .offset = offset});
  Value factor;
  factor.number.bits = number;
  node.operands.push_back(factor);
  return node;
}

TEST(NodeTable, EqualNodesAreOne) {
  NodeTable table;
  NodeList nodes;
  for (int turn = 0; turn < 2; ++turn)
    for (std::int64_t i = 0; i < 1000; ++i)
      EXPECT_EQ(table.place(nodes, element_of(i / 10, static_cast<std::uint64_t>(i % 10))), i);
  EXPECT_EQ(nodes.size(), 1000u);
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// As a traced loop over the elements of a tensor makes them.
TEST(NodeTable, ElementsOfOneTensorAreNotComparedWithEachOther) {
  const auto seconds_for = [](std::int64_t count) {
    double least = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
      NodeTable table;
      NodeList nodes;
      const double begin = thread_seconds();
      for (std::int64_t i = 0; i < count; ++i) table.place(nodes, element_of(i, 2));
      least = std::min(least, thread_seconds() - begin);
    }
    return least;
  };
  EXPECT_LT(seconds_for(16000), 9 * seconds_for(4000)) << "16 times where each is";
}

}  // namespace
}  // namespace tilewright::graph
