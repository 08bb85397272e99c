// SPDX-License-Identifier: Apache-2.0
// frontend/python/attributes.cpp — owner.name, and Python's hasattr and getattr.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/python/interpreter.h"
#include "frontend/triton/builtins.h"

namespace tilewright::python {
namespace {

// Names of packages outside the files that host code asks for before it uses them.
std::optional<bool> is_known_outside(const std::string& name) {
  static constexpr std::array<std::string_view, 27> present = {
      "os.environ",          "os.getenv",
      "torch.__version__",   "torch.bfloat16",
      "torch.compile",       "torch.cuda",
      "torch.float16",       "torch.float32",
      "torch.float8_e4m3fn", "torch.float8_e5m2",
      "torch.version",       "torch.version.cuda",
      "torch.version.hip",   "triton.Config",
      "triton.__version__",  "triton.autotune",
      "triton.cdiv",         "triton.compiler",
      "triton.heuristics",   "triton.jit",
      "triton.language",     "triton.next_power_of_2",
      "triton.runtime",      "triton.set_allocator",
      "triton.testing",      "triton.tools",
      "triton.knobs"};
  static constexpr std::array<std::string_view, 6> absent = {
      "torch.hpu", "torch.mlu", "torch.musa", "torch.npu", "torch.ptpu", "torch.gcu"};
  const auto is_it = [&](std::string_view known) { return known == name; };
  if (std::any_of(present.begin(), present.end(), is_it)) return true;
  if (std::any_of(absent.begin(), absent.end(), is_it)) return false;
  // Of the language we know all that a kernel can use.
  if (name.starts_with("triton.language.")) return triton::has_external_value(name);
  return std::nullopt;
}

std::string name_argument(const std::vector<Value>& arguments, std::string_view function) {
  const bool has_name = arguments.size() >= 2 && arguments[1].is<std::string>();
  if (!has_name) throw Unsupported{fmt::format("{} needs an object and a name", function)};
  return *arguments[1].get_if<std::string>();
}

}  // namespace

std::optional<bool> Interpreter::has_attribute(const Value& owner, const std::string& name) {
  if (const auto* outside = owner.get_if<ExternalValue>()) {
    const std::string full = fmt::format("{}.{}", outside->name, name);
    if (shared_.options_.facts.contains(full) || shared_.options_.facts.contains(full + "()") ||
        find_constant(full) != nullptr || find_builtin(full) != nullptr)
      return true;
    return is_known_outside(full);
  }
  if (const auto* inside = owner.get_if<ModuleValue>())
    return static_cast<bool>(lookup(*inside->module, name));
  try {
    return member_of(owner, name).has_value();
  } catch (const Unsupported&) {
    return true;  // there is one, whose value is not known
  }
}

Value Interpreter::attribute_of(const Value& owner, const std::string& name) {
  if (const auto* outside = owner.get_if<ExternalValue>()) {
    Binding binding;
    binding.kind = Binding::Kind::External;
    binding.external = fmt::format("{}.{}", outside->name, name);
    return from_binding(binding, name);
  }
  if (const auto* inside = owner.get_if<ModuleValue>())
    return from_binding(lookup(*inside->module, name), name);
  if (const std::optional<Value> found = member_of(owner, name)) return *found;
  throw Unsupported{fmt::format("'.{}' of {} is not evaluated", name, type_name(owner))};
}

Value Interpreter::call_hasattr(const std::vector<Value>& arguments) {
  const std::string name = name_argument(arguments, "hasattr");
  const std::optional<bool> known = has_attribute(arguments[0], name);
  if (!known)
    throw Unsupported{fmt::format("whether {} has '{}' is not known while reading a file",
                                  repr(arguments[0]), name)};
  return *known;
}

Value Interpreter::call_getattr(const std::vector<Value>& arguments) {
  const std::string name = name_argument(arguments, "getattr");
  const std::optional<bool> known = has_attribute(arguments[0], name);
  if (arguments.size() > 2 && known == false) return arguments[2];
  if (arguments.size() > 2 && !known)
    throw Unsupported{fmt::format("whether {} has '{}' is not known while reading a file",
                                  repr(arguments[0]), name)};
  return attribute_of(arguments[0], name);
}

}  // namespace tilewright::python
