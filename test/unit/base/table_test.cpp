// SPDX-License-Identifier: Apache-2.0
// base/table_test.cpp — alignment of columns.
#include "base/table.h"

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Table, AlignsColumns) {
  Table table({{"way", Align::Left}, {"time", Align::Right}, {"note", Align::Left}});
  table.add({"naive", "12.5 ms", "slow"});
  table.add({"vectors", "1 ms"});
  EXPECT_EQ(table.to_string(),
            "way         time  note\n"
            "naive    12.5 ms  slow\n"
            "vectors     1 ms\n");
}

TEST(Table, WithoutTitlesAndIndented) {
  Table table({{}, {}}, 2);
  table.add({"a", "1"});
  table.add({"long", "2"});
  EXPECT_EQ(table.to_string(), "  a     1\n  long  2\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{}, {}}, 0);
  table.add({"\u00b5s", "1"});
  table.add({"ms", "2"});
  EXPECT_EQ(table.to_string(), "\u00b5s  1\nms  2\n");
}

TEST(Table, NoRows) { EXPECT_EQ(Table({{}, {}}, 0).to_string(), ""); }

TEST(Table, TooManyCellsIsOurBug) {
  Table table({{"one"}});
  EXPECT_THROW(table.add({"1", "2"}), InternalError);
}

}  // namespace
}  // namespace tilewright
