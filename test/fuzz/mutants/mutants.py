# SPDX-License-Identifier: Apache-2.0
# fuzz/mutants/mutants.py — fixes of wrong results that can be taken back one at a time, to see
# whether random kernels notice.
#
# All mutants are in one build: each edit makes a place of the source ask whether its mutant is the
# one that is tried (MUTANT in the new text). An edit names its place by text that stands in the
# file exactly once; when the source has changed so much that it does not, the edit must be written
# anew or, when the decision is made elsewhere, dropped.
from dataclasses import dataclass


@dataclass
class Edit:
    file: str
    old: str
    new: str


@dataclass
class Mutant:
    name: str
    fix: str  # what the guard that is taken back keeps right
    edits: list


def drop(file, statement):
    return Edit(file, statement, "if (!MUTANT) " + statement)


def force(file, condition, value):
    """The condition is `value`; for a sum of conditions, put it in brackets."""
    text = f"(MUTANT || {condition})" if value else f"(!MUTANT && {condition})"
    return Edit(file, condition, text)


ANALYSIS = "src/ir/analysis/memory_order.cpp"
EXACT = "src/ir/analysis/exact_integers.h"
PLANNER = "src/passes/laid/planner.cpp"
HOMES = "src/passes/laid/homes.cpp"
STORAGE = "src/passes/laid/storage.cpp"
GLOBAL = "src/codegen/lower/memory_uses.cpp"
ORDER = "src/codegen/lower/thread_order.cpp"
LOOPS = "src/codegen/lower/thread_loops.cpp"
TILES = "src/codegen/lower/thread_tiles.cpp"
MEETINGS = "src/ir/analysis/meetings.cpp"

MUTANTS = [
    # ---- Which pointers may meet
    Mutant("for_pointer", "a pointer that a `for` carries may come from what the body makes it",
           [drop(ANALYSIS, "unite(carried, op.regions[0].ops.back()->operands[k], changes);")]),
    Mutant("while_pointer", "the same for a `while`",
           [drop(ANALYSIS, "unite(op.regions[0].arguments[k], op.regions[1].ops.back()->operands[k], changes);")]),
    Mutant("if_pointer", "a pointer that an `if` chooses may come from either branch",
           [Edit(ANALYSIS, "unite(op.results[k], region.ops.back()->operands[k], changes);",
                 "if (!MUTANT || &region == &op.regions[0]) unite(op.results[k], region.ops.back()->operands[k], changes);")]),
    Mutant("where_pointer", "a pointer that `where` chooses may come from both",
           [Edit(ANALYSIS, "origin.add(origins_[operand.id]);",
                 "if (!MUTANT || !is_handed_on) origin.add(origins_[operand.id]);")]),
    Mutant("cast_pointer", "a pointer from an integer may point anywhere",
           [Edit(ANALYSIS, "origin.is_unknown |= !is_handed_on", "origin.is_unknown |= (!MUTANT && !is_handed_on)")]),
    Mutant("overlapping_arguments", "arguments of one buffer are one memory",
           [force(ANALYSIS, "argument.memory >= 0", False)]),
    Mutant("address_twice", "a load and a store share a loop only where no address stands in the tile twice",
           [Edit(ANALYSIS, "return is_same() && is_injective(pointer);",
                 "return is_same() && (MUTANT || is_injective(pointer));")]),
    Mutant("narrow_index", "a cast that loses bits is no step of an address",
           [force(EXACT, "to.element_bytes() >= from.element_bytes()", True)]),
    Mutant("narrow_sum", "sums of narrow integers wrap: their terms do not say how far apart places are",
           [force(EXACT, "type.element_bytes() == 8", True)]),
    Mutant("apart_terms", "tiles are a known distance apart only where the rest of their address is the same",
           [Edit(ANALYSIS, "one.terms != two.terms) return false;",
                 "(!MUTANT && one.terms != two.terms)) return false;")]),
    # ---- What shares a loop over elements
    Mutant("store_store", "two stores share a loop only at the same place",
           [Edit(PLANNER, "return !must_order(op, *before.op) ||",
                 "return (MUTANT && before.op->kind == OpKind::Store) || !must_order(op, *before.op) ||")]),
    Mutant("late_reload", "a load of what is overwritten later is kept, not repeated",
           [force(PLANNER, "overwritten_.contains(&op)", False)]),
    Mutant("late_store", "a load does not wait for a step that comes after a store to its place",
           [Edit(HOMES, "const auto step = steps_of_.find(write);",
                 "if (MUTANT && write->operands[0] == load.operands[0]) return false;\n"
                 "    const auto step = steps_of_.find(write);")]),
    Mutant("transposed_in_place", "a load that is needed transposed does not wait for its own store",
           [force(HOMES, "wanted.access != Access::Same", False)]),
    Mutant("handed_on", "a tile that a region hands on is still read where the region ends",
           [force(STORAGE, 'user->facts().is(ir::Family::Ends)', False)]),
    Mutant("nested_writes", "writes inside loops and branches overwrite what was loaded before them",
           [drop(PLANNER, "if (nested.facts().has(ir::Writes)) writes.push_back(&nested);")]),
    Mutant("reshape_index", "the index of a reshape is an operand on the CPU",
           [Edit("src/codegen/lower/loop_places.cpp", "const bool is_whole = stride == 1 && attributes.size() == 1;",
                 "const bool is_whole = MUTANT || (stride == 1 && attributes.size() == 1);")]),
    # ---- Barriers for global memory
    Mutant("back_edge", "what a round did to memory is pending in the next one",
           [Edit(GLOBAL, "if (const auto found = assumed_.find(&loop); found != assumed_.end()) return merge(found->second);",
                 "if (MUTANT) return;\n  if (const auto found = assumed_.find(&loop); found != assumed_.end()) return merge(found->second);")]),
    Mutant("empty_loop", "a barrier inside a loop may never be reached",
           [drop(GLOBAL, "merge(before);")]),
    Mutant("while_head", "a `while` may end behind its condition",
           [drop(ORDER, "memory_.merge(at_decision);")]),
    Mutant("rounds", "the same place in another round is another place unless nothing of it changes",
           [Edit(GLOBAL, "const bool is_in_round = !before.loop ||", "const bool is_in_round = MUTANT || !before.loop ||")]),
    Mutant("view_of_access", "a load through a view is no load of the thread's own elements",
           [force(GLOBAL, "before.map == use.map", True)]),
    Mutant("replicas", "threads with copies of an element are several who load and store it",
           [force(GLOBAL, "use.layout->copy_bits() == 0", True)]),
    Mutant("scalar_reader", "a scalar that all threads load waits for the one that stores it",
           [Edit(GLOBAL, "if (!before.layout && !use.layout) return are_writes;",
                 "if (!before.layout && !use.layout) return MUTANT || are_writes;")]),
    Mutant("producer_ahead", "the producer of a kernel with roles needs nothing that the kernel stores",
           [force("src/passes/roles/producer_needs.cpp", "(order_.must_order(op, *write))", False)]),
    Mutant("scalar_atomic", "a later load waits for the one thread of a scalar atomic",
           [drop(ORDER, "memory_.note(op);")]),
    Mutant("unparted_load", "a load that a store of its loop must wait for gets a loop of its own",
           [force(TILES, "!is_done && is_met", False)]),
    Mutant("copies_ahead", "a load is not copied ahead of a store to the same memory",
           [Edit("src/passes/pipeline_loops/candidates.cpp", "return order_.must_order(load, *write);",
                 "return !MUTANT && order_.must_order(load, *write);")]),
    # ---- Arrays and barriers in shared memory
    Mutant("barrier_inside", "threads meet between the loads and the stores of a loop that another one's stores meet",
           [force(LOOPS, "state_.meetings.inside.contains(step.order)", False)]),
    Mutant("overwritten_tile", "a carried tile is not loaded anew while its old value is still read",
           [force(LOOPS, "!plans_.reads_storage_of(step, preload.value)", True)]),
    Mutant("copied_tile", "a carried tile that threads hold copies of is replaced in an array of its own",
           [force(TILES, "(is_read)", False)]),
    Mutant("shared_back_edge", "what a round did to shared memory is pending in the next one",
           [force(MEETINGS, "merge(gone_round(op, at_end))", False)]),
    Mutant("shared_thread", "only accesses of one thread to an array need no barrier between them",
           [force(MEETINGS, "maps_.is_same_thread(*a.map, *b.map)", True)]),
    # ---- Collectives
    Mutant("ties", "every thread has the same result of a reduction whose order matters",
           [force("src/codegen/lower/thread_reductions.cpp", "is_symmetric(reduction.op->regions[0])", True)]),
    Mutant("sort_and_atomic", "names of the device library's parts differ",
           [Edit("src/codegen/cuda/emit.cpp", 'source.text += "\\n" + inline_asm_functions(kernel) + function.text;',
                 'source.text += "\\n" + inline_asm_functions(kernel) + function.text;\n'
                 '  const auto rename = [](std::string& text) {\n'
                 '    for (std::size_t at = 0; (at = text.find("SortOrder")) != std::string::npos;) text.erase(at, 4);\n'
                 '  };\n'
                 '  if (MUTANT) {\n'
                 '    rename(source.text);\n'
                 '    for (NamedFile& header : source.headers) rename(header.text);\n'
                 '  }')]),
]
