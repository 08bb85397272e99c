// SPDX-License-Identifier: Apache-2.0
// ir/interpret/program.cpp — the ops that need the program's state.
#include "ir/interpret/program.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/elementwise.h"
#include "ir/interpret/shapes.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

std::string element_text(const Type& type, Element element, bool hex) {
  if (type.is_pointer) return fmt::format("{:#x}", TaggedPointer::address(element.i));
  if (type.is_float()) return fmt::format("{}", element.f);
  if (hex) return fmt::format("{:#x}", static_cast<std::uint64_t>(element.i));
  return type.dtype == DType::UInt64 ? fmt::format("{}", static_cast<std::uint64_t>(element.i))
                                     : fmt::format("{}", element.i);
}

}  // namespace

std::uint64_t Program::jitter_seed(const InterpretOptions& options,
                                   std::array<std::int64_t, 3> id) {
  if (options.jitter == 0) return 0;
  std::uint64_t seed = options.jitter;
  for (const std::int64_t part : id)
    seed = seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(part) + 1;
  return seed | 1;
}

std::string Program::place_of(const Op& op) const {
  if (op.location.line <= 0) return fmt::format("kernel '{}'", kernel_.name);
  const std::string file =
      op.location.file < kernel_.files.size() ? kernel_.files[op.location.file] : kernel_.name;
  return fmt::format("{}:{}:{}: kernel '{}'", file, op.location.line, op.location.column,
                     kernel_.name);
}

void Program::fail(const Op& op, const std::string& what) const {
  throw UserError(
      fmt::format("{}: {} (program {}, {}, {})", place_of(op), what, id_[0], id_[1], id_[2]));
}

void Program::report(const Op& op, const std::string& what) const {
  if (options_.watch == nullptr || !options_.watch->lets_pass(*this, op, what)) fail(op, what);
}

std::vector<Tile> Program::values_of(const std::vector<Value>& values, std::size_t from) const {
  std::vector<Tile> tiles;
  for (std::size_t i = from; i < values.size(); ++i) tiles.push_back(get(values[i]));
  return tiles;
}

std::vector<Element> Program::scalars(const Op& op) const {
  std::vector<Element> elements;
  for (const Value value : op.operands) elements.push_back(get(value).elements[0]);
  return elements;
}

void Program::constant(const Op& op) {
  const Type& type = result_type(op);
  const AttributeValue& value = *op.find("value");
  Element element;
  if (type.is_float())
    element.f =
        options_.float64 ? std::get<double>(value) : round_to(type.dtype, std::get<double>(value));
  else
    element.i = type.is_pointer ? std::get<std::int64_t>(value)
                                : wrap(type.dtype, std::get<std::int64_t>(value));
  set_result(op, {type, std::vector<Element>(static_cast<std::size_t>(type.numel()), element)});
}

void Program::elementwise(const Op& op) {
  const Tile* operands[3];
  for (std::size_t i = 0; i < op.operands.size(); ++i) operands[i] = &operand(op, i);
  const std::span<const Tile* const> all(operands, op.operands.size());
  if (jitter_.is_on() && Jitter::applies(op, result_type(op)))
    return set_result(op, jitter_.elementwise(op, result_type(op), all));
  set_result(op, interpret_elementwise(op, result_type(op), all, options_.float64));
}

// ---- Memory

Element Program::checked_read(const Op& op, std::int64_t pointer, DType dtype) const {
  if (const std::string problem = memory_.problem(pointer, dtype, "reads"); !problem.empty()) {
    report(op, fmt::format("{} {}", op.facts().name, problem));
    return {.i = 0};
  }
  if (options_.order != nullptr) note_order(op, pointer, dtype, {}, false);
  note_threads(op, pointer, false);
  return memory_.read(pointer, dtype);
}

void Program::checked_write(const Op& op, std::int64_t pointer, DType dtype,
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
void Program::note_threads(const Op& op, std::int64_t pointer, bool writes) const {
  const bool is_atomic = op.facts().is(Family::Access) && op.facts().is_atomic();
  if (thread_count_ == 1 || is_atomic || is_adding_ || op.find("adds") ||
      op.integer("volatile") != 0)
    return;
  const std::uint64_t address = TaggedPointer::address(pointer);
  const std::string found = writes ? shared_.note_memory_write(address, thread_, op)
                                   : shared_.note_memory_read(address, thread_);
  if (!found.empty())
    fail(op, fmt::format("thread {} {} {}", thread_, writes ? "writes" : "reads", found));
}

void Program::note_order(const Op& op, std::int64_t pointer, DType dtype, OrderWatch::Access access,
                         bool writes) const {
  access.address = TaggedPointer::address(pointer);
  access.is_store = op.kind == OpKind::Store || op.kind == OpKind::StoreMap;
  access.is_atomic = op.facts().is_atomic() || is_adding_;
  OrderWatch& order = *options_.order;
  const std::string found = writes ? order.note_write(access) : order.note_read(access);
  if (found.empty()) return;
  order.set_finding(
      fmt::format("{}: {}", place_of(op),
                  fmt::format(fmt::runtime(found), memory_.element_name(pointer, dtype))));
}

Tile Program::read_tile(const Op& op, const Tile& pointers, const Tile* mask,
                        const Tile* other) const {
  const DType dtype = pointers.type.dtype;
  Tile out{pointers.type.pointee(), std::vector<Element>(pointers.size())};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (!mask || mask->at(i).i) out.elements[i] = checked_read(op, pointers.elements[i].i, dtype);
    else if (other) out.elements[i] = other->at(i);
    else out.elements[i].i = 0;  // +0.0 has the same bits
  }
  return out;
}

void Program::load(const Op& op) {
  set_result(op, read_tile(op, operand(op, 0), op.operands.size() > 1 ? &operand(op, 1) : nullptr,
                           op.operands.size() > 2 ? &operand(op, 2) : nullptr));
}

void Program::copy_async(const Op& op) {
  Copies::Copy copy{.op = &op,
                    .buffer = kernel_.buffer_of(op),
                    .slot = operand(op, 1).elements[0].i,
                    .pointers = operand(op, 0),
                    .mask = op.operands.size() > 2 ? operand(op, 2) : Tile{},
                    .other = op.operands.size() > 3 ? operand(op, 3) : Tile{}};
  copy.content = read_tile(op, copy.pointers, copy.mask.size() ? &copy.mask : nullptr,
                           copy.other.size() ? &copy.other : nullptr);
  if (const std::string problem = copies_.start(std::move(copy)); !problem.empty())
    fail(op, problem);
}

// A copy may read memory at any time until it is waited for: what it reads must not change.
void Program::wait_copies(const Op& op) {
  for (const Copies::Copy& copy : copies_.finish(op.integer("pending"))) {
    const Tile now = read_tile(*copy.op, copy.pointers, copy.mask.size() ? &copy.mask : nullptr,
                               copy.other.size() ? &copy.other : nullptr);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now.elements[i].i != copy.content.elements[i].i)
        fail(*copy.op, "memory was written while the copy of it was under way");
  }
}

void Program::read_buffer(const Op& op) {
  const std::size_t buffer = kernel_.buffer_of(op);
  const std::int64_t slot = operand(op, 0).elements[0].i;
  if (kernel_.is_in_ring(kernel_.buffers[buffer])) {
    Tile content;
    if (const std::string problem = rings_.read(buffer, slot, op.result(), content);
        !problem.empty())
      fail(op, problem);
    return set_result(op, std::move(content));
  }
  if (const std::string problem = copies_.read_problem(buffer, slot); !problem.empty())
    fail(op, problem);
  set_result(op, copies_.content(buffer, slot));
  copies_.note_read(op.result(), buffer, slot);
}

void Program::store(const Op& op) {
  if (options_.order != nullptr) options_.order->begin_store();
  const Tile& pointers = operand(op, 0);
  for (std::size_t i = 0; i < pointers.size(); ++i)
    if (op.operands.size() < 3 || operand(op, 2).at(i).i)
      checked_write(op, pointers.elements[i].i, pointers.type.dtype, operand(op, 1).at(i));
}

void Program::atomic_rmw(const Op& op) {
  const Type& type = result_type(op);
  const std::string_view kind = op.text("op");
  Op combine_op{.kind = OpKind::Add, .location = op.location};
  if (kind == "min") combine_op.kind = OpKind::Minimum;
  else if (kind == "max") combine_op.kind = OpKind::Maximum;
  else if (kind == "and") combine_op.kind = OpKind::And;
  else if (kind == "or") combine_op.kind = OpKind::Or;
  else if (kind == "xor") combine_op.kind = OpKind::Xor;

  const Tile& pointers = operand(op, 0);
  Tile out{type, std::vector<Element>(pointers.size(), Element{.i = 0})};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (op.operands.size() == 3 && !operand(op, 2).at(i).i) continue;
    const Element old = checked_read(op, pointers.elements[i].i, type.dtype);
    const Tile a{type.element(), {old}};
    const Tile b{type.element(), {operand(op, 1).at(i)}};
    const Tile* both[] = {&a, &b};
    const Tile combined =
        kind == "xchg" ? b
        : jitter_.is_on() && Jitter::applies(combine_op, type.element())
            ? jitter_.elementwise(combine_op, type.element(), both)
            : interpret_elementwise(combine_op, type.element(), both, options_.float64);
    const Element value = combined.elements[0];
    checked_write(op, pointers.elements[i].i, type.dtype, value);
    out.elements[i] = old;
  }
  set_result(op, std::move(out));
}

void Program::atomic_cas(const Op& op) {
  const Type& type = result_type(op);
  const Tile& pointers = operand(op, 0);
  Tile out{type, std::vector<Element>(pointers.size())};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const Element old = checked_read(op, pointers.elements[i].i, type.dtype);
    if (old.i == operand(op, 1).at(i).i)
      checked_write(op, pointers.elements[i].i, type.dtype, operand(op, 2).at(i));
    out.elements[i] = old;
  }
  set_result(op, std::move(out));
}

// ---- Across elements

std::vector<Tile> Program::combine(const Op& op, const std::vector<Tile>& a,
                                   const std::vector<Tile>& b) {
  const Region& region = op.regions[0];
  bool has_control_flow = false;
  for (const Op* inner : region.ops) has_control_flow |= !inner->regions.empty();
  const std::size_t lanes = a[0].size();
  const std::size_t width = has_control_flow ? 1 : lanes;
  const std::size_t count = a.size();
  const bool was_combining = std::exchange(is_combining_, true);

  std::vector<Tile> out;
  for (const Tile& tile : a) out.push_back({tile.type.element(), std::vector<Element>(lanes)});
  for (std::size_t first = 0; first < lanes; first += width) {
    for (std::size_t k = 0; k < 2 * count; ++k) {
      const Tile& from = k < count ? a[k] : b[k - count];
      const auto begin = from.elements.begin() + static_cast<std::ptrdiff_t>(first);
      set(region.arguments[k],
          {from.type.element(), {begin, begin + static_cast<std::ptrdiff_t>(width)}});
    }
    const Op* end = run_region(region);
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t lane = 0; lane < width; ++lane)
        out[k].elements[first + lane] = get(end->operands[k]).at(lane);
  }
  is_combining_ = was_combining;
  return out;
}

// Combines neighbours until one is left, so that what is left of a stays left of what is right of
// it: a combination that is associative but not commutative has one result. With jitter and an odd
// seed halves instead, since the order is the device's choice; halves also leave the parts that are
// asked for.
void Program::reduce(const Op& op) {
  const Type type = operand(op, 0).type;
  const std::int64_t axis = op.integer("axis");
  std::vector<Tile> tiles = values_of(op.operands);
  const std::int64_t parts = op.integer("parts", 1);
  const bool by_neighbours = options_.jitter % 2 == 0 && parts == 1;
  AxisView view(type, axis);
  while (view.length > parts) {
    const std::int64_t half = view.length / 2;
    std::vector<Tile> a, b;
    for (const Tile& tile : tiles) {
      a.push_back({tile.type, {}});
      b.push_back({tile.type, {}});
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t k = 0; k < half; ++k)
          for (std::int64_t i = 0; i < view.inner; ++i) {
            const std::int64_t first = by_neighbours ? 2 * k : k;
            const std::int64_t second = by_neighbours ? 2 * k + 1 : k + half;
            a.back().elements.push_back(tile.elements[view.index(o, first, i)]);
            b.back().elements.push_back(tile.elements[view.index(o, second, i)]);
          }
    }
    tiles = combine(op, a, b);
    view.length = half;
  }
  for (std::size_t k = 0; k < tiles.size(); ++k)
    set_result(op, {result_type(op, k), std::move(tiles[k].elements)}, k);
}

void Program::scan(const Op& op) {
  const bool is_reverse = op.integer("reverse") != 0;
  const AxisView view(operand(op, 0).type, op.integer("axis"));
  std::vector<Tile> tiles = values_of(op.operands);
  const auto slice = [&](std::int64_t k) {
    std::vector<Tile> lanes;
    for (const Tile& tile : tiles) {
      lanes.push_back({tile.type, {}});
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t i = 0; i < view.inner; ++i)
          lanes.back().elements.push_back(tile.elements[view.index(o, k, i)]);
    }
    return lanes;
  };
  for (std::int64_t step = 1; step < view.length; ++step) {
    const std::int64_t k = is_reverse ? view.length - 1 - step : step;
    const std::vector<Tile> next = combine(op, slice(is_reverse ? k + 1 : k - 1), slice(k));
    for (std::size_t t = 0; t < tiles.size(); ++t)
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t i = 0; i < view.inner; ++i)
          tiles[t].elements[view.index(o, k, i)] =
              next[t].elements[static_cast<std::size_t>(o * view.inner + i)];
  }
  for (std::size_t t = 0; t < tiles.size(); ++t)
    set_result(op, {result_type(op, t), std::move(tiles[t].elements)}, t);
}

// ---- Prints and assertions

void Program::print(const Op& op) {
  const auto emit = [&](const std::string& line) {
    if (options_.print) options_.print(line);
    else fmt::print("{}\n", line);
  };
  const std::string place = fmt::format("pid ({}, {}, {})", id_[0], id_[1], id_[2]);
  if (op.operands.empty()) emit(fmt::format("{} {}", place, op.text("prefix")));
  if (kernel_.stage == Stage::Final && op.operands.size() == 2) {
    const Tile& element = operand(op, 0);
    return emit(
        fmt::format("{} idx {} {}{}", place, integer(op, 1), op.text("prefix"),
                    element_text(element.type, element.elements[0], op.integer("hex") != 0)));
  }
  for (std::size_t k = 0; k < op.operands.size(); ++k) {
    const Tile& tile = operand(op, k);
    for (std::size_t i = 0; i < tile.size(); ++i) {
      const std::string index = tile.type.is_scalar() ? "" : fmt::format(" idx {}", i);
      emit(fmt::format("{}{} {}{}", place, index, op.text("prefix"),
                       element_text(tile.type, tile.elements[i], op.integer("hex") != 0)));
    }
  }
}

void Program::check_assert(const Op& op) {
  const Tile& condition = operand(op, 0);
  for (std::size_t i = 0; i < condition.size(); ++i) {
    const bool is_on = op.operands.size() < 2 || operand(op, 1).at(i).i;
    if (is_on && !condition.elements[i].i)
      return report(op, fmt::format("assertion failed: {}", op.text("message")));
  }
}

}  // namespace tilewright::ir
