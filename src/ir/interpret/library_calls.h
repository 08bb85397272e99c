// SPDX-License-Identifier: Apache-2.0
// ir/interpret/library_calls.h — what the functions of machine/library.def do that one thread
// calls.
#pragma once

#include "ir/interpret/program_view.h"
#include "machine/library.h"

namespace tilewright::ir {

class LibraryCalls : private ProgramView {
 public:
  explicit LibraryCalls(ProgramState& state) : ProgramView(state) {}

  void call(const Op& op);

 private:
  Element value_of_call(const Op& op, ValueCall function);
  void call_of_host(const Op& op, HostCall function);
  void call_of_thread(const Op& op, ThreadCall function);
  bool is_run(const Op& op) const;
  void stream(const Op& op);
  double value_at(const Region& region, std::int64_t i);
  void write_row(const Op& op, std::size_t pointer, std::int64_t first, std::int64_t last);
  void sum_row(const Op& op);
  void largest_of_row(const Op& op);
  Tile array_tile(const Op& op, std::size_t array, std::int64_t rows, std::int64_t columns,
                  std::int64_t by_row, std::int64_t by_column) const;
  void write_tile(const Op& op, std::size_t array, const Tile& tile);
  void dot_of_arrays(const Op& op);
  void running_sum(const Op& op);
};

}  // namespace tilewright::ir
