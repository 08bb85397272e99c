// SPDX-License-Identifier: Apache-2.0
// ir/verify_final.cpp — the rules of verify_final.h.
#include "ir/verify_final.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "ir/verify_types.h"
#include "machine/library.h"

namespace tilewright::ir {
namespace {

constexpr int many_uses = 2;

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return is_letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

// ---- Types of the ops of stage Final

class FinalTypes {
 public:
  FinalTypes(const Kernel& kernel, const Op& op) : kernel_(kernel), op_(op) {}

  void check() const {
    switch (final_op(op_.kind)) {
      case FinalOp::Array:
        return check_array();
      case FinalOp::ArrayView:
        require(result() == operand(0), "the view has the type of the array");
        return check_place();
      case FinalOp::Read:
        check_place();
        return require(result() == operand(0).element(), "gives an element of the array");
      case FinalOp::Write:
        return check_write();
      case FinalOp::Linear:
        return check_linear();
      case FinalOp::Digit:
        return check_digit();
      case FinalOp::All:
        for (std::size_t k = 0; k < op_.operands.size(); ++k)
          require(operand(k) == Type::scalar(b1), "conditions are bools");
        return require(!op_.operands.empty() && result() == Type::scalar(b1), "gives a bool");
      case FinalOp::Call:
        return check_call();
      case FinalOp::ForPrograms:
        return check_programs();
      case FinalOp::Thread: {
        const std::int64_t count = op_.integer("count");
        require(count > 0 && (count & (count - 1)) == 0, "the count is a power of two");
        return require(result() == Type::scalar(i32), "gives an i32");
      }
      case FinalOp::LoadTo:
        return check_vector(0, op_.operands.size() - 3, true);
      case FinalOp::StoreFrom:
        return check_vector(1, op_.operands.size() - 2, false);
      case FinalOp::Lines:
        return require(op_.integers("files").size() == op_.integers("numbers").size(),
                       "has a file for each line");
    }
  }

 private:
  void require(bool holds, const std::string& rule) const {
    if (!holds) fail_verification(kernel_, &op_, rule);
  }
  const Type& operand(std::size_t k) const { return kernel_.type(op_.operands[k]); }
  const Type& result() const { return kernel_.type(op_.result()); }
  static bool is_index(const Type& type) { return type.is_scalar() && type.is_int(); }

  void check_array() const {
    require(result().is_array(), "gives an array");
    require(op_.integer("count") > 0, "an array has at least one element");
    const bool is_variable = result().space == Space::Registers;
    require(op_.operands.size() <= (is_variable ? 1 : 0),
            "a variable has at most one initial value, other arrays none");
    require(!is_variable || op_.integer("count") == 1, "a variable has one element");
    if (!op_.operands.empty())
      require(operand(0) == result().element(), "the initial value has the element's type");
    require((op_.find("offset") != nullptr) == (result().space == Space::Arena),
            "an array of the arena has an offset, no other has");
    require(op_.integer("offset") >= 0, "an offset is not negative");
  }

  void check_place() const {
    require(operand(0).is_array(), "the first operand is an array");
    require(is_index(operand(1)), "the index is an integer");
  }

  void check_write() const {
    require(op_.operands.size() == 3 || op_.operands.size() == 4,
            "needs an array, an index, a value and perhaps a condition");
    check_place();
    require(operand(2) == operand(0).element(), "the value has the element's type");
    if (op_.operands.size() == 4)
      require(operand(3) == Type::scalar(b1), "the condition is a bool");
  }

  // Operands 0 and 1 are the array and the pointer, or the other way round; `guards` conditions and
  // perhaps another value follow.
  void check_vector(std::size_t array, std::size_t guards, bool has_other) const {
    if (op_.operands.size() == 2) guards = 0;
    require(op_.operands.size() >= 2 && guards <= 2 && (op_.operands.size() != 3 || !has_other),
            has_other ? "needs an array, a pointer, and a condition or two bounds with another value"
                      : "needs a pointer, an array and perhaps a condition or two bounds");
    const Type& pointer = operand(1 - array);
    require(operand(array).is_array(), fmt::format("operand {} is an array", array));
    require(pointer.is_pointer && !pointer.is_array(),
            fmt::format("operand {} is a pointer", 1 - array));
    const Type element = operand(array).element();
    require(element.element_bytes() == pointer.pointee().element_bytes(),
            "the array has elements of those in memory");
    for (std::size_t k = 2; k < 2 + guards; ++k)
      require(guards == 1 ? operand(k) == Type::scalar(b1) : is_index(operand(k)),
              guards == 1 ? "the condition is a bool" : "the bounds are integers");
    if (has_other && guards > 0)
      require(operand(2 + guards) == element, "the other value has the element's type");
    const std::int64_t count = op_.integer("count"), width = op_.integer("width");
    require(width > 0 && count > 0 && count % width == 0, "the count is a multiple of the width");
    const Op* made = kernel_.maker(op_.operands[array]);
    require(!made || made->kind != OpKind::Array || count <= made->integer("count"),
            "rule F2: the vector is longer than the array");
  }

  void check_linear() const {
    const std::vector<std::int64_t> factors = op_.integers("factors");
    const auto strides =
        static_cast<std::size_t>(std::count(factors.begin(), factors.end(), std::int64_t{0}));
    require(op_.operands.size() == factors.size() + strides,
            "needs an index for each factor and a stride for each that is 0");
    for (std::size_t k = 0; k < op_.operands.size(); ++k)
      require(is_index(operand(k)), "indices and strides are integers");
    require(is_index(result()), "gives an integer");
  }

  void check_digit() const {
    require(is_index(operand(0)) && is_index(result()), "takes and gives an integer");
    require(op_.integer("over") > 0 && op_.integer("of", 1) > 0, "divisors are above 0");
  }

  bool fits(char letter, const Type& type) const {
    switch (letter) {
      case 'i':
        return is_index(type);
      case 'f':
        return type == Type::scalar(f32);
      case 'b':
        return type == Type::scalar(b1);
      case 's':
        return type.is_scalar() && !type.is_array();
      case 'v':
      case 'w':
        return type == Type::array(Type::scalar(letter == 'v' ? f32 : f64), Space::Registers);
      case 'p':
        return type.is_pointer && !type.is_array() && type.is_scalar();
      case 'm':
        return type.is_array() || fits('p', type);
      default:
        return type.is_array();
    }
  }

  void check_call() const {
    const std::string name(op_.text("function"));
    const LibraryFunction* function = find_library_function(name);
    require(function != nullptr, fmt::format("rule F9: the library has no function '{}'", name));
    bool fit = op_.operands.size() == function->operands.size();
    for (std::size_t k = 0; fit && k < op_.operands.size(); ++k)
      fit = fits(function->operands[k], operand(k));
    require(fit, fmt::format("rule F9: '{}' takes operands \"{}\"", name, function->operands));
    require(op_.integers("numbers").size() == static_cast<std::size_t>(function->numbers) &&
                op_.regions.size() == static_cast<std::size_t>(function->regions),
            fmt::format("rule F9: '{}' takes {} numbers and {} regions", name, function->numbers,
                        function->regions));
    check_call_result(*function);
    if (function->kind == LibraryKind::Dot) check_product();
    if (function->kind == LibraryKind::MergeRuns)
      require(op_.integers("numbers")[2] >= 0 &&
                  op_.integers("numbers")[2] < static_cast<std::int64_t>(std::size(sort_orders)),
              "rule F9: an order of merge_runs is 0, 1 or 2");
    check_functions(*function);
  }

  void check_functions(const LibraryFunction& function) const {
    const Type given = Type::scalar(function.operands.starts_with('w') ? f64 : f32);
    for (const Region& region : op_.regions) {
      const bool is_first = &region == &op_.regions[0];
      const std::vector<Value>& yielded = region.ops.back()->operands;
      require(region.arguments.size() == 1 &&
                  kernel_.type(region.arguments[0]) == Type::scalar(i64) &&
                  yielded.size() == (is_first ? 1u : 0u) &&
                  (!is_first || kernel_.type(yielded[0]) == given),
              is_first ? fmt::format("rule F9: the function that is handed over takes an i64 and "
                                     "gives an {}",
                                     given.to_string())
                       : "rule F9: the second function takes an i64 and gives nothing");
    }
  }

  // Elements of one kind, and no place of a known array behind its end.
  void check_product() const {
    const std::vector<std::int64_t> sizes = op_.integers("numbers");
    const auto is_float = [&](std::size_t k) { return is_floating(operand(k).dtype); };
    require(sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0, "rule F9: a product has sizes above 0");
    require(is_float(0) == is_float(1) && is_float(0) == is_float(4),
            "rule F9: a product is one of floats or one of integers");
    require_inside(0, (sizes[0] - 1) * sizes[1] + sizes[1] - 1);
    for (const std::size_t k : {1, 4}) {
      const std::int64_t rows = sizes[k == 1 ? 0 : 2], columns = sizes[k == 1 ? 2 : 1];
      const Op* by_row = kernel_.maker(op_.operands[k + 1]);
      const Op* by_column = kernel_.maker(op_.operands[k + 2]);
      if (by_row && by_row->kind == OpKind::Constant && by_column &&
          by_column->kind == OpKind::Constant)
        require_inside(
            k, (rows - 1) * by_row->integer("value") + (columns - 1) * by_column->integer("value"));
    }
  }

  void require_inside(std::size_t k, std::int64_t last) const {
    const Op* array = kernel_.maker(op_.operands[k]);
    require(!array || array->kind != OpKind::Array || last < array->integer("count"),
            "rule F2: the product reads or writes behind the end of an array");
  }

  void check_call_result(const LibraryFunction& function) const {
    const bool has_none = function.result == "none";
    require(op_.results.size() == (has_none ? 0u : 1u),
            fmt::format("rule F9: '{}' gives {}", function.name, function.result));
    if (has_none) return;
    const auto array = function.operands.find('a');
    bool fit = result().to_string() == function.result;
    if (function.result == "array") fit = result() == operand(array);
    if (function.result == "new array")
      fit = result().is_array() &&
            (result().space == Space::Stack || result().space == Space::Arena) &&
            op_.integers("numbers")[0] > 0 && op_.integers("numbers")[1] >= 0;
    if (function.result == "same") fit = result() == operand(0);
    require(fit, fmt::format("rule F9: '{}' gives {}", function.name, function.result));
  }

  void check_programs() const {
    const std::vector<Value>& arguments = op_.regions[0].arguments;
    bool fit = arguments.size() == op_.operands.size();
    for (std::size_t k = 0; fit && k < arguments.size(); ++k)
      fit = kernel_.type(arguments[k]) == operand(k);
    require(fit, "the region has an argument of its type for each value");
    require(op_.regions[0].ops.back()->operands.empty(), "programs yield nothing");
  }

  const Kernel& kernel_;
  const Op& op_;
};

// ---- Rules of the stage

class FinalRules {
 public:
  explicit FinalRules(const Kernel& kernel)
      : kernel_(kernel), uses_(uses_in_own_region(kernel)), is_seen_(kernel.value_count(), false) {}

  void check() {
    for (const KernelArgument& argument : kernel_.arguments) see(nullptr, argument.value);
    check(kernel_.body);
  }

 private:
  void require(const Op* op, bool holds, const std::string& rule) const {
    if (!holds) fail_verification(kernel_, op, rule);
  }

  void see(const Op* op, Value value) {
    is_seen_[value.id] = true;
    require(op, kernel_.type(value).is_scalar(), "rule F1: a value of stage final is no tile");
    const std::string& name = kernel_.name_of(value);
    require(op, name.empty() || is_identifier(name),
            fmt::format("rule F8: '{}' is no identifier", name));
  }

  void check(const Region& region) {
    for (const Value argument : region.arguments) see(nullptr, argument);
    for (const Op* op : region.ops) {
      for (const Value operand : op->operands)
        require(op, is_seen_[operand.id],
                "rule F7: the region of for_programs sees its arguments alone");
      check_memory(*op);
      check_across(*op);
      if (op->kind == OpKind::ForPrograms) {
        std::vector<bool> outside(is_seen_.size(), false);
        std::swap(outside, is_seen_);
        check(op->regions[0]);
        std::swap(outside, is_seen_);
      } else {
        for (const Region& inner : op->regions) check(inner);
      }
      for (const Value value : op->results) see(op, value);
      check_names(*op);
    }
  }

  void check_memory(const Op& op) const {
    if (op.facts().is(Family::Access))
      require(&op, !kernel_.type(op.operands[0]).is_array(),
              "rule F1: elements of arrays are read and written by 'read' and 'write'");
    const bool has_place = op.facts().is(Family::Final) && op.kind != OpKind::Call &&
                           op.operands.size() > 1 && kernel_.type(op.operands[0]).is_array() &&
                           kernel_.type(op.operands[1]).is_int();
    if (!has_place) return;
    const Op* array = kernel_.maker(op.operands[0]);
    const Op* index = kernel_.maker(op.operands[1]);
    if (!array || array->kind != OpKind::Array || !index || index->kind != OpKind::Constant) return;
    require(&op, index->integer("value") >= 0 && index->integer("value") < array->integer("count"),
            "rule F2: the index is not below the array's count");
  }

  void check_across(const Op& op) const {
    if (!op.facts().is(Family::Across)) return;
    require(&op, op.kind == OpKind::Print, "rule F1: an op across elements is loops or a call");
    const auto is_index = [&](Value value) { return kernel_.type(value).is_int(); };
    require(&op, op.operands.size() < 2 || (op.operands.size() == 2 && is_index(op.operands[1])),
            "rule F1: an element is printed with its index or without one");
  }

  // Constants are written where they are used; so is what has one use and no name. What an atomic
  // found may be used by nobody.
  void check_names(const Op& op) const {
    if (op.kind == OpKind::Constant || op.facts().has(Nested) || op.facts().is_atomic()) return;
    for (const Value value : op.results)
      require(&op, !kernel_.name_of(value).empty() || uses_[value.id] == 1,
              "rule F8: a value without a name is used once, in its own region");
  }

  const Kernel& kernel_;
  const std::vector<int> uses_;
  std::vector<bool> is_seen_;
};

void count_uses_of(const Region& region, std::vector<bool>& is_here, std::vector<int>& uses) {
  for (const Op* op : region.ops) {
    for (const Value operand : op->operands)
      uses[operand.id] += is_here[operand.id] ? 1 : many_uses;
    for (const Region& inner : op->regions) {
      std::vector<bool> inside(is_here.size(), false);
      count_uses_of(inner, inside, uses);
    }
    for (const Value result : op->results) is_here[result.id] = true;
  }
}

}  // namespace

std::vector<int> uses_in_own_region(const Kernel& kernel) {
  std::vector<int> uses(kernel.value_count(), 0);
  std::vector<bool> is_here(kernel.value_count(), false);
  count_uses_of(kernel.body, is_here, uses);
  return uses;
}

void verify_final(const Kernel& kernel) { FinalRules(kernel).check(); }

void verify_final_types(const Kernel& kernel, const Op& op) { FinalTypes(kernel, op).check(); }

}  // namespace tilewright::ir
