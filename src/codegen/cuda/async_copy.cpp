// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/async_copy.cpp — copies from global memory into slots of buffers, and what waits for
// them. A slot is an array in shared memory like any other: ops read it where it lies.
//
// A copy is no write for the tracking of barriers: whoever reads the slot has waited for the copy,
// and a wait is a barrier too. But a slot that was read since the last barrier must not be copied
// into before the next one.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/emitter.h"

namespace tilewright {
namespace {

using ir::OpKind;

}  // namespace

// ---- Buffers

const std::string& Emitter::buffer_name(const ir::Op& op) {
  return declare_buffer(kernel_.buffer_of(op));
}

const std::string& Emitter::declare_buffer(std::size_t number) {
  const auto [found, is_new] = buffers_.try_emplace(number);
  if (!is_new) return found->second;
  const ir::KernelBuffer& buffer = kernel_.buffers[number];
  found->second = names_.make(buffer.name);
  shared_.add(found->second, type_text(buffer.type.element()), buffer.slots * buffer.type.numel(),
              buffer, loop_depth_ > 0);
  return found->second;
}

std::string Emitter::slot_text(const ir::Op& op, ir::Value slot) {
  const ir::KernelBuffer& buffer = kernel_.buffers[kernel_.buffer_of(op)];
  const std::optional<std::int64_t> known = constant_of(slot);
  const std::int64_t size = buffer.type.numel();
  if (known && !kernel_.is_in_ring(buffer)) return sum_text(buffer_name(op), fmt::format("{}", *known * size));
  return slot_text(op, scalar(slot));
}

std::string Emitter::slot_text(const ir::Op& op, const std::string& slot) {
  const ir::KernelBuffer& buffer = kernel_.buffers[kernel_.buffer_of(op)];
  const std::int64_t size = buffer.type.numel();
  if (kernel_.is_in_ring(buffer))
    return fmt::format("{} + u32({}) % {} * {}", buffer_name(op), bare(slot), buffer.slots, size);
  return fmt::format("{} + {} * {}", buffer_name(op), atom(slot), size);
}

void Emitter::emit_read_buffer(const ir::Op& op) {
  const ir::Value result = op.result();
  const std::string slot = slot_text(op, op.operands[0]);
  const std::string name = names_.make(kernel_.name_of(result), "slot");
  statement(op, fmt::format("{}* const {} = {};", type_of(result), name, slot));
  shared_.add_view(name, buffer_name(op));
  arrays_[schedule_.storage(result).id] = name;
}

void Emitter::emit_commit(const ir::Op& op) {
  parts_.insert("async_copy");
  statement(op, "tw::commit_copies();");
}

void Emitter::emit_wait(const ir::Op& op) {
  parts_.insert("async_copy");
  statement(op, fmt::format("tw::wait_copies<{}>();", op.integer("pending")));
  if (has_products_) show_to_products();
  barrier();
}

// ---- Copies

// What must stand before the copies of a step.
std::string Emitter::begin_copy(const Step& step) {
  const ir::Op& op = *step.ops.front();
  const ElementLoop loop = copy_loop(step);
  const TileReads reads = reads_of(kernel_, schedule_, step);
  const SharedUse use = shared_use(loop.frame, reads, {});
  const bool needs_global = needs_barrier(reads, *loop.frame.layout);
  if (needs_barrier(use) || shared_.write_needs_barrier(buffer_name(op)) || needs_global) barrier();
  note(use);
  note_accesses(reads, *loop.frame.layout);
  shared_.note_use(buffer_name(op));
  const std::string to = slot_text(op, op.operands[1]);
  const std::string slot = names_.make(buffers_.at(kernel_.buffer_of(op)) + "_slot");
  statement(op, fmt::format("{}* const {} = {};", memory_type(op.operands[0]), slot, to));
  return slot;
}

void Emitter::copy_step(const Step& step) {
  const ir::Op& op = *step.ops.front();
  const std::string slot = begin_copy(step);
  ElementLoop loop = copy_loop(step);
  if (has_products_ && loop.log_slices == 0 && can_copy_vectors(loop, op) &&
      formula_of(loop, op))
    return copy_from_one_place(step, loop, slot);
  open_slices(loop);
  open_vectors(loop);
  if (can_copy_vectors(loop, op)) copy_vectors(loop, op, slot);
  else copy_elements(loop, op, slot);
  close_vectors(loop);
  close_slices(loop);
}

void Emitter::copy_vectors(ElementLoop& loop, const ir::Op& op, const std::string& slot) {
  Frame& frame = loop.frame;
  const Place first = first_of_vector(frame.place, loop.log_vector);
  const bool advances = advances_copies_ && loop.log_slices == 0;
  const std::string pointer = advances ? advanced_pointer(frame, op.operands[0], first)
                                       : bare(element(frame, op.operands[0], first));
  const std::string mask = copy_mask(loop, op);
  const IndexMap place = layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(first);
  std::string index;
  if (advances) {  // distances from the thread's first place
    const std::string at = names_.make(buffer_name(op) + "_at");
    out_.format("const i32 {} = {};", at, bare(linear_text(frame.space, place, 3, 4)));
    const std::uint64_t image = image_of(frame.space, place, 3, 4) | place.offset;
    index = added_text(at, image, frame.space, only_variable(frame.space, place, 1));
  } else {
    index = index_text(frame, place);
  }
  start_copy(loop, op, "copy_async", sum_text(slot, index), pointer,
             mask == "true" ? "" : ", " + mask);
}

// A pointer that a loop moves on by a scalar: what is the same in all rounds is worked out before
// it, and each round adds to it. Compilers would rather add up indices and scale them every time.
std::string Emitter::advanced_pointer(Frame& frame, ir::Value pointer, const Place& place) {
  const ir::Op* moved = kernel_.maker(pointer);
  const ir::Op* by =
      moved && moved->kind == OpKind::Offset ? kernel_.maker(moved->operands[1]) : nullptr;
  if (!by || by->kind != OpKind::Splat || constant_of(by->operands[0]))
    return bare(element(frame, pointer, place));
  const std::string from = bare(element(frame, moved->operands[0], place));
  return fmt::format("tw::advanced({}, {})", from, bare(element(frame, moved->operands[1], place)));
}

// Whether all operands of asynchronous products are copied in lines along their depth, so that one
// mask holds for all vectors of a thread. Tutorial 03 on an H200, of cuBLAS: tf32 128 x 128 x 32 and
// 4 warps 0.80 before, 0.99 with it; f16 128 x 128 x 64 0.68, 0.75; where the right operand's lines
// lie across the depth it was slower (128 x 256 x 64, 8 warps: 0.93, 0.83). Not with 64 rows, 128
// columns and 128 bytes of depth: 64 x 8192 x 8192 0.984, 1.017; 4096^3 0.565, 0.588; 2048^3 0.575,
// 0.594. Other tiles of 64 rows gain here and lose there (64 x 256 x 32 at 4096^3 0.765, 0.654).
bool Emitter::has_lines_along_depth() const {
  bool all = has_products_, found = false;
  const auto is_along = [&](ir::Value operand, int depth) {
    const ir::Op* read = kernel_.maker(schedule_.source_of(operand));
    for (; read && read->kind == OpKind::Permute; read = kernel_.maker(read->operands[0]))
      depth = static_cast<int>(read->integers("order")[static_cast<std::size_t>(depth)]);
    if (!read || read->kind != OpKind::ReadBuffer) return false;
    const std::size_t buffer = kernel_.buffer_of(*read);
    bool is_good = true;
    ir::walk(kernel_.body, [&](const ir::Op& op) {
      if (op.kind == OpKind::CopyAsync && kernel_.buffer_of(op) == buffer)
        is_good &= access_shape(kernel_, alignments_, op).contiguous == depth;
    });
    return is_good;
  };
  const auto is_flat = [&](const ir::Op& dot) {
    const ir::Type& left = kernel_.type(dot.operands[0]);
    const ir::Type& sum = kernel_.type(dot.result());
    return sum.rank == 2 && sum.size(0) == 64 && sum.size(1) == 128 &&
           left.size(1) * static_cast<std::int64_t>(left.element_bytes()) == 128;
  };
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Dot) return;
    found = true;
    if (is_flat(op)) return;
    all = all && is_along(op.operands[0], 1) && is_along(op.operands[1], 0);
  });
  return all && found;
}

// What pointers of copies are computed of, element by element, without a division: compilers would
// work it out again in every round rather than keep it (tutorial 09: 0.84 of cuBLAS, 0.85 kept).
std::set<std::uint32_t> Emitter::find_copy_indices() const {
  std::set<std::uint32_t> out;
  if (!has_products_) return out;
  std::vector<ir::Value> open;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::CopyAsync) open.push_back(op.operands[0]);
  });
  std::set<std::uint32_t> seen;
  bool divides = false;
  while (!open.empty()) {
    const ir::Value value = schedule_.source_of(open.back());
    open.pop_back();
    const ir::Type& type = kernel_.type(value);
    if (!type.is_tile() || !seen.insert(value.id).second) continue;
    if (!type.is_pointer && type.dtype == DType::Int32) out.insert(value.id);
    const ir::Op* maker = kernel_.maker(value);
    if (!maker) continue;
    divides |= maker->kind == OpKind::Remainder || maker->kind == OpKind::Divide;
    if (maker->facts().has(ir::Elementwise) || maker->facts().is(ir::Family::View))
      open.insert(open.end(), maker->operands.begin(), maker->operands.end());
  }
  return divides ? std::set<std::uint32_t>{} : out;
}

// Whether all of a tile is wanted; "" where only each element knows.
std::string Emitter::whole_text(const ir::Op& op) {
  const ir::Op* bounds = op.operands.size() > 2 ? kernel_.maker(op.operands[2]) : nullptr;
  if (!bounds || bounds->kind != OpKind::Bounds) return "";
  const ir::Type& type = kernel_.type(bounds->result());
  std::string out;
  const auto also = [&](const std::string& text) { out += (out.empty() ? "" : " && ") + text; };
  for (int d = 0; d < type.rank; ++d) {
    const ir::Value low = bounds->operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = bounds->operands[2 * static_cast<std::size_t>(d) + 1];
    const auto least = constant_of(low), most = constant_of(high);
    if (!(least && *least <= 0)) also(fmt::format("{} <= 0", atom(bound_text(low))));
    if (!(most && *most >= type.size(d))) also(fmt::format("{} >= {}", atom(bound_text(high)), type.size(d)));
  }
  return out;
}

// Beside products that go on, copies are what threads do: each thread's first place is worked out once, and the others are
// distances from it; a tile that is wanted whole asks for no element.
void Emitter::copy_from_one_place(const Step& step, ElementLoop& loop, const std::string& slot) {
  const ir::Op& op = *step.ops.front();
  const ir::Op& affine = *formula_of(loop, op);
  Frame& frame = loop.frame;
  const Place first = first_of_vector(frame.place, loop.log_vector);
  const IndexMap place = layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(first);
  const std::string at = names_.make(buffer_name(op) + "_at");
  out_.format("const i32 {} = {};", at, bare(linear_text(frame.space, place, 3, 4)));
  const std::uint64_t image = image_of(frame.space, place, 3, 4) | place.offset;
  const std::string from = names_.make(buffer_name(op) + "_from");
  const std::string offset = offset_text(frame, affine, only_variable(frame.space, first, 3));
  out_.format("{}* const {} = {};", memory_type(op.operands[0]), from, sum_text(scalar(affine.operands[0]), offset));
  const auto copy_all = [&](bool is_masked) {
    frame.scopes.emplace_back();  // what a branch names stays there
    open_vectors(loop);
    const std::string to = sum_text(slot, added_text(at, image, frame.space, only_variable(frame.space, place, 1)));
    const std::string pointer = sum_text(from, offset_text(frame, affine, only_variable(frame.space, first, 1)));
    const std::string mask = is_masked ? copy_mask(loop, op) : "true";
    start_copy(loop, op, "copy_async", to, pointer, mask == "true" ? "" : ", " + mask);
    close_vectors(loop);
    frame.scopes.pop_back();
  };
  const std::string whole = whole_text(op);
  if (whole.empty()) return copy_all(true);
  out_.open(fmt::format("if ({})", whole));
  copy_all(false);
  out_.outdent();
  out_.open("} else");
  copy_all(true);
  out_.close();
}

std::string Emitter::copy_mask(ElementLoop& loop, const ir::Op& op) {
  if (op.operands.size() < 3) return "true";
  const Place first = first_of_vector(loop.frame.place, loop.log_vector);
  return bare(element(loop.frame, op.operands[2], first));
}

void Emitter::start_copy(const ElementLoop& loop, const ir::Op& op, std::string_view function,
                         const std::string& to, const std::string& from,
                         const std::string& conditions) {
  parts_.insert("async_copy");
  const std::string owner = owner_text(*loop.frame.layout);
  const auto bytes = size_of(kernel_.type(op.operands[0]).dtype) << loop.log_vector;
  statement(op, fmt::format("{}tw::{}<{}>({}, {}{});", owner.empty() ? "" : "if (" + owner + ") ",
                            function, bytes, to, from, conditions));
}

// One after the other through registers, where a copy cannot do it.
void Emitter::copy_elements(ElementLoop& loop, const ir::Op& op, const std::string& slot) {
  parts_.insert("memory");
  Frame& frame = loop.frame;
  open_elements(loop);
  const Swizzle& swizzle = layouts_.swizzle_of_buffer(kernel_.buffer_of(op));
  const std::string pointer = bare(element(frame, op.operands[0], frame.place));
  std::string value = fmt::format("tw::load_one({})", pointer);
  if (op.operands.size() > 2) {
    const std::string mask = bare(element(frame, op.operands[2], frame.place));
    const ir::Type& type = kernel_.buffers[kernel_.buffer_of(op)].type;
    const std::string other =
        op.operands.size() > 3
            ? element(frame, op.operands[3], frame.place)
            : literal_text(type.element(), type.is_float() ? ir::AttributeValue(0.0)
                                                           : ir::AttributeValue(std::int64_t{0}));
    value = fmt::format("tw::load_if({}, {}, {})", mask, pointer, other);
  }
  const std::string index = index_text(frame, swizzle(frame.place));
  const std::string owner = owner_text(*frame.layout);
  statement(op, fmt::format("{}{}[{}] = {};", owner.empty() ? "" : "if (" + owner + ") ", slot,
                            index, value));
  close_elements(loop);
}

}  // namespace tilewright
