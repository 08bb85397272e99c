// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/stowed_row.cpp — a long row in shared memory instead of registers.
//
// Each thread copies its vectors of the row there, and reads only those again: no barrier is
// needed, copies need no registers while they are on their way, and several rows fit on a
// multiprocessor. Vector k of all threads of a block comes before vector k + 1.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "codegen/cuda/emitter.h"

namespace tilewright {

std::int64_t Emitter::stowed_bytes() const {
  if (!stowed_) return 0;
  const ir::Type& type = kernel_.type(stowed_);
  return type.numel() * static_cast<std::int64_t>(type.element_bytes()) / shape_.blocks;
}

void Emitter::declare_stowed() {
  const std::string memory = names_.make("shared_row");
  const std::string name = names_.make(array_base(stowed_, stowed_) + "_row");
  const std::string type = type_of(stowed_);
  const int vector = 1 << layouts_.of_array(stowed_).log_vector;
  const int threads = shape_.block_threads();
  const std::string place = shape_.blocks == 1
                                ? fmt::format("int(threadIdx.x) * {}", vector)
                                : fmt::format("tw::own_place<{}, {}, {}>()", threads, vector,
                                              kernel_.type(stowed_).numel() / shape_.blocks);
  prologue_.push_back(fmt::format("extern __shared__ __align__(16) unsigned char {}[];", memory));
  prologue_.push_back(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2}) + {3};", type, name,
                                  memory, place));
  arrays_[stowed_.id] = name;
}

std::string Emitter::stowed_index(const Frame& frame, const Place& place) const {
  const int log_vector = layouts_.of_array(stowed_).log_vector;
  const int log_threads = std::countr_zero(static_cast<unsigned>(shape_.block_threads()));
  const std::uint64_t inside = (1ull << log_vector) - 1;
  const auto apart = [&](std::uint64_t number) {
    return (number & inside) | (number & ~inside) << log_threads;
  };
  const IndexMap numbers = register_map(frame, stowed_, place);
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < frame.space.bits(); ++j) columns.push_back(apart(numbers.matrix.column(j)));
  const int rows = numbers.matrix.rows() + log_threads;
  return linear_text(frame.space, {BitMatrix(rows, std::move(columns)), apart(numbers.offset)},
                     frame.is_whole_vector ? 1 : 0, frame.space.variables.size());
}

void Emitter::stow_kept(ElementLoop& loop, std::vector<Preload>& loads) {
  const std::vector<ir::Value>& kept = loop.frame.step->kept;
  bool is_missing =
      stowed_ && std::count(kept.begin(), kept.end(), schedule_.source_of(stowed_)) != 0;
  for (Preload& load : loads) {
    if (!is_stowed(load.value) || !load.access) continue;
    is_missing = false;
    stow(loop, *load.access);
    load.access.reset();  // from now on it is read from there
  }
  is_stowed_well_ &= !is_missing;
}

bool Emitter::is_one_copy(const ElementLoop& loop, const VectorAccess& access) const {
  const auto bytes = static_cast<std::int64_t>(kernel_.type(stowed_).element_bytes())
                     << loop.log_vector;
  return !access.is_rotated && access.width == 1 << loop.log_vector &&
         (bytes == 4 || bytes == 8 || bytes == 16) &&
         (cache_text(*access.op).empty() || lingers(*access.op));
}

void Emitter::stow(ElementLoop& loop, const VectorAccess& access) {
  const bool copies = is_one_copy(loop, access);
  open_vectors(loop);
  if (copies) {
    parts_.insert("async_copy");
    loop.frame.is_whole_vector = true;
    const std::string target =
        sum_text(array_name(stowed_), stowed_index(loop.frame, access.place));
    const std::string pointer = vector_pointer(loop.frame, access);
    const Guard guard = vector_guard(loop.frame, access);
    loop.frame.is_whole_vector = false;
    const std::string suffix = guard.suffix.empty() ? "_whole" : guard.suffix;
    const std::string condition = guard.suffix.empty() ? ", true" : guard.arguments;
    statement(*access.op,
              fmt::format("tw::copy{}<{}{}>({}, {}{}, {});", suffix, 1 << loop.log_vector,
                          lingers(*access.op) ? ", tw::lingering" : "", target, pointer, condition,
                          other_text(*access.op)));
  } else {
    is_stowing_ = true;
    stow_vector(loop, access);
    is_stowing_ = false;
  }
  close_vectors(loop);
  if (!copies) return;
  out_.line("tw::commit_copies();");
  out_.line("tw::wait_copies<0>();");
}

// Through registers, where no copy can do it: elements that are not aligned.
void Emitter::stow_vector(ElementLoop& loop, const VectorAccess& access) {
  const std::string row = array_name(stowed_);
  if (loop.log_vector == 0) {
    single_load(loop.frame, access,
                fmt::format("{}[{}]", row, stowed_index(loop.frame, access.place)));
    return;
  }
  const std::string part = names_.make("part");
  out_.format("{} {}[{}];", type_of(stowed_), part, 1 << loop.log_vector);
  vector_load(loop.frame, access, part);
  loop.frame.is_whole_vector = true;
  const std::string target = sum_text(row, stowed_index(loop.frame, access.place));
  loop.frame.is_whole_vector = false;
  out_.format("tw::store_shared<{}>({}, {});", 1 << loop.log_vector, target, part);
}

}  // namespace tilewright
