// SPDX-License-Identifier: Apache-2.0
// load_inline/hidden_macros.cpp — #define and #undef where the text changes hands; NVRTC has no
// push_macro.
#include "load_inline/hidden_macros.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright {
namespace {

// -DNAME, -DNAME=value, -DNAME(x)=value. Names that are reserved, and NDEBUG, are meant for headers
// as well and stay.
bool is_hidden(std::string_view option) {
  if (!option.starts_with("-D") || option.size() == 2 || option[2] == '_') return false;
  return option.substr(2, option.find('=') - 2) != "NDEBUG";
}

std::string definition(std::string_view option) {
  const std::string_view macro = option.substr(2);
  const std::size_t equals = macro.find('=');
  if (equals == std::string_view::npos) return fmt::format("#define {} 1\n", macro);
  return fmt::format("#define {} {}\n", macro.substr(0, equals), macro.substr(equals + 1));
}

bool names_our_file(std::string_view line) {
  return line.find(" \"tilewright/") != std::string_view::npos ||
         line.find(" \"entries\"") != std::string_view::npos;
}

}  // namespace

void hide_macros(KernelSource& source) {
  std::string define;
  std::string undefine;
  for (const std::string& option : source.options) {
    if (!is_hidden(option)) continue;
    define += definition(option);
    undefine += fmt::format("#undef {}\n", option.substr(2, option.find_first_of("=(") - 2));
  }
  if (define.empty()) return;
  std::erase_if(source.options, is_hidden);
  std::string out;
  bool is_ours = true;
  for (std::string_view rest = source.text; !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    if (line.starts_with("#line ") && names_our_file(line) != is_ours) {
      out += is_ours ? define : undefine;
      is_ours = !is_ours;
    }
    out += line;
  }
  source.text = std::move(out);
}

}  // namespace tilewright
