// SPDX-License-Identifier: Apache-2.0
// ir/verify_names.cpp — rule F8: C++ reads the names of a Final kernel as the kernel means them.
//
// A value without a name is written where it is used, which is later than where its op stands: it
// has one use, in its own region, and nothing between changes what it reads. A name is looked up as
// C++ does it: the nearest declaration must be the value that is meant. What a region yields is
// assigned one after the other: no value may ask for a variable that was assigned before.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/analysis/meetings.h"
#include "ir/analysis/memory_order.h"
#include "ir/verify_final.h"
#include "ir/verify_types.h"
#include "machine/library.h"

namespace tilewright::ir {
namespace {

// What an op reads or writes: memory behind a pointer, or an array; or what other threads do, where
// they meet.
struct Touch {
  enum class Kind : std::uint8_t { Memory, Array, Others };
  Kind kind = Kind::Others;
  Value pointer = {};         // of memory
  const Op* array = nullptr;  // null: not known
  bool is_shared = false;     // of arrays

  friend bool operator==(const Touch&, const Touch&) = default;
};
using Touches = std::vector<Touch>;

void add(Touches& to, const Touch& touch) {
  if (std::find(to.begin(), to.end(), touch) == to.end()) to.push_back(touch);
}

// An expression that is written later: the names in it, and what it reads.
struct Expression {
  std::vector<Value> names;
  bool is_name = false;  // and nothing else
  Touches reads;
  const Op* changed_by = nullptr;  // what it reads

  void join(const Expression& other) {
    names.insert(names.end(), other.names.begin(), other.names.end());
    for (const Touch& touch : other.reads) add(reads, touch);
    if (!changed_by) changed_by = other.changed_by;
  }
};

class NameRules {
 public:
  explicit NameRules(const Kernel& kernel)
      : kernel_(kernel), order_(kernel), uses_(uses_in_own_region(kernel)) {}

  void check() {
    Scope scope(*this);
    for (const KernelArgument& argument : kernel_.arguments) declare(nullptr, argument.value);
    check(kernel_.body);
  }

 private:
  // Names that are declared in it are gone behind it.
  class Scope {
   public:
    explicit Scope(NameRules& rules) : rules_(rules), first_(rules.declared_.size()) {
      std::swap(outer_first_, rules.first_of_scope_);
      rules.first_of_scope_ = first_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      while (rules_.declared_.size() > first_) {
        rules_.meanings_[rules_.declared_.back()].pop_back();
        rules_.declared_.pop_back();
      }
      rules_.first_of_scope_ = outer_first_;
    }

   private:
    NameRules& rules_;
    std::size_t first_, outer_first_ = 0;
  };

  template <class... Arguments>
  void require(const Op* op, bool holds, fmt::format_string<Arguments...> rule,
               Arguments&&... arguments) const {
    if (!holds)
      fail_verification(kernel_, op, fmt::format(rule, std::forward<Arguments>(arguments)...));
  }

  // ---- Names

  struct Meaning {
    Value value;
    std::size_t number = 0;  // in the order of declarations
  };

  // The value whose name stands for it; none where an expression does.
  Value named(Value value) const {
    const Op* maker = kernel_.maker(value);
    if (maker && maker->kind == OpKind::Constant) return {};
    if (!kernel_.name_of(value).empty() || !maker) return value;
    return variable_of(*maker, value);
  }
  // The variable that a result of a loop is behind it.
  static Value variable_of(const Op& op, Value result) {
    if (!op.facts().has(Loops)) return {};
    const auto number = static_cast<std::size_t>(
        std::find(op.results.begin(), op.results.end(), result) - op.results.begin());
    if (op.kind == OpKind::For) return op.regions[0].arguments[number + 1];
    return op.kind == OpKind::While ? op.regions[1].arguments[number] : Value{};
  }

  void declare(const Op* op, Value value) {
    const std::string& name = kernel_.name_of(value);
    if (name.empty()) return;
    require(op, is_identifier(name), "rule F8: '{}' is no identifier", name);
    std::vector<Meaning>& meanings = meanings_[name];
    const bool is_taken = !meanings.empty() && meanings.back().number >= first_of_scope_;
    require(op, !is_taken, "rule F8: there are two '{}' in one region", name);
    meanings.push_back({value, declared_.size()});
    declared_.push_back(name);
  }

  void look_up(const Op& op, const std::vector<Value>& names) const {
    for (const Value value : names) {
      const std::string& name = kernel_.name_of(value);
      const auto found = meanings_.find(name);
      const bool is_meant =
          found != meanings_.end() && !found->second.empty() && found->second.back().value == value;
      require(&op, is_meant, "rule F8: '{}' is the name of another value here", name);
    }
  }

  // ---- What ops touch

  Touch touch_of(Value value) const {
    const Type& type = kernel_.type(value);
    if (!type.is_array()) return {.kind = Touch::Kind::Memory, .pointer = value};
    return {.kind = Touch::Kind::Array,
            .array = array_behind(kernel_, value),
            .is_shared = type.space == Space::Shared};
  }

  static bool is_written(const Op& op) {  // as a line of its own
    return op.facts().has(Nested) || op.facts().is_atomic() || op.results.size() != 1;
  }
  bool is_expression(const Op& op) const {
    return !is_written(op) && (op.kind == OpKind::Constant || kernel_.name_of(op.result()).empty());
  }

  Touches reads_of(const Op& op) const {
    Touches out;
    if (op.kind == OpKind::Read || op.kind == OpKind::Load) add(out, touch_of(op.operands[0]));
    for_effects(op, [&](LibraryEffect::Kind kind, Value operand) {
      if (kind == LibraryEffect::Kind::Read) add(out, touch_of(operand));
    });
    return out;
  }

  Touches writes_of(const Op& op) const {
    Touches out;
    if (op.facts().has(Writes) || op.kind == OpKind::CopyTo) add(out, touch_of(op.operands[0]));
    for_effects(op, [&](LibraryEffect::Kind kind, Value operand) {
      if (kind == LibraryEffect::Kind::Write || kind == LibraryEffect::Kind::Add)
        add(out, touch_of(operand));
    });
    if (meets(op) || op.facts().is(Family::Sync)) add(out, {});
    return out;
  }

  template <class Each>
  void for_effects(const Op& op, const Each& each) const {
    const LibraryFunction* function = called_function(op);
    if (!function) return;
    const bool has_groups = function->operands.starts_with('A');
    const std::size_t size = has_groups ? op.operands.size() / function->operands.size() : 1;
    for (const LibraryEffect& effect : effects_of(*function)) {
      if (effect.operand < 0) continue;
      const std::size_t first = static_cast<std::size_t>(effect.operand) * size;
      for (std::size_t k = first; k < first + size; ++k) each(effect.kind, op.operands[k]);
    }
  }

  bool changes(const Touch& write, const Touch& read) const {
    using Kind = Touch::Kind;
    const bool is_own = read.kind == Kind::Array && !read.is_shared && read.array;
    if (write.kind == Kind::Others) return !is_own;
    if (write.kind == Kind::Memory && read.kind == Kind::Memory)
      return order_.may_overlap(write.pointer, read.pointer);
    // An array that is not known may be memory.
    const bool is_known =
        (write.kind == Kind::Memory || write.array) && (read.kind == Kind::Memory || read.array);
    if (write.kind != read.kind) return !is_known;
    return !is_known || write.array == read.array || (write.is_shared && read.is_shared);
  }

  void change(const Op& op, const Touches& writes, std::vector<Value>& waiting) {
    for (const Value value : waiting) {
      Expression& expression = expressions_.at(value.id);
      for (const Touch& read : expression.reads)
        for (const Touch& write : writes)
          if (!expression.changed_by && changes(write, read)) expression.changed_by = &op;
    }
  }

  // ---- Regions

  Expression mention(Value value, std::vector<Value>& waiting) {
    if (const Value variable = named(value)) return {.names = {variable}, .is_name = true};
    const auto found = expressions_.find(value.id);
    if (found == expressions_.end()) return {};
    Expression out = std::move(found->second);
    expressions_.erase(found);
    std::erase(waiting, value);
    return out;
  }

  void check_use(const Op& op, const Expression& used) const {
    if (used.changed_by)
      require(&op, false,
              "rule F8: it is written where it uses a value without a name, and '{}' before it "
              "changes what that reads",
              used.changed_by->facts().name);
    look_up(op, used.names);
  }

  // Returns what is written in it.
  Touches check(const Region& region) {
    Touches written;
    std::vector<Value> waiting;  // expressions, until they are used
    for (const Op* op : region.ops) {
      if (op->kind == OpKind::Constant) continue;
      std::vector<Expression> operands;
      Expression all;
      for (const Value operand : op->operands) {
        operands.push_back(mention(operand, waiting));
        all.join(operands.back());
      }
      check_uses(*op);
      if (is_expression(*op)) {
        for (const Touch& read : reads_of(*op)) add(all.reads, read);
        expressions_[op->result().id] = std::move(all);
        waiting.push_back(op->result());
        continue;
      }
      if (op->facts().is(Family::Ends)) {
        check_use(*op, all);
        yielded_ = std::move(operands);
        continue;
      }
      Touches writes = statement(*op, operands, all);
      for (const Touch& write : writes_of(*op)) add(writes, write);
      change(*op, writes, waiting);
      for (const Touch& write : writes) add(written, write);
    }
    for (const Value value : waiting) expressions_.erase(value.id);
    return written;
  }

  // What an atomic found, which is a line of its own, may be used by nobody.
  void check_uses(const Op& op) const {
    if (op.facts().has(Nested)) return;
    const int uses = op.facts().is_atomic() ? 0 : 1;
    for (const Value value : op.results)
      require(&op, !kernel_.name_of(value).empty() || uses_[value.id] == uses,
              "rule F8: a value without a name is used once, in its own region");
  }

  Touches statement(const Op& op, const std::vector<Expression>& operands, const Expression& all) {
    if (op.kind == OpKind::For) return for_loop(op, operands, all);
    if (op.kind == OpKind::While) return while_loop(op, all);
    Touches writes;
    if (op.kind == OpKind::If) {
      for (const Value result : op.results) declare(&op, result);
      check_use(op, all);
      for (const Region& region : op.regions) {
        Scope scope(*this);
        merge(writes, check(region));
        check_assigned(op, op.results);
      }
      return writes;
    }
    if (op.regions.empty()) {
      for (const Value result : op.results) declare(&op, result);
      check_use(op, all);
      return writes;
    }
    // A function that is handed over, or the programs, which see their arguments alone.
    check_use(op, all);
    for (const Region& region : op.regions) {
      Scope scope(*this);
      for (const Value argument : region.arguments) declare(&op, argument);
      merge(writes, check(region));
      yielded_.clear();
    }
    for (const Value result : op.results) declare(&op, result);
    return writes;
  }

  // The bounds are asked for in every round.
  Touches for_loop(const Op& op, const std::vector<Expression>& operands, const Expression& all) {
    const std::vector<Value>& arguments = op.regions[0].arguments;
    const std::vector<Value> carried(arguments.begin() + 1, arguments.end());
    for (const Value value : carried) declare(&op, value);
    check_results(op);
    check_use(op, all);
    Touches writes;
    {
      Scope scope(*this);
      declare(&op, arguments[0]);
      for (const std::size_t k : {1, 2}) look_up(op, operands[k].names);
      writes = check(op.regions[0]);
      check_assigned(op, carried);
    }
    for (const std::size_t k : {1, 2})
      for (const Touch& read : operands[k].reads)
        for (const Touch& write : writes)
          require(&op, !changes(write, read),
                  "rule F8: a round changes what the loop's bound without a name reads");
    return writes;
  }

  Touches while_loop(const Op& op, const Expression& all) {
    for (const Region& region : op.regions)
      for (const Value argument : region.arguments) declare(&op, argument);
    check_results(op);
    check_use(op, all);
    Scope scope(*this);
    Touches writes = check(op.regions[0]);
    if (!yielded_.empty()) yielded_.erase(yielded_.begin());  // the decision
    check_assigned(op, op.regions[1].arguments);
    merge(writes, check(op.regions[1]));
    check_assigned(op, op.regions[0].arguments);
    return writes;
  }

  void check_results(const Op& op) const {
    for (const Value result : op.results)
      require(&op, kernel_.name_of(result).empty(),
              "rule F8: what a loop gives has the name of its variable and none of its own");
  }

  // One after the other. A value that is its variable already is not assigned.
  void check_assigned(const Op& op, const std::vector<Value>& variables) {
    const std::vector<Expression> values = std::exchange(yielded_, {});
    std::vector<Value> assigned;
    for (std::size_t k = 0; k < std::min(values.size(), variables.size()); ++k) {
      for (const Value name : values[k].names)
        require(&op, std::find(assigned.begin(), assigned.end(), name) == assigned.end(),
                "rule F8: '{}' is assigned before what asks for it is yielded",
                kernel_.name_of(name));
      const bool is_same = values[k].is_name && values[k].names[0] == variables[k];
      if (!is_same) assigned.push_back(variables[k]);
    }
  }

  static void merge(Touches& to, const Touches& from) {
    for (const Touch& touch : from) add(to, touch);
  }

  const Kernel& kernel_;
  const MemoryOrder order_;
  const std::vector<int> uses_;
  std::unordered_map<std::string_view, std::vector<Meaning>> meanings_;
  std::vector<std::string_view> declared_;
  std::size_t first_of_scope_ = 0;
  std::unordered_map<std::uint32_t, Expression> expressions_;
  std::vector<Expression> yielded_;  // by the region that was walked last
};

}  // namespace

void verify_names(const Kernel& kernel) { NameRules(kernel).check(); }

}  // namespace tilewright::ir
