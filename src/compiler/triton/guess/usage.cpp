// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/usage.cpp — one walk over a function's body, in the order of its
// statements.
#include "compiler/triton/guess/usage.h"

#include <algorithm>
#include <set>

namespace tilewright {
namespace {

using namespace python;

// Where a value comes from: the parameters it may be an address from, and those it was loaded
// through. `direct` is the parameter that it is itself, or -1.
struct Origin {
  std::vector<int> pointers;
  std::vector<int> loaded;
  int direct = -1;
  std::vector<int> terms = {};  // all that it is computed from, except by loads
  int step = -1;                // the parameter that it is a multiple of
};

void add_to(std::vector<int>& into, const std::vector<int>& from) {
  for (const int i : from)
    if (std::find(into.begin(), into.end(), i) == into.end()) into.push_back(i);
}

void merge(Origin& into, const Origin& from) {
  add_to(into.pointers, from.pointers);
  add_to(into.loaded, from.loaded);
  add_to(into.terms, from.terms);
}

bool looks_like_pointer(std::string_view name) {
  return name.find("ptr") != std::string_view::npos || name.find("PTR") != std::string_view::npos;
}

const std::set<std::string_view> float_functions = {
    "exp",  "exp2", "log", "log2",    "sin",   "cos",  "sqrt", "rsqrt", "erf",  "sigmoid",
    "tanh", "dot",  "pow", "softmax", "floor", "ceil", "fma",  "clamp", "expm1"};
const std::set<std::string_view> whole_number_operators = {"//", "%", "<<", ">>", "&", "|", "^"};
const std::set<std::string_view> whole_number_functions = {"cdiv", "umulhi"};

// Arguments of Triton's functions that take one of a few words.
const std::vector<std::pair<std::string_view, std::vector<std::string>>> texts_of_keywords = {
    {"cache_modifier", {"", ".cg"}},
    {"eviction_policy", {"", "evict_last"}},
    {"input_precision", {"ieee", "tf32"}},
    {"sem", {"relaxed", "acq_rel"}}};

class Reader {
 public:
  Reader(UsageReader& usage, const LoadedModule& module, const FunctionDef& function,
         FunctionUse& out)
      : usage_(usage), module_(module), out_(out) {
    int index = 0;
    for (const Node* node : function.parameters) {
      const auto& parameter = cast<Parameter>(node);
      names_.push_back(parameter.name);
      values_[parameter.name] = {{index}, {}, index, {index}};
      ++index;
    }
    out_.parameters.resize(names_.size());
    // Twice: what a loop carries is known only at its end.
    for (int round = 0; round < 2; ++round) statements(function.body);
  }

 private:
  ParameterUse& use(int index) { return out_.parameters[static_cast<std::size_t>(index)]; }
  template <class Member>
  void mark(const std::vector<int>& indices, Member member) {
    for (const int i : indices) use(i).*member = true;
  }
  template <class Member>
  void mark_direct(const Origin& origin, Member member) {
    if (origin.direct >= 0) use(origin.direct).*member = true;
  }

  void statements(NodeList body) {
    for (const Node* node : body) statement(node);
  }

  void statement(const Node* node) {
    if (const auto* assign = cast_if<Assign>(node)) {
      const Origin value = expression(assign->value);
      for (const Node* target : assign->targets) bind(target, assign->value, value);
    } else if (const auto* annotated = cast_if<AnnAssign>(node)) {
      if (annotated->value != nullptr)
        bind(annotated->target, annotated->value, expression(annotated->value));
    } else if (const auto* augmented = cast_if<AugAssign>(node)) {
      Origin value = binary(augmented->target, augmented->op, augmented->value);
      bind(augmented->target, nullptr, value);
    } else if (const auto* branch = cast_if<If>(node)) {
      test(branch->test);
      statements(branch->body);
      statements(branch->otherwise);
    } else if (const auto* loop = cast_if<For>(node)) {
      Origin counter;
      counter.step = expression(loop->iterable).step;
      bind(loop->target, nullptr, counter);
      statements(loop->body);
    } else if (const auto* repeat = cast_if<While>(node)) {
      test(repeat->test);
      statements(repeat->body);
    } else if (const auto* result = cast_if<Return>(node)) {
      if (result->value == nullptr) return;
      out_.returns_value = out_.returns_value || !is<NoneLiteral>(result->value);
      add_to(out_.returned_pointers, expression(result->value).pointers);
    } else if (const auto* expression_statement = cast_if<ExprStmt>(node)) {
      expression(expression_statement->value);
    } else if (const auto* check = cast_if<Assert>(node)) {
      expression(check->test);
    }
  }

  void bind(const Node* target, const Node* value_node, const Origin& value) {
    if (const auto* name = cast_if<Name>(target)) {
      Origin& known = values_[name->id];
      const int direct = known.direct >= 0 && value.direct < 0 ? known.direct : value.direct;
      merge(known, value);
      known.direct = direct;
      if (value.step >= 0) known.step = value.step;
      return;
    }
    const NodeList* targets = elements(target);
    if (targets == nullptr) return;
    const NodeList* parts = value_node == nullptr ? nullptr : elements(value_node);
    for (std::size_t i = 0; i < targets->size(); ++i) {
      const bool has_part = parts != nullptr && parts->size() == targets->size();
      bind((*targets)[i], has_part ? (*parts)[i] : nullptr,
           has_part ? expression((*parts)[i]) : Origin{{}, value.loaded, -1, value.terms});
    }
  }

  static const NodeList* elements(const Node* node) {
    if (const auto* tuple = cast_if<Tuple>(node)) return &tuple->elements;
    if (const auto* list = cast_if<List>(node)) return &list->elements;
    return nullptr;
  }

  // A condition: its names are flags.
  void test(const Node* node) {
    if (const auto* both = cast_if<BoolOp>(node)) {
      for (const Node* value : both->values) test(value);
    } else if (const auto* unary = cast_if<UnaryOp>(node); unary && text_of(unary->op) == "not") {
      test(unary->operand);
      const Origin operand = expression(unary->operand);
      if (operand.direct < 0 && is<Name>(unary->operand))
        mark(operand.loaded, &ParameterUse::holds_flags);
    } else {
      const Origin origin = expression(node);
      mark_direct(origin, &ParameterUse::is_flag);
      if (origin.direct < 0) mark(origin.loaded, &ParameterUse::holds_integers);
    }
  }

  Origin binary(const Node* left_node, BinaryOperator op, const Node* right_node) {
    const Origin left = expression(left_node);
    const Origin right = expression(right_node);
    const std::string_view text = text_of(op);
    Origin result{{}, left.loaded, -1, left.terms};
    add_to(result.loaded, right.loaded);
    add_to(result.terms, right.terms);
    if (text == "+" || text == "-") {
      result.pointers = sum_base(left, right);
      result.step = left.step >= 0 ? left.step : right.step;
      return result;
    }
    if (text == "*") result.step = right.direct >= 0 ? right.direct : left.direct;
    if (!whole_number_operators.contains(text)) return result;
    mark(result.loaded, &ParameterUse::holds_integers);
    mark_direct(left, &ParameterUse::is_integer);
    mark_direct(right, &ParameterUse::is_integer);
    return result;
  }

  // Of a sum the address is one side: the one that is named like it, else the left.
  std::vector<int> sum_base(const Origin& left, const Origin& right) {
    if (left.pointers.empty()) return right.pointers;
    if (right.pointers.empty()) return left.pointers;
    const auto named = [&](const Origin& origin) {
      return std::any_of(origin.pointers.begin(), origin.pointers.end(), [&](int i) {
        return looks_like_pointer(names_[static_cast<std::size_t>(i)]) || use(i).is_pointer;
      });
    };
    return named(right) && !named(left) ? right.pointers : left.pointers;
  }

  Origin compare(const Compare& node) {
    const Origin left = expression(node.left);
    for (std::size_t i = 0; i < node.comparators.size(); ++i) {
      const Node* other = node.comparators[i];
      const Origin right = expression(other);
      if (const auto* text = cast_if<StrLiteral>(other); text != nullptr && left.direct >= 0)
        use(left.direct).texts.emplace_back(text->value);
      const auto* number = cast_if<IntLiteral>(other);
      if (number != nullptr && left.direct >= 0 && text_of(node.ops[i]) == "==")
        use(left.direct).numbers.insert(static_cast<std::int64_t>(number->value.value));
      if (is<NoneLiteral>(other)) mark_direct(left, &ParameterUse::is_optional);
      if (is<BoolLiteral>(other)) mark_direct(left, &ParameterUse::is_flag);
      if (is_type(other)) mark_direct(left, &ParameterUse::is_type);
    }
    return {};
  }

  bool is_type(const Node* node) {
    const std::string name = dotted_name(node);
    if (name.empty()) return false;
    const std::string external = usage_.loader().resolve(module_, node).external;
    const std::string_view last = std::string_view(external).substr(external.rfind('.') + 1);
    return external.starts_with("triton.language.") &&
           (last.starts_with("float") || last.starts_with("int") || last.starts_with("uint") ||
            last.starts_with("bfloat"));
  }

  Origin expression(const Node* node) {
    if (node == nullptr) return {};
    if (const auto* name = cast_if<Name>(node)) return named(*name);
    if (const auto* op = cast_if<BinOp>(node)) return binary(op->left, op->op, op->right);
    if (const auto* call = cast_if<Call>(node)) return call_of(*call);
    if (const auto* attribute = cast_if<Attribute>(node)) return attribute_of(*attribute);
    if (const auto* item = cast_if<Subscript>(node)) return subscript(*item);
    if (const auto* comparison = cast_if<Compare>(node)) return compare(*comparison);
    if (const auto* unary = cast_if<UnaryOp>(node)) {
      if (text_of(unary->op) == "not") test(unary->operand);
      const Origin operand = expression(unary->operand);
      return Origin{{}, operand.loaded, -1, operand.terms};
    }
    if (const auto* choice = cast_if<IfExp>(node)) {
      test(choice->test);
      Origin result = expression(choice->body);
      merge(result, expression(choice->otherwise));
      result.direct = -1;
      return result;
    }
    Origin result;
    for_each_child(*node, [&](const Node& child) { merge(result, expression(&child)); });
    return result;
  }

  Origin named(const Name& name) {
    const auto found = values_.find(name.id);
    if (found == values_.end()) return {};
    mark_direct(found->second, &ParameterUse::is_used);
    return found->second;
  }

  Origin attribute_of(const Attribute& node) {
    const Origin owner = expression(node.value);
    if (node.name == "element_ty" || node.name == "dtype" || node.name == "type") {
      // x.dtype.element_ty: only pointers have it.
      if (node.name == "element_ty") mark(owner.pointers, &ParameterUse::is_pointer);
      return {owner.pointers, {}, -1};
    }
    return node.name == "T" ? owner : Origin{};
  }

  Origin subscript(const Subscript& node) {
    const Origin owner = expression(node.value);
    expression(node.index);
    const bool adds_axes = is<Tuple>(node.index) || is<Slice>(node.index);
    if (!adds_axes) mark_direct(owner, &ParameterUse::is_tuple);
    return {owner.pointers, owner.loaded, -1, owner.terms};
  }

  Origin call_of(const Call& call) {
    if (const auto* method = cast_if<Attribute>(call.function)) {
      const Binding binding = usage_.loader().resolve(module_, call.function);
      if (binding.kind == Binding::Kind::Unresolved || starts_with_local(method->value))
        return method_call(*method, call);
      return bound_call(binding, call);
    }
    if (const auto* name = cast_if<Name>(call.function);
        name != nullptr && name->id == "len" && !call.arguments.empty())
      mark_direct(expression(call.arguments[0]), &ParameterUse::is_tuple);
    if (const auto* name = cast_if<Name>(call.function); name && values_.contains(name->id)) {
      mark_direct(values_[name->id], &ParameterUse::is_called);
      return arguments(call);
    }
    return bound_call(usage_.loader().resolve(module_, call.function), call);
  }

  bool starts_with_local(const Node* node) const {
    while (const auto* attribute = cast_if<Attribute>(node)) node = attribute->value;
    const auto* name = cast_if<Name>(node);
    return name == nullptr || values_.contains(name->id);
  }

  // All arguments, as one origin.
  Origin arguments(const Call& call) {
    Origin all;
    for (const Node* argument : call.arguments) merge(all, expression(argument));
    for (const Node* keyword : call.keywords) merge(all, keyword_of(cast<Keyword>(keyword)));
    all.direct = -1;
    return all;
  }

  Origin keyword_of(const Keyword& keyword) {
    const Origin value = expression(keyword.value);
    if (keyword.name == "dtype" || keyword.name == "out_dtype")
      mark_direct(value, &ParameterUse::is_type);
    for (const auto& [name, texts] : texts_of_keywords)
      if (keyword.name == name && value.direct >= 0)
        use(value.direct).texts.insert(use(value.direct).texts.end(), texts.begin(), texts.end());
    return value;
  }

  Origin method_call(const Attribute& method, const Call& call) {
    const Origin owner = expression(method.value);
    const Origin given = arguments(call);
    const bool has_list = !call.arguments.empty() && elements(call.arguments[0]) != nullptr;
    if ((method.name == "load" || method.name == "store") && has_list && owner.direct >= 0)
      note_block(use(owner.direct), *elements(call.arguments[0]));
    if (method.name == "to") {
      const Node* type = call.arguments.empty() ? nullptr : call.arguments[0];
      if (const auto* made = cast_if<Call>(type);
          made != nullptr && dotted_name(made->function).ends_with("pointer_type"))
        mark(owner.loaded, &ParameterUse::holds_integers);
      mark_direct(expression(type), &ParameterUse::is_type);
      return {owner.pointers, owner.loaded, -1, owner.terms};
    }
    return {{}, owner.loaded, -1, owner.terms};
  }

  void note_block(ParameterUse& descriptor, const NodeList& offsets) {
    descriptor.is_descriptor = true;
    descriptor.block_steps.resize(std::max(descriptor.block_steps.size(), offsets.size()), -1);
    for (std::size_t i = 0; i < offsets.size(); ++i)
      if (const int step = expression(offsets[i]).step; step >= 0 && descriptor.block_steps[i] < 0)
        descriptor.block_steps[i] = step;
  }

  Origin bound_call(const Binding& binding, const Call& call) {
    if (binding.kind == Binding::Kind::Function) return helper_call(binding, call);
    const std::string& name = binding.external;
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    const bool is_triton = name.starts_with("triton.");
    if (is_triton && (last == "load" || last == "store" || last.starts_with("atomic_")))
      return access(call, last);
    if (is_triton && (last == "make_block_ptr" || last == "make_tensor_descriptor"))
      return make_block(call, last == "make_tensor_descriptor");
    if (last == "range" || last == "static_range") return range(call, last == "static_range");
    if (is_triton && (last == "arange" || last == "zeros" || last == "full" || last == "reshape" ||
                      last == "broadcast_to" || last == "view"))
      return shaped(call, last == "full" ? 2 : last == "zeros" ? 1 : 0);
    return other_builtin(call, last);
  }

  Origin access(const Call& call, std::string_view function) {
    const Node* address_node = argument(call, "pointer", 0);
    const Origin address = expression(address_node);
    mark(address.pointers, &ParameterUse::is_pointer);
    if (function.starts_with("atomic_")) mark(address.pointers, &ParameterUse::is_atomic);
    mark_offset(address);
    for (std::size_t i = 1; i < call.arguments.size(); ++i) expression(call.arguments[i]);
    for (const Node* keyword : call.keywords) {
      const Origin value = keyword_of(cast<Keyword>(keyword));
      if (cast<Keyword>(keyword).name == "mask") mark(value.loaded, &ParameterUse::holds_integers);
    }
    return {{}, address.pointers, -1};
  }

  // What an address is computed from, apart from its base, are integers.
  void mark_offset(const Origin& address) {
    mark(address.loaded, &ParameterUse::holds_integers);
    for (const int i : address.loaded) use(i).holds_indices = true;
    for (const int i : address.terms)
      if (std::find(address.pointers.begin(), address.pointers.end(), i) == address.pointers.end())
        use(i).is_integer = true;
  }

  void mark_numbers(const Origin& origin) {
    mark(origin.loaded, &ParameterUse::holds_integers);
    mark(origin.terms, &ParameterUse::is_integer);
  }

  Origin make_block(const Call& call, bool is_descriptor) {
    const Origin base = expression(argument(call, "base", 0));
    mark(base.pointers, &ParameterUse::is_pointer);
    mark_offset(base);
    const Node* shape = argument(call, "block_shape", 4);
    if (shape != nullptr && elements(shape) != nullptr)
      for (const Node* size : *elements(shape))
        mark_direct(expression(size), &ParameterUse::is_size);
    for (const char* part : {"shape", "strides", "offsets"})
      if (const Node* list = argument(call, part, part[0] == 's' ? (part[1] == 'h' ? 1 : 2) : 3))
        mark_numbers(expression(list));
    const Node* strides = is_descriptor ? argument(call, "strides", 2) : nullptr;
    if (const NodeList* all = strides == nullptr ? nullptr : elements(strides);
        all && !all->empty())
      mark_direct(expression((*all)[all->size() - 1]), &ParameterUse::is_one);
    return {base.pointers, {}, -1};
  }

  Origin range(const Call& call, bool unrolls) {
    for (const Node* node : call.arguments) {
      const Origin bound = expression(node);
      mark_direct(bound, &ParameterUse::is_integer);
      if (unrolls && bound.terms.size() == 1) mark(bound.terms, &ParameterUse::is_unrolled);
      mark(bound.loaded, &ParameterUse::holds_integers);
    }
    Origin counter;
    if (call.arguments.size() == 3) counter.step = expression(call.arguments[2]).direct;
    return counter;
  }

  // `type_place`: where the type stands among the arguments, 0 for none; what stands between it and
  // the shape is a value.
  Origin shaped(const Call& call, std::size_t type_place) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const Node* node = call.arguments[i];
      const Origin given = expression(node);
      if (i == 0 || type_place == 0) mark_direct(given, &ParameterUse::is_size);
      else if (i == type_place) mark_direct(given, &ParameterUse::is_type);
      if (const NodeList* sizes = elements(node))
        for (const Node* size : *sizes) mark_direct(expression(size), &ParameterUse::is_size);
    }
    for (const Node* keyword : call.keywords) {
      keyword_of(cast<Keyword>(keyword));
      if (const NodeList* sizes = elements(cast<Keyword>(keyword).value))
        for (const Node* size : *sizes) mark_direct(expression(size), &ParameterUse::is_size);
    }
    Origin result = call.arguments.empty() ? Origin{} : expression(call.arguments[0]);
    result.direct = -1;
    return result;
  }

  Origin other_builtin(const Call& call, std::string_view name) {
    const Origin all = arguments(call);
    if (float_functions.contains(name)) {
      mark(all.loaded, &ParameterUse::holds_floats);
      for (const Node* node : call.arguments)
        mark_direct(expression(node), &ParameterUse::is_float);
      return {{}, all.loaded, -1, all.terms};
    }
    if (whole_number_functions.contains(name)) {
      mark(all.loaded, &ParameterUse::holds_integers);
      for (const Node* node : call.arguments)
        mark_direct(expression(node), &ParameterUse::is_integer);
    }
    const bool keeps_address = name == "multiple_of" || name == "max_contiguous" ||
                               name == "where" || name == "advance" || name == "cast" ||
                               name == "broadcast_to" || name == "to_tensor" ||
                               name == "expand_dims" || name == "assume";
    return {keeps_address ? all.pointers : std::vector<int>{}, all.loaded, -1, all.terms};
  }

  static const Node* argument(const Call& call, std::string_view name, std::size_t position) {
    for (const Node* node : call.keywords)
      if (cast<Keyword>(node).name == name) return cast<Keyword>(node).value;
    return position < call.arguments.size() ? call.arguments[position] : nullptr;
  }

  // What the helper does with a parameter, this call does with the argument.
  Origin helper_call(const Binding& binding, const Call& call) {
    const auto& helper = cast<FunctionDef>(binding.node);
    out_.called.push_back(&helper);
    const FunctionUse uses = usage_.read(*binding.module, helper);
    Origin result;
    for (std::size_t i = 0; i < uses.parameters.size() && i < helper.parameters.size(); ++i) {
      const Node* given = argument(call, cast<Parameter>(helper.parameters[i]).name, i);
      if (given == nullptr) continue;
      const Origin origin = expression(given);
      take(origin, uses.parameters[i]);
      add_to(result.loaded, origin.loaded);
      if (!uses.parameters[i].is_pointer) add_to(result.terms, origin.terms);
      if (uses.parameters[i].is_pointer) add_to(result.loaded, origin.pointers);
      const bool is_returned =
          std::find(uses.returned_pointers.begin(), uses.returned_pointers.end(),
                    static_cast<int>(i)) != uses.returned_pointers.end();
      if (is_returned) add_to(result.pointers, origin.pointers);
    }
    return result;
  }

  void take(const Origin& origin, const ParameterUse& uses) {
    if (uses.is_pointer)
      for (const int i : origin.pointers) {
        use(i).is_pointer = true;
        use(i).is_atomic = use(i).is_atomic || uses.is_atomic;
        use(i).holds_integers = use(i).holds_integers || uses.holds_integers;
        use(i).holds_indices = use(i).holds_indices || uses.holds_indices;
        use(i).holds_floats = use(i).holds_floats || uses.holds_floats;
        use(i).holds_flags = use(i).holds_flags || uses.holds_flags;
      }
    if (uses.is_integer) mark(origin.loaded, &ParameterUse::holds_integers);
    if (uses.is_float) mark(origin.loaded, &ParameterUse::holds_floats);
    if (origin.direct >= 0) use(origin.direct).merge(uses);
  }

  UsageReader& usage_;
  const LoadedModule& module_;
  FunctionUse& out_;
  std::vector<std::string_view> names_;
  std::map<std::string_view, Origin> values_;
};

}  // namespace

void ParameterUse::merge(const ParameterUse& other) {
  for (const auto member :
       {&ParameterUse::is_pointer, &ParameterUse::is_descriptor, &ParameterUse::is_tuple,
        &ParameterUse::holds_integers, &ParameterUse::holds_indices, &ParameterUse::holds_floats,
        &ParameterUse::holds_flags, &ParameterUse::is_atomic, &ParameterUse::is_flag,
        &ParameterUse::is_one, &ParameterUse::is_optional, &ParameterUse::is_type,
        &ParameterUse::is_size, &ParameterUse::is_unrolled, &ParameterUse::is_integer,
        &ParameterUse::is_float, &ParameterUse::is_called, &ParameterUse::is_used})
    this->*member = this->*member || other.*member;
  texts.insert(texts.end(), other.texts.begin(), other.texts.end());
  numbers.insert(other.numbers.begin(), other.numbers.end());
}

const FunctionUse& UsageReader::read(const python::LoadedModule& module,
                                     const python::FunctionDef& function) {
  const auto found = known_.find(&function);
  if (found != known_.end()) return found->second;
  // A function that calls itself meets this empty entry.
  known_[&function] = {};
  FunctionUse use;
  Reader(*this, module, function, use);
  return known_[&function] = std::move(use);
}

}  // namespace tilewright
