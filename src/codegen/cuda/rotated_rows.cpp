// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/rotated_rows.cpp — loads and stores of tiles that are turned round (rotation.h).
#include <fmt/format.h>

#include "codegen/cuda/emitter.h"

namespace tilewright {

// Before the first loop over elements: all of them need it.
void Emitter::declare_shift() {
  if (!alignments_.rotation() || !shift_.empty()) return;
  const Rotation& rotation = *alignments_.rotation();
  const ir::Type& type = kernel_.type(rotation.start);
  shift_ = names_.make("shift");
  out_.format("// Rows begin anywhere: slot i of a tile holds element (i - {}) % {} of it, so that",
              shift_, rotation.size);
  out_.line("// vectors are aligned in memory.");
  const std::string start = atom(scalar(rotation.start));
  out_.format("const i32 {} = i32({});", shift_,
              type.is_pointer ? fmt::format("u64({}) / {} % {}", bare(start), size_of(type.dtype),
                                            rotation.vector)
                              : fmt::format("{} & {}", start, rotation.vector - 1));
}

std::string Emitter::rotated_template(const Frame& frame, const VectorAccess& access) const {
  return fmt::format("{}, {}", alignments_.rotation()->size, vector_template(frame, access, {}));
}

// What the library must know of a vector: where the row begins, the index of the first element
// (below 0 it comes from the end), and the bounds of what is inside.
std::string Emitter::rotated_place(const Frame& frame, const VectorAccess& access) {
  const std::size_t last = frame.space.variables.size() - 1;
  std::string thread = linear_text(frame.space, access.place, 1, last + 1);
  std::string loops = "0";
  const IndexMap linear{access.place.matrix, 0};
  if ((image_of(frame.space, linear, last, last + 1) &
       (access.place.offset | image_of(frame.space, linear, 1, last))) == 0) {
    thread = linear_text(frame.space, linear, last, last + 1);
    loops = linear_text(frame.space, access.place, 1, last);
  }
  std::string low = "0";
  std::string high = std::to_string(alignments_.rotation()->size);
  if (access.bounds) {
    const auto least = constant_of(access.bounds->operands[0]);
    if (!least || *least > 0) low = bound_text(access.bounds->operands[0]);
    high = bound_text(access.bounds->operands[1]);
  }
  return fmt::format("{}, {}, {}, {}, {}, {}", bare(scalar(access.affine->operands[0])), thread,
                     loops, shift_, low, high);
}

void Emitter::rotated_load(Frame& frame, const VectorAccess& access, const std::string& into) {
  const bool is_aligned = alignments_.is_rotated_into_line(*access.op);
  statement(*access.op,
            fmt::format("tw::{}<{}>({}, {}, {});", is_aligned ? "load_rotated" : "load_apart",
                        rotated_template(frame, access), into, rotated_place(frame, access),
                        other_text(*access.op)));
}

void Emitter::rotated_store(Frame& frame, const VectorAccess& access, const std::string& from) {
  const std::string owner = owner_text(*frame.layout);
  statement(*access.op,
            fmt::format("{}tw::store_rotated<{}>({}, {});",
                        owner.empty() ? "" : fmt::format("if ({}) ", owner),
                        rotated_template(frame, access), rotated_place(frame, access), from));
}

}  // namespace tilewright
