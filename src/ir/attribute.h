// SPDX-License-Identifier: Apache-2.0
// ir/attribute.h — a named fact of an op or of a row of a kernel's tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tilewright::ir {

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                    std::vector<std::string>>;

struct Attribute {
  std::string_view name;  // of an op's: as the op table has it, which outlives all ops
  AttributeValue value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

}  // namespace tilewright::ir
