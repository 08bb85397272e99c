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

// A name that outlives the attribute: a literal, or as the op table has it. A string may not.
class AttributeName {
 public:
  constexpr AttributeName() = default;
  constexpr AttributeName(const char* name) : name_(name) {}
  constexpr AttributeName(std::string_view name) : name_(name) {}
  AttributeName(const std::string&) = delete;
  constexpr operator std::string_view() const { return name_; }
  friend bool operator==(const AttributeName&, const AttributeName&) = default;
  friend bool operator==(AttributeName a, std::string_view b) { return a.name_ == b; }
  friend bool operator==(AttributeName a, const char* b) { return a.name_ == b; }

 private:
  std::string_view name_;
};

struct Attribute {
  AttributeName name;
  AttributeValue value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

}  // namespace tilewright::ir
