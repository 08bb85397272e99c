// SPDX-License-Identifier: Apache-2.0
// ir/interpret/program_view.cpp — values and errors of a program, and its accesses to memory,
// arrays and tensors with a map.
#include "ir/interpret/program_view.h"

#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/elementwise.h"
#include "ir/interpret/program.h"
#include "ir/interpret/shapes.h"
#include "ir/map_dimensions.h"
#include "tilewright/error.h"

namespace tilewright::ir {

ProgramView::ProgramView(ProgramState& state)
    : state_(state),
      kernel_(state.kernel),
      memory_(state.memory),
      options_(state.options),
      id_(state.id),
      thread_(state.thread),
      thread_count_(state.thread_count),
      lanes_(state.lanes),
      threads_(state.threads),
      shared_(state.shared),
      values_(state.values),
      copies_(state.copies),
      rings_(state.rings),
      products_(state.products),
      stores_(state.stores),
      turns_(state.turns),
      arrays_(state.arrays),
      own_copies_(state.own_copies),
      jitter_(state.jitter),
      path_(state.path) {}

// ---- Values and errors

std::string ProgramView::place_of(const Op& op) const {
  if (op.location.line <= 0) return fmt::format("kernel '{}'", kernel_.name);
  const std::string file =
      op.location.file < kernel_.files.size() ? kernel_.files[op.location.file] : kernel_.name;
  return fmt::format("{}:{}:{}: kernel '{}'", file, op.location.line, op.location.column,
                     kernel_.name);
}

void ProgramView::fail(const Op& op, const std::string& what) const {
  throw UserError(
      fmt::format("{}: {} (program {}, {}, {})", place_of(op), what, id_[0], id_[1], id_[2]));
}

void ProgramView::report(const Op& op, const std::string& what) const {
  if (options_.watch == nullptr || !options_.watch->lets_pass(parts().program, op, what))
    fail(op, what);
}

void ProgramView::set_all(std::span<const Value> to, std::vector<Tile>& tiles) {
  for (std::size_t k = 0; k < tiles.size(); ++k) set(to[k], std::move(tiles[k]));
}

std::vector<Tile> ProgramView::values_of(const std::vector<Value>& values, std::size_t from) const {
  std::vector<Tile> tiles;
  for (std::size_t i = from; i < values.size(); ++i) tiles.push_back(get(values[i]));
  return tiles;
}

std::vector<Element> ProgramView::scalars(const Op& op) const {
  std::vector<Element> elements;
  for (const Value value : op.operands) elements.push_back(get(value).elements[0]);
  return elements;
}

Tile ProgramView::computed(const Op& op, const Type& type, std::span<const Tile* const> operands) {
  return jitter_.is_on() && Jitter::applies(op, type)
             ? jitter_.elementwise(op, type, operands)
             : interpret_elementwise(op, type, operands, options_.float64);
}

Tile ProgramView::product(const Op& op, const Type& type, const Tile& a, const Tile& b,
                          const Tile& sum) {
  return jitter_.is_on() && Jitter::applies(op, type)
             ? jitter_.dot(op, type, a, b, sum)
             : dot_tiles(a, b, sum, type, options_.float64);
}

// ---- Memory

Element ProgramView::checked_read(const Op& op, std::int64_t pointer, DType dtype) const {
  if (const std::string problem = memory_.problem(pointer, dtype, "reads"); !problem.empty()) {
    report(op, fmt::format("{} {}", op.facts().name, problem));
    return {.i = 0};
  }
  if (options_.order != nullptr) note_order(op, pointer, dtype, {}, false);
  note_threads(op, pointer, false);
  return memory_.read(pointer, dtype);
}

void ProgramView::checked_write(const Op& op, std::int64_t pointer, DType dtype,
                                Element element) const {
  if (const std::string problem = memory_.problem(pointer, dtype, "writes"); !problem.empty())
    return report(op, fmt::format("{} {}", op.facts().name, problem));
  note_threads(op, pointer, true);
  if (options_.order == nullptr) return memory_.write(pointer, dtype, element);
  const Element before = memory_.read(pointer, dtype);
  memory_.write(pointer, dtype, element);
  const bool changes = memory_.read(pointer, dtype).i != before.i;
  note_order(op, pointer, dtype, {.changes = changes}, true);
}

// Threads that have not met may do things in any order.
void ProgramView::note_threads(const Op& op, std::int64_t pointer, bool writes) const {
  const bool is_atomic = op.facts().is(Family::Access) && op.facts().is_atomic();
  if (thread_count_ == 1 || is_atomic || state_.is_adding || op.find("adds") ||
      op.integer("volatile") != 0)
    return;
  const std::uint64_t address = TaggedPointer::address(pointer);
  const std::string found = writes ? shared_.note_memory_write(address, thread_, op)
                                   : shared_.note_memory_read(address, thread_);
  if (!found.empty())
    fail(op, fmt::format("thread {} {} {}", thread_, writes ? "writes" : "reads", found));
}

void ProgramView::note_order(const Op& op, std::int64_t pointer, DType dtype,
                             OrderWatch::Access access, bool writes) const {
  access.address = TaggedPointer::address(pointer);
  access.is_store = op.kind == OpKind::Store || op.kind == OpKind::StoreMap;
  access.is_atomic = op.facts().is_atomic() || state_.is_adding;
  OrderWatch& order = *options_.order;
  const std::string found = writes ? order.note_write(access) : order.note_read(access);
  if (found.empty()) return;
  order.set_finding(
      fmt::format("{}: {}", place_of(op),
                  fmt::format(fmt::runtime(found), memory_.element_name(pointer, dtype))));
}

Element ProgramView::sum_in_memory(const Op& op, std::int64_t pointer, const Type& type,
                                   Element element) {
  const Op add{.kind = OpKind::Add, .location = op.location};
  const Tile old{type.element(), {checked_read(op, pointer, type.dtype)}};
  const Tile more{type.element(), {element}};
  const Tile* both[] = {&old, &more};
  return computed(add, type.element(), both).elements[0];
}

// ---- Arrays

namespace {

Type element_type_of(const Type& array_or_pointer) {
  return array_or_pointer.is_array() ? array_or_pointer.element() : array_or_pointer.pointee();
}

}  // namespace

Element ProgramView::read_array(const Op& op, std::size_t array, std::int64_t index) const {
  const std::int64_t handle = integer(op, array);
  const Type element = element_type_of(kernel_.type(op.operands[array]));
  if (!Arrays::is_array(handle))
    return checked_read(op, handle + index * static_cast<std::int64_t>(element.element_bytes()),
                        element.dtype);
  const bool is_shared = kernel_.type(op.operands[array]).space == Space::Shared;
  std::string problem =
      is_shared ? shared_.note_read(handle, index, thread_) : arrays_.problem(handle, index, true);
  if (problem.empty() && !is_shared && products_.is_used())
    problem = products_.touch(thread_ / GroupProducts::threads, Arrays::owner_of(handle), false);
  if (!problem.empty()) fail(op, fmt::format("{} reads {}", op.facts().name, problem));
  return is_shared ? shared_.read(handle, index) : arrays_.read(handle, index);
}

void ProgramView::write_array(const Op& op, std::size_t array, std::int64_t index,
                              Element element) {
  const std::int64_t handle = integer(op, array);
  const Type type = element_type_of(kernel_.type(op.operands[array]));
  if (!Arrays::is_array(handle))
    return checked_write(op, handle + index * static_cast<std::int64_t>(type.element_bytes()),
                         type.dtype, element);
  const bool is_shared = kernel_.type(op.operands[array]).space == Space::Shared;
  std::string problem = is_shared ? shared_.note_write(handle, index, thread_, op)
                                  : arrays_.problem(handle, index, false);
  if (problem.empty() && is_shared) {
    const auto [first, end] = shared_.bytes_of(handle, index);
    problem = stores_.write_problem(first, end);
  }
  if (problem.empty() && products_.is_used()) {
    if (is_shared) {
      const auto [first, end] = shared_.bytes_of(handle, index);
      problem = products_.write_problem(first, end);
    } else {
      problem = products_.touch(thread_ / GroupProducts::threads, Arrays::owner_of(handle), true);
    }
  }
  if (!problem.empty()) fail(op, fmt::format("{} writes {}", op.facts().name, problem));
  if (is_shared) shared_.write(handle, index, element);
  else arrays_.write(handle, index, element);
}

// Every number below the count once: the stride is odd and the count a power of two.
void ProgramView::for_each_thread(const std::function<void()>& run) {
  const auto seed = static_cast<std::int64_t>((options_.role_seed + 7 * state_.turn++) % 64);
  for (std::int64_t i = 0; i < thread_count_; ++i) {
    thread_ = (i * (2 * seed + 1) + seed) % thread_count_;
    if (threads_.empty()) {
      run();
      continue;
    }
    ThreadState& state = threads_[static_cast<std::size_t>(thread_)];
    std::swap(values_, state.values);
    std::swap(arrays_, state.arrays);
    std::swap(own_copies_, state.copies);
    run();
    std::swap(values_, state.values);
    std::swap(arrays_, state.arrays);
    std::swap(own_copies_, state.copies);
  }
}

// One lane for each thread.
std::vector<Tile> ProgramView::totals_of(const Op& op, std::size_t count, std::int64_t index) {
  std::vector<Tile> out;
  for (std::size_t k = 0; k < count; ++k)
    out.push_back({kernel_.type(op.operands[k]).element(), std::vector<Element>(threads_.size())});
  for_each_thread([&] {
    for (std::size_t k = 0; k < count; ++k)
      out[k].elements[static_cast<std::size_t>(thread_)] = read_array(op, k, index);
  });
  return out;
}

// ---- Tensor maps

namespace {

// To the nearest of 11 bits, as a tensor map copies float32 for products of tf32.
double rounded_to_tf32(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu);
}

}  // namespace

const KernelMap& ProgramView::map_named(const Op& op) const {
  for (const KernelMap& map : kernel_.maps)
    if (map.name == op.text("map")) return map;
  fail(op, fmt::format("there is no tensor map '{}'", op.text("map")));
}

// Where the element at these coordinates is; none outside of the tensor.
std::optional<std::int64_t> ProgramView::map_address(const KernelMap& map,
                                                     const std::vector<std::int64_t>& coordinates,
                                                     DType dtype) const {
  const auto value_of = [&](int argument) {
    return get(kernel_.arguments[static_cast<std::size_t>(argument)].value).elements[0].i;
  };
  const auto number = [&](const LaunchNumber& n) {
    std::int64_t product = n.factor;
    for (const int argument : n.arguments) product *= value_of(argument);
    return product;
  };
  std::int64_t offset = 0;
  bool is_inside = true;
  for (std::size_t d = 0; d < map.dimensions.size(); ++d) {
    const std::int64_t at = coordinates[d];
    is_inside = is_inside && at >= 0 && at < number(map.dimensions[d].size);
    offset += at * number(map.dimensions[d].stride);
  }
  if (!is_inside) return std::nullopt;
  return value_of(map.argument) + offset * static_cast<std::int64_t>(size_of(dtype));
}

void ProgramView::check_copy(const Op& op, const std::vector<std::int64_t>& at,
                             const KernelMap& map) const {
  const Type& pointer =
      kernel_.type(kernel_.arguments[static_cast<std::size_t>(map.argument)].value);
  const auto bytes = static_cast<std::int64_t>(size_of(pointer.dtype));
  if (const std::string problem = coordinates_problem(at, bytes, false); !problem.empty())
    fail(op, "a copy by a tensor map " + problem);
}

// 0 outside of the tensor.
Element ProgramView::read_map_element(const Op& op, const KernelMap& map,
                                      const std::vector<std::int64_t>& coordinates,
                                      DType dtype) const {
  Element out{.i = 0};  // +0.0 has the same bits
  if (const auto address = map_address(map, coordinates, dtype))
    out = checked_read(op, *address, dtype);
  if (map.rounds_to_tf32) out.f = rounded_to_tf32(out.f);
  return out;
}

}  // namespace tilewright::ir
