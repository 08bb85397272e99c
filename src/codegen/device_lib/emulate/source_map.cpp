// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/source_map.cpp — a line by its number.
#include "codegen/device_lib/emulate/source_map.h"

#include <fmt/format.h>

namespace tilewright {

std::string line_text(const TwSourceMap* map, std::uint32_t line) {
  std::string text = fmt::format("line {}", line);
  if (map == nullptr || line < map->first || line - map->first >= map->count) return text;
  const TwSourceLine& source = map->lines[line - map->first];
  if (source.line != 0) text += fmt::format(" ({}:{})", map->files[source.file], source.line);
  return text;
}

}  // namespace tilewright
