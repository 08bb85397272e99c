// SPDX-License-Identifier: Apache-2.0
// golden/ir_doc_test.cpp — docs/ir.md is the op table, written for people: every op with all its
// facts.
//
// With TW_UPDATE_GOLDEN set in the environment the page is written anew.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "golden.h"
#include "ir/op.h"

namespace tilewright {
namespace {

// The columns as they stand in the table.
struct DocRow {
  std::string family, name, operands, results, regions, traits, map, integers, mask, neutral, cost,
      flops, vector, stages, attributes, meaning;
};

const std::vector<DocRow>& rows() {
  static const std::vector<DocRow> all = {
#define OP(kind, family, name, operands, results, regions, traits, map, integers, mask, neutral, \
           cost, flops, vector, stages, attributes, meaning)                                     \
  DocRow{#family, name,     #operands, #results, #regions, #traits, #map,       #integers,       \
         #mask,   #neutral, #cost,     #flops,   #vector,  #stages, attributes, meaning},
#include "ir/ops.def"
  };
  return all;
}

// A column that is written only where it says something.
std::string fact(std::string_view label, const std::string& value, std::string_view nothing) {
  return value == nothing ? "" : fmt::format("{} `{}`", label, value);
}

std::string traits_of(const DocRow& row) {
  std::string out;
  std::istringstream words(row.traits);
  for (std::string word; words >> word;)
    if (word != "|" && word != "0") out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string facts_of_row(const DocRow& row) {
  std::vector<std::string> facts;
  for (std::string text :
       {traits_of(row), fact("regions", row.regions, "0"), fact("map", row.map, "NoMap"),
        fact("integers", row.integers, "Data"), fact("mask is operand", row.mask, "NoMask"),
        fact("neutral", row.neutral, "NoNumber"), fact("cost", row.cost, "Never"),
        fact("flops", row.flops, "0"), fact("vector", row.vector, "NoVector"),
        fact("stages", row.stages, "Every")})
    if (!text.empty()) facts.push_back(std::move(text));
  return fmt::format("{}", fmt::join(facts, "; "));
}

// In a cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

// The lines of ops.def that say what its columns mean, as they are.
std::string column_meanings() {
  std::istringstream table(golden::read(golden::fs::path(TW_SOURCE_FOLDER) / "src/ir/ops.def"));
  std::string out;
  for (std::string line; std::getline(table, line) && !line.starts_with("// \"Tile\"");)
    if (line.starts_with("//   ")) out += line.substr(5) + "\n";
  return out;
}

std::string page() {
  std::string out = R"(# The ops of the tile IR

This page is `src/ir/ops.def`, written by `golden_ir_doc_test` (`TW_UPDATE_GOLDEN=1` writes it
anew). `Any` is any number of operands or results; an attribute with `?` may be absent. What is left
out of *facts* is: no view, no mask, integer operands are data, not to be repeated, no flops, no
vector form, legal at every stage. A tile may be a scalar, a tile of rank 0. The columns:
```
)" + column_meanings() +
                    "```\n";
  std::string family;
  for (const DocRow& row : rows()) {
    if (row.family != family)
      out += fmt::format(
          "\n## {}\n| op | operands | results | attributes | meaning | facts |\n"
          "|---|---|---|---|---|---|\n",
          row.family);
    family = row.family;
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.name, row.operands, row.results,
                       cell(row.attributes), cell(row.meaning), cell(facts_of_row(row)));
  }
  return out;
}

TEST(IrDoc, IsTheOpTable) {
  golden::expect_file(golden::fs::path(TW_SOURCE_FOLDER) / "docs/ir.md", page());
}

// The page's rows are those of the program, so that no op is left out or twice.
TEST(IrDoc, HasEveryOpInTheOrderOfTheTable) {
  ASSERT_EQ(rows().size(), ir::all_ops().size());
  for (std::size_t i = 0; i < rows().size(); ++i) {
    EXPECT_EQ(rows()[i].name, ir::all_ops()[i].name);
    EXPECT_EQ(rows()[i].meaning, ir::all_ops()[i].meaning);
  }
}

}  // namespace
}  // namespace tilewright
