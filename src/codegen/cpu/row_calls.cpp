// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/row_calls.cpp — loops along a row that are calls of the library
// (device_lib/cpu/rows.h; lower/row_facts.cpp says which). Those that only write a long function of
// f32 (a GELU) are tw::map, which computes many elements side by side.
#include "codegen/cpu/program.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {

std::vector<std::string> with_long_position(const std::vector<std::string>& lines,
                                            std::string_view name) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const std::vector<CppToken> tokens = tokenize_cpp(line, "a term");
    std::string written;
    std::size_t at = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool is_subscript = i > 0 && tokens[i - 1].is_one_of({"[", "+"}) &&
                                i + 1 < tokens.size() && tokens[i + 1].is("]");
      if (!tokens[i].is(name) || is_subscript) continue;
      written += line.substr(at, tokens[i].offset - at) + fmt::format("i32({})", name);
      at = tokens[i].end();
    }
    out.push_back(written + line.substr(at));
  }
  return out;
}

void ProgramWriter::print_map(const Nest& nest, const Part& part) {
  uses_rows_ = uses_maps_ = true;
  fetch_ahead(nest, part, part.range.begin, part.range.end);
  const std::string& name = nest.loops.back().name;
  out_.open(fmt::format("tw::map({}, {}, &{}, streams, [&](i64 {}) TW_ALWAYS", part.range.begin,
                        part.range.end, part.streamed[0].place, name));
  for (const std::string& line : with_long_position(part.lines, name)) out_.line(line);
  out_.outdent();
  out_.line("});");
}

void ProgramWriter::print_sum(Nest& nest, const Part& part) {
  uses_rows_ = true;
  const std::string& name = nest.loops.back().name;
  const std::string range = fmt::format("{}, {}", part.range.begin, part.range.end);
  const bool has_more = nest.step == deferred_.meanwhile;
  if (nest.is_largest)
    out_.open(fmt::format("{0} = tw::max_number({0}, tw::largest({1}, [&](i64 {2}) TW_ALWAYS",
                          nest.sum, range, name));
  else if (!nest.keeps.empty())
    out_.open(fmt::format("{} += tw::sum_kept({}, {}, [&](i64 {}) TW_ALWAYS", nest.sum, range,
                          nest.keeps, name));
  else
    out_.open(fmt::format("{} += tw::sum{}({}, [&](i64 {}) TW_ALWAYS", nest.sum,
                          nest.sum_type == "f32" ? "" : "_" + nest.sum_type, range, name));
  for (const std::string& line : with_long_position(part.lines, name)) out_.line(line);
  if (has_more) print_meanwhile(nest);
  out_.outdent();
  out_.line(nest.is_largest ? "}));" : "});");
}

}  // namespace tilewright
