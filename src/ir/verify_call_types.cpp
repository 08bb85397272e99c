// SPDX-License-Identifier: Apache-2.0
// ir/verify_call_types.cpp — rule F9: a call names a function of the library (machine/library.def),
// and fits it.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "ir/analysis/meetings.h"
#include "ir/calls.h"
#include "ir/type_rules.h"
#include "ir/verify_final.h"
#include "machine/units.h"

namespace tilewright::ir {
namespace {

class CallTypes : TypeRules {
 public:
  using TypeRules::TypeRules;

  void check() const {
    const std::string name(op_.text("function"));
    const LibraryFunction* function = find_library_function(name);
    require(function != nullptr, "rule F9: the library has no function '{}'", name);
    bool fit = op_.operands.size() == function->operands.size();
    for (std::size_t k = 0; fit && k < op_.operands.size(); ++k)
      fit = fits(function->operands[k], operand(k));
    if (function->operands.starts_with('A')) fit = fits_totals(*function);
    if (function->kind == LibraryKind::CopyBox) fit = fits_box(2);
    if (function->kind == LibraryKind::StoreBox) fit = fits_box(1);
    if (function->kind == LibraryKind::WordOf) fit = fits_word();
    require(fit, "rule F9: '{}' takes operands \"{}\"", name, function->operands);
    require(op_.integers("numbers").size() == static_cast<std::size_t>(function->numbers) &&
                op_.regions.size() == static_cast<std::size_t>(function->regions),
            "rule F9: '{}' takes {} numbers and {} regions", name, function->numbers,
            function->regions);
    check_call_result(*function);
    if (function->kind == LibraryKind::Dot) check_product();
    if (function->kind == LibraryKind::LoadMatrices) check_matrices();
    if (function->kind == LibraryKind::Mma) check_unit();
    if (function->kind == LibraryKind::StartProduct) check_group_product();
    check_group_call(*function);
    if (function->kind == LibraryKind::MergeRuns)
      require(op_.integers("numbers")[2] >= 0 &&
                  op_.integers("numbers")[2] < static_cast<std::int64_t>(std::size(sort_orders)),
              "rule F9: an order of merge_runs is 0, 1 or 2");
    if (function->kind == LibraryKind::SortBlock) check_sort();
    if (function->kind == LibraryKind::OwnRow) check_row();
    if (function->kind == LibraryKind::Rotated)
      require(std::has_single_bit(static_cast<std::uint64_t>(op_.integers("numbers")[0])),
              "rule F9: a row that is turned round has a power of two of elements");
    if (function->operands.starts_with('A')) check_combination(*function);
    else check_functions(*function);
  }

 private:
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
      case 'd':
        return type == Type::scalar(DType::UInt64) ||
               type == Type::array(Type::scalar(DType::UInt32), Space::Stack);
      default:
        return type.is_array();
    }
  }

  // Elements of one type that fill a word.
  bool fits_word() const {
    std::size_t bytes = 0;
    bool fit = true;
    for (std::size_t k = 0; k < op_.operands.size(); ++k) {
      fit &= operand(k) == operand(0) && operand(k).is_scalar() && !operand(k).is_array() &&
             !operand(k).is_pointer;
      bytes += operand(k).element_bytes();
    }
    return fit && bytes == 4;
  }

  // An array in shared memory, a word, and as many coordinates as the map has dimensions.
  // Coordinates stand from operand `first` on.
  bool fits_box(std::size_t first) const {
    const auto map =
        std::find_if(kernel_.maps.begin(), kernel_.maps.end(),
                     [&](const KernelMap& other) { return other.name == op_.text("map"); });
    if (map == kernel_.maps.end() || op_.operands.size() != first + map->dimensions.size())
      return false;
    for (std::size_t k = first; k < op_.operands.size(); ++k)
      if (!is_index(operand(k))) return false;
    return operand(0).space == Space::Shared && (first == 1 || is_words(1));
  }
  bool is_words(std::size_t k) const {
    return operand(k) == Type::array(Type::scalar(DType::UInt64), Space::Shared);
  }

  // Arrays of the thread, and as many shared ones with the same elements where it takes them.
  bool fits_totals(const LibraryFunction& function) const {
    const std::size_t letters = function.operands.size();
    const std::size_t count = op_.operands.size() / letters;
    bool fit = count > 0 && op_.operands.size() % letters == 0;
    for (std::size_t k = 0; fit && k < op_.operands.size(); ++k) {
      const bool is_shared = operand(k).space == Space::Shared;
      fit = operand(k).is_array() && is_shared == (function.operands[k / count] == 'S') &&
            operand(k).element() == operand(k % count).element();
    }
    return fit;
  }

  void check_call_result(const LibraryFunction& function) const {
    const bool has_none = function.result == "none";
    require(op_.results.size() == (has_none ? 0u : 1u), "rule F9: '{}' gives {}", function.name,
            function.result);
    if (has_none) return;
    const auto array = function.operands.find('a');
    bool fit = result().to_string() == function.result;
    if (function.result == "array") fit = result() == operand(array);
    if (function.result == "new array")
      fit = result().is_array() &&
            (result().space == Space::Stack || result().space == Space::Arena) &&
            op_.integers("numbers")[0] > 0 && op_.integers("numbers")[1] >= 0;
    if (function.result == "same") fit = result() == operand(0);
    require(fit, "rule F9: '{}' gives {}", function.name, function.result);
  }

  void check_matrices() const {
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    const std::int64_t count = numbers[0], how = numbers[1];
    const std::size_t bytes = operand(1).element().element_bytes();
    require(operand(0).element() == Type::scalar(DType::UInt32) &&
                operand(0).space == Space::Stack && operand(1).space == Space::Shared,
            "rule F9: load_matrices reads from shared memory into words of the thread");
    require((count == 1 || count == 2 || count == 4) && how >= 0 && how <= 3 && bytes <= 4 &&
                (how == 0 || bytes == (how == 1 ? 2u : 1u)) && (how < 2 || count == 4),
            "rule F9: load_matrices reads 1, 2 or 4 matrices as its table says");
    require(thread_op(kernel_) && thread_op(kernel_)->integer("lanes") == 32,
            "rule F9: load_matrices is called by 32 lanes");
  }

  void check_unit() const {
    const ProductUnit* unit = unit_named(op_.text("unit"));
    require(unit != nullptr, "rule F9: there is no unit of products '{}'", op_.text("unit"));
    const bool is_wide = unit->left == DType::Float64;
    const DType sum = is_wide                     ? DType::Float64
                      : unit->left == DType::Int8 ? DType::Int32
                                                  : DType::Float32;
    const Type word = Type::scalar(is_wide ? DType::Float64 : DType::UInt32);
    require(operand(0).element() == Type::scalar(sum) && operand(1).element() == word &&
                operand(2).element() == word,
            "rule F9: '{}' multiplies words and adds to sums of {}", unit->name,
            Type::scalar(sum).to_string());
    require(thread_op(kernel_) && thread_op(kernel_)->integer("lanes") == unit->lanes,
            "rule F9: the lanes of a warp call a unit together");
  }

  void check_group_product() const {
    const GroupUnit* unit = group_unit_named(op_.text("unit"));
    require(unit != nullptr, "rule F9: warpgroups have no unit '{}'", op_.text("unit"));
    const DType sum = unit->left == DType::Int8 ? DType::Int32 : DType::Float32;
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    require(operand(0) == Type::array(Type::scalar(sum), Space::Stack) &&
                operand(2) == Type::scalar(DType::UInt64),
            "rule F9: a product of warpgroups adds to sums of the thread");
    require(numbers[0] >= 8 && numbers[0] <= 256 && numbers[0] % 8 == 0,
            "rule F9: an instruction has 8 to 256 columns");
    require((numbers[1] == 0 && numbers[2] == 0) || size_of(unit->left) == 2,
            "rule F9: operands of 16 bits alone are transposed");
    require(numbers[1] == 0 || !operand(1).is_array(), "rule F9: words are not transposed");
    const Op* thread = thread_op(kernel_);
    require(thread && thread->integer("count") % 128 == 0 && thread->integer("lanes") == 32,
            "rule F9: four warps of 32 lanes are a warpgroup");
    for (const std::size_t k : {1, 2})
      require(operand(k).is_array() || array_behind(kernel_, op_.operands[k]),
              "rule F9: what a product reads is known");
  }

  void check_group_call(const LibraryFunction& function) const {
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    const auto is_number_of_warps = [&] {
      const Op* digit = kernel_.maker(op_.operands[0]);
      const Op* thread = thread_op(kernel_);
      return digit && digit->kind == OpKind::Digit && thread &&
             kernel_.maker(digit->operands[0]) == thread &&
             digit->integer("over") % thread->integer("lanes") == 0;
    };
    if (function.kind == LibraryKind::Uniform)
      require(is_number_of_warps(), "rule F9: uniform takes a number of whole warps");
    if (function.kind == LibraryKind::Describe) {
      require(operand(0).space == Space::Shared, "rule F9: an operand lies in shared memory");
      require(numbers[0] == 32 || numbers[0] == 64 || numbers[0] == 128,
              "rule F9: a line has 32, 64 or 128 bytes");
    }
    if (function.kind == LibraryKind::WaitProducts)
      require(numbers[0] >= 0, "rule F9: pending is not negative");
    if (function.kind == LibraryKind::SwapLanes)
      require(operand(0).element().element_bytes() == 2 && numbers[1] >= 0 && numbers[1] < 5 &&
                  numbers[2] > 0 && (std::int64_t{1} << numbers[2]) < numbers[0],
              "rule F9: lanes swap words of two elements");
    if (function.kind == LibraryKind::StoreBox)
      require(numbers[3] == 0 || operand(0).dtype == DType::Float32,
              "rule F9: what a store adds is of f32");
    const bool is_of_ring =
        function.kind == LibraryKind::SetUpRing || function.kind == LibraryKind::AcquireSlot ||
        function.kind == LibraryKind::AwaitSlot || function.kind == LibraryKind::ReleaseSlot;
    if (!is_of_ring) return;
    const Op* words = kernel_.maker(op_.operands[0]);
    require(is_words(0) && words && words->kind == OpKind::Array && numbers[0] > 0 &&
                words->integer("count") == 2 * numbers[0],
            "rule F9: a ring has two words for each slot");
    require(function.kind == LibraryKind::SetUpRing || operand(1) == Type::scalar(DType::UInt32),
            "rule F9: a position is an u32");
  }

  void check_combination(const LibraryFunction& function) const {
    const std::size_t count = op_.operands.size() / function.operands.size();
    const Region& region = op_.regions[0];
    const std::vector<Value>& yielded = region.ops.back()->operands;
    bool fit = region.arguments.size() == 2 * count && yielded.size() == count;
    for (std::size_t k = 0; fit && k < 2 * count; ++k)
      fit = kernel_.type(region.arguments[k]) == operand(k % count).element() &&
            kernel_.type(yielded[k % count]) == operand(k % count).element();
    require(fit,
            "rule F9: the function that combines takes two elements of each array and gives one");
    require(is_identifier(op_.text("named")), "rule F8: the function has a name");
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    for (const std::int64_t number : numbers)
      require(number >= 0, "rule F9: lanes, warps and counts are not negative");
    const Op* thread = thread_op(kernel_);
    const std::int64_t lanes = thread ? thread->integer("lanes", 1) : 1;
    const std::int64_t warps =
        thread ? thread->integer("count") / std::max<std::int64_t>(lanes, 1) : 1;
    require(numbers[0] < lanes && (!function.operands.ends_with('S') || numbers[1] < warps),
            "rule F9: the bits are those of lanes and warps that the program has");
    for (std::size_t k = 0; k < count; ++k) {
      const Op* made = kernel_.maker(op_.operands[k]);
      const bool is_known = made && made->find("count") && made->kind != OpKind::Thread;
      require(numbers[numbers.size() - 2] > 0 &&
                  (!is_known || numbers[numbers.size() - 2] <= made->integer("count")),
              "rule F2: the totals are more than the array has elements");
    }
    if (function.kind == LibraryKind::ScanLanes || function.kind == LibraryKind::ScanBlock)
      check_scan();
  }

  // Bits of an element's number that go along a line, of those that it has.
  void check_scan() const {
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    const std::size_t last = numbers.size() - 1;
    const std::int64_t inner = numbers[last - 3], outer = numbers[last - 2],
                       count = numbers[last - 1];
    require(std::has_single_bit(static_cast<std::uint64_t>(count)) && inner < count &&
                outer < count && (inner & outer) == 0,
            "rule F9: the bits of a scan are different ones of the numbers of a power of two");
  }

  // Whole vectors of the threads that a block has.
  void check_row() const {
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    const Op* thread = thread_op(kernel_);
    require(
        result().space == Space::Stack && thread &&
            thread->integer("count") == numbers[2] * kernel_.shape.cluster,
        "rule F9: own_row gives an array of the thread, and is told how many threads a block has");
    require(numbers[1] > 0 && numbers[0] % numbers[1] == 0, "rule F9: own_row has whole vectors");
  }

  // By the threads that there are, of all elements of the array.
  void check_sort() const {
    const std::vector<std::int64_t> numbers = op_.integers("numbers");
    const Op* array = kernel_.maker(op_.operands[0]);
    const Op* thread = thread_op(kernel_);
    require(operand(0).space == Space::Shared && array && array->kind == OpKind::Array && thread,
            "rule F9: sort_block takes an array in shared memory");
    const auto is_log = [](std::int64_t log, std::int64_t count) {
      return log >= 0 && log < 31 && std::int64_t{1} << log == count;
    };
    require(
        is_log(numbers[3], array->integer("count")) && is_log(numbers[4], thread->integer("count")),
        "rule F9: sort_block is told how many elements and threads there are");
    require(numbers[0] > 0 && numbers[0] <= numbers[1] && numbers[1] <= numbers[3] &&
                numbers[2] >= 0 && numbers[2] < static_cast<std::int64_t>(std::size(sort_orders)),
            "rule F9: stages of sort_block are those of its elements, and an order is 0, 1 or 2");
  }

  void check_functions(const LibraryFunction& function) const {
    const Type given = Type::scalar(function.operands.starts_with('w') ? f64 : f32);
    for (const Region& region : op_.regions) {
      const bool is_first = &region == &op_.regions[0];
      const std::vector<Value>& yielded = region.ops.back()->operands;
      const bool takes_index =
          region.arguments.size() == 1 && kernel_.type(region.arguments[0]) == Type::scalar(i64);
      const bool gives_one = yielded.size() == 1 && kernel_.type(yielded[0]) == given;
      require(!is_first || (takes_index && gives_one),
              "rule F9: the function that is handed over takes an i64 and gives an {}",
              given.to_string());
      require(is_first || (takes_index && yielded.empty()),
              "rule F9: the second function takes an i64 and gives nothing");
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
};

}  // namespace

void verify_call_types(const Kernel& kernel, const Op& op) { CallTypes(kernel, op).check(); }

}  // namespace tilewright::ir
