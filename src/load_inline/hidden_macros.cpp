// SPDX-License-Identifier: Apache-2.0
// load_inline/hidden_macros.cpp — push_macro and pop_macro where the text changes hands.
#include "load_inline/hidden_macros.h"

#include <fmt/format.h>

#include "load_inline/compiler_flags.h"

namespace tilewright {
namespace {

// Names that are reserved, and NDEBUG, are meant for headers as well.
bool is_for_headers(const std::string& name) {
  return name.empty() || name.front() == '_' || name == "NDEBUG";
}

std::vector<std::string> macro_names(const InlineOptions& options) {
  std::vector<std::string> names;
  for (const std::string& flag : host_flags(options, true)) {
    if (!flag.starts_with("-D")) continue;
    const std::string name = flag.substr(2, flag.find_first_of("=(") - 2);
    if (!is_for_headers(name)) names.push_back(name);
  }
  return names;
}

bool names_our_file(std::string_view line) {
  return line.find(" \"tilewright/") != std::string_view::npos ||
         line.find(" \"entries\"") != std::string_view::npos;
}

}  // namespace

std::string hide_macros(const std::string& text, const InlineOptions& options) {
  const std::vector<std::string> names = macro_names(options);
  if (names.empty()) return text;
  std::string hide;
  std::string show;
  for (const std::string& name : names) {
    hide += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", name);
    show += fmt::format("#pragma pop_macro(\"{}\")\n", name);
  }
  std::string out = hide;
  bool is_ours = true;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    if (line.starts_with("#line ") && names_our_file(line) != is_ours) {
      out += is_ours ? show : hide;
      is_ours = !is_ours;
    }
    out += line;
  }
  return out;
}

}  // namespace tilewright
