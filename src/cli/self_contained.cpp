// SPDX-License-Identifier: Apache-2.0
// cli/self_contained.cpp — line by line, headers in their place.
#include "cli/self_contained.h"

#include <set>
#include <sstream>

namespace tilewright::cli {
namespace {

// The name in `#include "name"`; empty for other lines.
std::string included_name(const std::string& line) {
  constexpr std::string_view begin = "#include \"";
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos || line.compare(start, begin.size(), begin) != 0) return {};
  const std::size_t first = start + begin.size();
  const std::size_t end = line.find('"', first);
  return end == std::string::npos ? std::string() : line.substr(first, end - first);
}

// Headers name each other with the folder that the source sees, or without it.
const NamedFile* header_named(const KernelSource& source, const std::string& name) {
  for (const NamedFile& header : source.headers)
    if (header.name == name || header.name.ends_with("/" + name)) return &header;
  return nullptr;
}

void add_lines(const KernelSource& source, const std::string& text, std::set<std::string>& done,
               std::string& out) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = included_name(line);
    const NamedFile* header = name.empty() ? nullptr : header_named(source, name);
    if (header == nullptr) {
      if (line.find("#pragma once") == std::string::npos) out += line + "\n";
    } else if (done.insert(header->name).second) {
      add_lines(source, header->text, done, out);
    }
  }
}

}  // namespace

std::string with_headers_inside(const KernelSource& source, const std::string& text,
                                const Target& target) {
  std::set<std::string> done;
  std::string out;
  if (target.is_cuda()) out = "#ifdef __NVCC__\n#pragma nv_diag_suppress 177\n#endif\n";
  add_lines(source, text, done, out);
  return out;
}

}  // namespace tilewright::cli
