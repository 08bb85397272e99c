// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/late.cpp — the row of results that a program leaves to be written while the next one
// computes (device_lib/cpu/late.h): the last loop of programs that go over their row several times.
// It becomes a structure of the values that an element is computed from, and runs block by block
// beside the next program's last sum.
#include "base/check.h"
#include "codegen/cpu/program.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {

using ir::Type;

void ProgramWriter::add_late_array(ir::Value owner) {
  const Type& type = kernel_.type(owner);
  const std::string element = type_text(type.element());
  late_.arrays.push_back(
      {element, array(owner), type.numel(), static_cast<std::int64_t>(type.element_bytes())});
  declared_[array(owner)] = element + "*";
}

// A loop that finds one thing is a call of the library.
void ProgramWriter::find_row_call(Nest& nest, const std::vector<Reduction>& reductions) {
  const bool keeps = nest.step == deferred_.meanwhile && is_kept_sum(nest, alone(reductions));
  if (!keeps && !nest.is_largest && !is_plain_sum(nest, alone(reductions))) return;
  nest.sum = reductions[0].sums[0];
  nest.sum_type =
      type_text(reductions[0].wide.value_or(kernel_.type(reductions[0].op->operands[0]).element()));
  if (keeps) nest.keeps = array(nest.step->kept[0]);
}

// ---- Their text

void ProgramWriter::print_meanwhile(const Nest& nest) {
  const std::string& name = nest.loops.back().name;
  out_.outdent();
  out_.open(fmt::format("}}, [&](i64 {}) TW_ALWAYS", name));
  const char* fetch = nest.shape.numel() >= shortest_far_row ? "fetch_far_block" : "fetch_block";
  for (const std::string& row : nest.ahead)
    out_.format("if (streams) tw::{}({} + {});", fetch, row, name);
  out_.line("late.step();");
}

// The values that the lines read are copied; all else of them is their own.
void ProgramWriter::print_late(const Nest& nest, const Part& part) {
  TW_CHECK(part.streamed.size() == 1 && part.range.begin == "0", "a late row is one store");
  const Streamed& streamed = part.streamed[0];
  late_.type = streamed.type;
  late_.position = nest.loops.back().name;
  late_.lines = with_long_position(part.lines, late_.position);
  std::set<std::string> names;
  for (const std::string& line : late_.lines)
    for (const CppToken& token : tokenize_cpp(line, "a late row"))
      if (token.is_identifier()) names.emplace(token.text);
  std::string values;
  for (const std::string& name : names) {
    const auto found = declared_.find(name);
    if (found == declared_.end()) continue;
    late_.variables.push_back({found->second, name});
    values += (values.empty() ? "" : ", ") + name;
  }
  out_.format("late.begin(launch, {{{}}}, &{}, {});", values, streamed.place, part.range.end);
}

}  // namespace tilewright
