// SPDX-License-Identifier: Apache-2.0
// ir/interpret/program_view.h — what the families of ops have in common: values, errors, accesses
// to memory and arrays, tensor maps. A view of a ProgramState, under the names that they use.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "ir/interpret/order.h"
#include "ir/interpret/program_state.h"
#include "ir/interpret/watch.h"

namespace tilewright::ir {

class ProgramView {
 protected:
  using ThreadState = ProgramState::Thread;

  explicit ProgramView(ProgramState& state);
  // The other families.
  ProgramParts& parts() const { return *state_.parts; }

  // ---- Values
  const Tile& get(Value value) const { return values_[value.id]; }
  const Tile& operand(const Op& op, std::size_t i) const { return get(op.operands[i]); }
  std::int64_t integer(const Op& op, std::size_t i) const { return operand(op, i).elements[0].i; }
  const Type& result_type(const Op& op, std::size_t i = 0) const {
    return kernel_.type(op.results[i]);
  }
  void set(Value value, Tile tile) { values_[value.id] = std::move(tile); }
  void set_result(const Op& op, Tile tile, std::size_t i = 0) {
    set(op.results[i], std::move(tile));
  }
  void set_all(std::span<const Value> to, std::vector<Tile>& tiles);
  std::vector<Tile> values_of(const std::vector<Value>& values, std::size_t from = 0) const;
  std::vector<Element> scalars(const Op& op) const;  // the operands of an op on scalars
  // What an elementwise op gives of these operands.
  Tile computed(const Op& op, const Type& type, std::span<const Tile* const> operands);
  Tile product(const Op& op, const Type& type, const Tile& a, const Tile& b, const Tile& sum);
  void note_moves(std::span<const Value> to, std::span<const Value> from) const {
    if (options_.watch != nullptr) options_.watch->moves(to, from);
  }

  // ---- Errors
  std::string place_of(const Op& op) const;  // "k.py:12:5: kernel 'k'"
  [[noreturn]] void fail(const Op& op, const std::string& what) const;
  // Of a rule that the kernel breaks: returns when whoever watches lets it go on.
  void report(const Op& op, const std::string& what) const;

  // ---- Memory
  Element checked_read(const Op& op, std::int64_t pointer, DType dtype) const;
  void checked_write(const Op& op, std::int64_t pointer, DType dtype, Element element) const;
  // What memory has after the element is added.
  Element sum_in_memory(const Op& op, std::int64_t pointer, const Type& type, Element element);

  // ---- Arrays
  // Of the operand with this number, an array or a pointer to memory.
  Element read_array(const Op& op, std::size_t array, std::int64_t index) const;
  void write_array(const Op& op, std::size_t array, std::int64_t index, Element element);
  void for_each_thread(const std::function<void()>& run);
  // That element of the first `count` operands, in each thread.
  std::vector<Tile> totals_of(const Op& op, std::size_t count, std::int64_t index);

  // ---- Tensor maps
  const KernelMap& map_named(const Op& op) const;
  // Where the element at these coordinates is; none outside of the tensor.
  std::optional<std::int64_t> map_address(const KernelMap& map,
                                          const std::vector<std::int64_t>& coordinates,
                                          DType dtype) const;
  // That a copy may begin at these coordinates.
  void check_copy(const Op& op, const std::vector<std::int64_t>& at, const KernelMap& map) const;
  Element read_map_element(const Op& op, const KernelMap& map,
                           const std::vector<std::int64_t>& coordinates, DType dtype) const;

  ProgramState& state_;
  const Kernel& kernel_;
  const Memory& memory_;
  const InterpretOptions& options_;
  const std::array<std::int64_t, 3>& id_;
  std::int64_t& thread_;
  std::int64_t& thread_count_;
  std::int64_t& lanes_;
  std::vector<ThreadState>& threads_;
  SharedArrays& shared_;
  std::vector<Tile>& values_;
  Copies& copies_;
  Rings& rings_;
  GroupProducts& products_;
  MapStores& stores_;
  RoleTurns& turns_;
  Arrays& arrays_;
  ThreadCopies& own_copies_;
  Jitter& jitter_;
  std::vector<ControlPlace>& path_;

 private:
  void note_order(const Op& op, std::int64_t pointer, DType dtype, OrderWatch::Access access,
                  bool writes) const;
  void note_threads(const Op& op, std::int64_t pointer, bool writes) const;
};

}  // namespace tilewright::ir
