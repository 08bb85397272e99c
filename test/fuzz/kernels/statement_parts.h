// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/statement_parts.h — statements that are more than an assignment or a store.
#pragma once

#include "draft.h"

namespace tilewright::fuzz {

// What a block defines is forgotten after it; what it assigns stays.
class InnerScope {
 public:
  explicit InnerScope(Draft& draft) : draft_(draft), outer_(draft.scope) { ++draft.scope.depth; }
  ~InnerScope() {
    for (std::size_t i = 0; i < outer_.pointers.size(); ++i) {
      outer_.pointers[i].room = draft_.scope.pointers[i].room;
      outer_.pointers[i].reserve = draft_.scope.pointers[i].reserve;
    }
    draft_.scope = outer_;
  }

 private:
  Draft& draft_;
  Scope outer_;
};

// A loop or a branch with statements in it; false when the kernel has none of them.
bool add_compound(Draft& draft, Block& block);
// Defines or changes a pointer; false when the kernel has none of them.
bool add_pointers(Draft& draft, Block& block);
// "for t in range(3):" with a new counter in scope.
std::string for_header(Draft& draft, int rounds);
// Products added up over a loop; false when the kernel has none.
bool add_product_loop(Draft& draft, Block& block);
// A product whose left operand is made of another product of the same round; false when the kernel has none.
bool add_chained_products(Draft& draft, Block& block);
// Rows loaded round by round, added up and stored: what a pipeline loads ahead.
bool add_row_loop(Draft& draft, Block& block);
// Loads and stores at a place that moves by sums of 8 bits; false when the kernel has none.
bool add_narrow_walk(Draft& draft, Block& block);
// A load behind all other statements whose mask is a quotient of integers that wrap, in some kernels.
void add_narrow_mask(Draft& draft, Block& body);
// Sums of zeros with a sign, loops that go down and products of warpgroups behind all other statements, in some kernels.
void add_last_statements(Draft& draft, Block& body);
// Totals that atomics add, short rounds, divisions by one number and masks with steps behind all
// other statements, in some kernels.
void add_chosen_layouts(Draft& draft, Block& body);
// Some kernels of several programs have few elements, many programs and nothing but elements.
void choose_few_elements(Draft& draft);
// All statements of some of those.
void add_plain_elements(Draft& draft, Block& body);
// A matrix that every round reduces, changes and reduces again.
bool add_state_loop(Draft& draft, Block& block);
// A value of this round and of the last one, both used.
void add_recurrence(Draft& draft, Block& block);
// A tile that a region hands on while the loop that began with it, or carries it, has written the
// next one.
void add_handed_on(Draft& draft, Block& block);
// A result of every round of the loops around, each in a place of its own.
void store_result(Draft& draft, Block& block, Form form, const Expression& value);
// A tile that is loaded, used and stored in the same place.
void add_update(Draft& draft, Block& block);
// A tile that is stored, loaded again and read through a view.
void add_reload(Draft& draft, Block& block);
// What this round stores the next one loads, every element by another thread.
void add_relay(Draft& draft, Block& block);
// A load and a store of addresses that stand in the tile several times; all copies store the same.
void add_shared_places(Draft& draft, Block& block);
// A row of floats after all other statements, in some kernels.
void add_long_row(Draft& draft, Block& body);
// A scalar that may differ with the order of elements, as a condition around collectives of which
// both sides give the same.
void add_tie(Draft& draft, Block& block);

}  // namespace tilewright::fuzz
