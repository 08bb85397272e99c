// SPDX-License-Identifier: Apache-2.0
// ir/print.cpp — the textual form of the IR.
#include "ir/print.h"

#include <cmath>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text_writer.h"

namespace tilewright::ir {

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::Source:
      return "source";
    case Stage::Tile:
      return "tile";
    case Stage::Laid:
      return "laid";
    case Stage::Final:
      return "final";
  }
  return "";
}

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\x{:02x}", c);
    else out += c;
  }
  return out + "\"";
}

// Shortest text that reads back as the same number, and never looks like an integer.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct AttributeText {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return float_text(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const std::vector<std::int64_t>& value) const {
    return fmt::format("[{}]", fmt::join(value, ", "));
  }
  std::string operator()(const std::vector<std::string>& value) const {
    std::vector<std::string> texts;
    for (const std::string& text : value) texts.push_back(quoted(text));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
};

class Printer {
 public:
  Printer(const Kernel& kernel, PrintOptions options)
      : kernel_(kernel), options_(options), names_(kernel) {}

  std::string run() {
    std::vector<std::string> arguments;
    for (const KernelArgument& argument : kernel_.arguments)
      arguments.push_back(argument_text(argument));
    std::string header = fmt::format("kernel @{}({}) {}", kernel_.name, fmt::join(arguments, ", "),
                                     name_of(kernel_.stage));
    for (const std::string& file : kernel_.files) header += " " + quoted(file);
    out_.open(header);
    print_tables();
    print_ops(kernel_.body);
    out_.close();
    return out_.take();
  }

 private:
  void print_tables() {
    if (kernel_.shape.is_decided()) out_.line("shape" + attributes_text(facts_of(kernel_.shape)));
    for (const KernelLayout& layout : kernel_.layouts)
      out_.format("layout #{} [{}]{}", layout.name, fmt::join(layout.shape.shape(), ", "),
                  attributes_text(facts_of(layout)));
    for (const KernelBuffer& buffer : kernel_.buffers)
      out_.format("buffer @{} : {}{}", buffer.name, buffer.type.to_string(),
                  attributes_text(facts_of(buffer)));
    for (const KernelMap& map : kernel_.maps) print_map(map);
    for (const KernelRing& ring : kernel_.rings)
      out_.format("ring @{} : @{}{}", ring.name, fmt::join(ring.buffers, ", @"),
                  ring.words.empty() ? "" : " words @" + ring.words);
  }

  static std::string attributes_text(const std::vector<Attribute>& attributes) {
    std::vector<std::string> texts;
    for (const Attribute& a : attributes)
      texts.push_back(fmt::format("{} = {}", a.name, std::visit(AttributeText{}, a.value)));
    return texts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(texts, ", "));
  }

  std::string number_text(const LaunchNumber& number) const {
    std::vector<std::string> factors;
    if (number.factor != 1 || number.arguments.empty()) factors.push_back(fmt::format("{}", number.factor));
    for (const int argument : number.arguments)
      factors.push_back(fmt::format("%{}", names_[kernel_.arguments[static_cast<std::size_t>(argument)].value]));
    return fmt::format("{}", fmt::join(factors, " "));
  }

  // "map @a_map : %a [1 = %K by 1, 0 = %M by %stride]": of tile dimension 1, of %K elements.
  void print_map(const KernelMap& map) {
    std::vector<std::string> dimensions;
    for (const KernelMap::Dimension& d : map.dimensions)
      dimensions.push_back(fmt::format("{} = {} by {}", d.of_tile, number_text(d.size), number_text(d.stride)));
    out_.format("map @{} : %{} [{}]{}", map.name, names_[kernel_.arguments[static_cast<std::size_t>(map.argument)].value],
                fmt::join(dimensions, ", "), map.rounds_to_tf32 ? " tf32" : "");
  }

  std::string argument_text(const KernelArgument& argument) const {
    std::string text = typed(argument.value);
    std::vector<std::string> facts;
    if (argument.divisible != 1) facts.push_back(fmt::format("divisible = {}", argument.divisible));
    if (argument.is_const) facts.emplace_back("const = 1");
    if (argument.memory >= 0) facts.push_back(fmt::format("memory = {}", argument.memory));
    if (argument.is_positive) facts.emplace_back("positive = 1");
    if (!facts.empty()) text += fmt::format(" {{{}}}", fmt::join(facts, ", "));
    return text;
  }

  std::string typed(Value value) const {
    return fmt::format("%{}: {}", names_[value], kernel_.type(value).to_string());
  }

  std::string list(const std::vector<Value>& values) const {
    std::vector<std::string> texts;
    for (const Value value : values) texts.push_back("%" + names_[value]);
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string head(const Op& op) const {
    std::string text;
    if (!op.results.empty()) text += list(op.results) + " = ";
    text += op.facts().name;
    if (!op.operands.empty()) text += " " + list(op.operands);
    text += attributes_text(op.attributes);
    std::vector<std::string> types;
    for (const Value value : op.results) types.push_back(kernel_.type(value).to_string());
    if (!types.empty()) text += fmt::format(" : {}", fmt::join(types, ", "));
    if (options_.with_locations && op.location.line > 0) text += location_text(op.location);
    return text;
  }

  std::string location_text(const Location& location) const {
    if (location.file == 0) return fmt::format(" @{}:{}", location.line, location.column);
    return fmt::format(" @{}:{}:{}", location.file, location.line, location.column);
  }

  void print_ops(const Region& region) {
    for (const Op* op : region.ops) print_op(*op);
  }

  void print_op(const Op& op) {
    if (op.regions.empty()) {
      out_.line(head(op));
      return;
    }
    std::string header = head(op) + region_arguments(op.regions[0]);
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      out_.open(header);
      print_ops(op.regions[i]);
      const bool is_last = i + 1 == op.regions.size();
      if (is_last) out_.close();
      else header = region_header_after(op.regions[i + 1]);
    }
  }

  // "} then (%a: f32)" opens the next region of the same op.
  std::string region_header_after(const Region& next) {
    out_.outdent();
    return "} then" + region_arguments(next);
  }

  std::string region_arguments(const Region& region) const {
    if (region.arguments.empty()) return "";
    std::vector<std::string> texts;
    for (const Value value : region.arguments) texts.push_back(typed(value));
    return fmt::format(" ({})", fmt::join(texts, ", "));
  }

  const Kernel& kernel_;
  PrintOptions options_;
  ValueNames names_;
  TextWriter out_;
};

// Collects every value of a kernel in the order of the text.
void collect(const Region& region, std::vector<Value>& values) {
  values.insert(values.end(), region.arguments.begin(), region.arguments.end());
  for (const Op* op : region.ops) {
    values.insert(values.end(), op->results.begin(), op->results.end());
    for (const Region& inner : op->regions) collect(inner, values);
  }
}

}  // namespace

ValueNames::ValueNames(const Kernel& kernel) : names_(kernel.value_count()) {
  std::vector<Value> values;
  for (const KernelArgument& argument : kernel.arguments) values.push_back(argument.value);
  collect(kernel.body, values);
  std::unordered_set<std::string> taken;
  int number = 0;
  // From stage Laid on an op stands in every sweep that needs it, and its name is read back.
  const char between = kernel.stage >= Stage::Laid ? '.' : '_';
  for (const Value value : values) {
    std::string name = kernel.name_of(value);
    if (name.empty()) {
      do name = fmt::format("{}", number++);
      while (!taken.insert(name).second);
    } else if (!taken.insert(name).second) {
      int copy = 1;
      const auto numbered = [&] {
        return fmt::format("{}{}{}", kernel.name_of(value), between, copy);
      };
      while (!taken.insert(numbered()).second) ++copy;
      name = numbered();
    }
    names_[value.id] = std::move(name);
  }
}

std::string print(const Kernel& kernel, PrintOptions options) {
  return Printer(kernel, options).run();
}

}  // namespace tilewright::ir
