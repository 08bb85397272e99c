// SPDX-License-Identifier: Apache-2.0
// ir/attribute.h — a named fact of an op or of a row of a kernel's tables.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::ir {

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                    std::vector<std::string>>;

struct Attribute {
  std::string name;
  AttributeValue value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

}  // namespace tilewright::ir
