// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/rows_ahead.cpp — the text that asks for rows of the next program
// (lower/rows_ahead.cpp says which).
#include "codegen/cpu/program.h"

namespace tilewright {

using ir::Type;

// Whether a scalar has its text already: where the loop stands, later ones have none.
bool ProgramWriter::is_written(ir::Value scalar) const {
  return texts_.contains(scalar.id) || constant_value(scalar);
}

// None: a factor has no text yet.
std::optional<std::string> ProgramWriter::growth_text(const Growth& growth) {
  std::string sum;
  for (const Growth& term : growth.terms) {
    const std::optional<std::string> part = growth_text(term);
    if (!part) return std::nullopt;
    sum += (sum.empty() ? "" : " + ") + *part;
  }
  if (!growth.factor) return sum.empty() ? "1" : sum;
  if (!is_written(growth.factor)) return std::nullopt;
  const std::string factor = atom(text(growth.factor));
  return sum.empty() ? factor : fmt::format("{} * {}", atom(sum), factor);
}

// Where the next program's rows of this length begin.
std::vector<std::string> ProgramWriter::next_rows(const Type& row) {
  std::vector<std::string> rows;
  for (const ir::Op* pointer : rows_to_read(row)) {
    const std::optional<Growth> growth = growth_of(pointer->operands[0]);
    if (!growth || growth->stays || !is_written(pointer->operands[0])) continue;
    if (const std::optional<std::string> step = growth_text(*growth))
      rows.push_back(fmt::format("{} + {}", text(pointer->operands[0]), *step));
  }
  return rows;
}

void ProgramWriter::find_rows_ahead(Nest& nest) {
  if (has_fetched_ahead_ || !may_read_ahead(nest)) return;
  nest.ahead = next_rows(nest.shape);
  if (nest.ahead.empty() || deferred_.step) return;
  has_fetched_ahead_ = true;
  const ir::Op& result = *large_result(nest.shape);
  count_streamed(result);
  nest.block_size = block_beside_rows(nest, result);
}

void ProgramWriter::fetch_ahead(const Nest& nest, const Part& part, const std::string& first,
                                const std::string& last) {
  if (!part.range.holds.value_or(true)) return;
  const bool is_whole = first == "0";
  for (const std::string& row : nest.ahead)
    out_.format("if (streams) tw::fetch_ahead({}, {});",
                is_whole ? row : fmt::format("{} + {}", row, first),
                is_whole ? last : fmt::format("{} - {}", last, first));
}

}  // namespace tilewright
