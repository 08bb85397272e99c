// SPDX-License-Identifier: Apache-2.0
// graph/trace/writes.cpp — writes into tensors of a trace, as new versions of their values.
//
//   y[0][3].copy_from(a); y[0][4].copy_from(b); ...      =>  one cat of a, b, ... and what y had
//
// Nothing is written when it is recorded: all handles to a value, its views included, share a
// TracedNode, whose node becomes another one. Writes wait until an element is read that they may
// have changed, so that a loop that assigns element by element, row by row or column by column is
// one list, which roll.h makes one kernel of.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/eager/eager.h"
#include "graph/trace/traced_node.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tilewright/error.h"

namespace tilewright::graph {
namespace {

struct Dimension {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

// Without those of size 1, and with those that lie together as one.
std::vector<Dimension> merged_dimensions(const Shape& shape, const Shape& strides) {
  std::vector<Dimension> made;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!made.empty() && made.back().stride == shape[d] * strides[d])
      made.back() = {made.back().size * shape[d], strides[d]};
    else made.push_back({shape[d], strides[d]});
  }
  return made;
}

// `count` rows of `width` elements, each `period` behind the one before.
struct Region {
  std::int64_t count = 1;
  std::int64_t period = 1;
  std::int64_t width = 1;
};

std::optional<Region> region_of(const Tensor& view, std::int64_t total) {
  const std::vector<Dimension> d = merged_dimensions(view.shape(), view.strides());
  if (d.empty()) return Region{1, total, 1};
  const bool is_run = d.back().stride == 1;
  if (d.size() == 1 && is_run) return Region{1, total, d[0].size};
  if (d.size() == 1 && d[0].stride > 1) return Region{d[0].size, d[0].stride, 1};
  if (d.size() == 2 && is_run && d[0].stride >= d[1].size)
    return Region{d[0].size, d[0].stride, d[1].size};
  return std::nullopt;
}

[[maybe_unused]] const bool is_memory_set =
    (set_traced_memory([](const Tensor& flat) {
       TW_CHECK(Tracer::current() != nullptr, "a write is recorded without a trace");
       return Tracer::current()->stand_in_for_memory(flat);
     }),
     true);

bool overlaps(const PendingWrites& pending, std::int64_t begin, std::int64_t width) {
  const auto next = pending.pieces.lower_bound(begin);
  if (next != pending.pieces.end() && next->first < begin + width) return true;
  return next != pending.pieces.begin() &&
         std::prev(next)->first + std::prev(next)->second.width > begin;
}

}  // namespace

std::int64_t Tracer::elements_of(const TracedNode& to) const {
  return checked_numel(graph.nodes[static_cast<std::size_t>(to.node())].shape, 1);
}

void Tracer::check_own(const TracedNode& to, const Tensor& destination) const {
  if (!to.is_argument) return;
  throw ArgumentError(fmt::format(
      "a {} that is being traced cannot be written to, since it is an argument of the function: "
      "write into a clone() of it, and return that",
      tensor_text(destination)));
}

// What the source has now: later writes do not change it.
void Tracer::record_write(const TracedNode& to, const Tensor& destination, const Tensor& source) {
  check_own(to, destination);
  if (destination.numel() == 0) return;
  if (to.same) give_node(to);
  const bool is_same = source.dtype() == destination.dtype();
  const Tensor value =
      (is_same ? tensor_of(value_of(source)) : record_copy(source, destination.dtype(), false))
          .broadcast_to(destination.shape());
  const std::int64_t total = elements_of(to), begin = destination.offset();
  const std::optional<Region> region = region_of(destination, total);
  if (!region) return write_scattered(to, destination, value);
  const Tensor rows = value.reshape({region->count, region->width});
  const std::int64_t period = region->period;
  if (region->count * period == total && begin + region->width <= period)
    return add_write(to, period, begin, rows);
  // A part of the rows of that period: they are written as a whole, with their other elements.
  const std::int64_t first = begin / period, place = begin % period;
  if (place + region->width > period || (first + region->count) * period > total)
    return write_scattered(to, destination, value);
  const Tensor before = make_traced(store_, to,
                                    {destination.dtype(),
                                     destination.device(),
                                     {region->count, period},
                                     {period, 1},
                                     first * period});
  const Tensor kept = tensor_of(value_of(before));
  std::vector<Tensor> parts;
  if (place > 0) parts.push_back(kept.slice(1, 0, place));
  parts.push_back(rows);
  if (place + region->width < period) parts.push_back(kept.slice(1, place + region->width, period));
  const Tensor whole = parts.size() == 1 ? parts[0] : cat(parts, 1);
  add_write(to, total, first * period, whole.reshape({1, region->count * period}));
}

void Tracer::add_write(const TracedNode& to, std::int64_t period, std::int64_t begin,
                       const Tensor& rows) {
  const std::int64_t width = rows.size(1);
  if (to.pending && to.pending->period != period) apply_writes(to);
  if (to.pending && overlaps(*to.pending, begin, width)) {
    const auto same = to.pending->pieces.find(begin);
    const bool is_same = same != to.pending->pieces.end() && same->second.width == width;
    if (!is_same) apply_writes(to);
  }
  if (!to.pending) to.pending = std::make_unique<PendingWrites>(PendingWrites{period, {}});
  to.pending->pieces.insert_or_assign(begin, PendingWrites::Piece{width, rows});
}

// Elements in any order: by their places.
void Tracer::write_scattered(const TracedNode& to, const Tensor& destination, const Tensor& value) {
  apply_writes(to);
  const std::int64_t total = elements_of(to);
  const Tensor counted = arange(total, {DType::Int64, graph.device});
  const Tensor places = Tensor(counted.buffer(), DType::Int64, destination.shape(),
                               destination.strides(), destination.offset())
                            .reshape({-1});
  const Tensor before = tensor_of(Value{.node = to.node(), .shape = {total}, .strides = {1}});
  const Tensor after = scatter(before, 0, places, value.reshape({-1}));
  to.set_node(value_of(after).node);
}

void Tracer::apply_writes(const TracedNode& to) {
  if (!to.pending) return;
  const std::unique_ptr<PendingWrites> pending = std::move(to.pending);
  const std::int64_t total = elements_of(to), period = pending->period, rows = total / period;
  std::vector<Tensor> parts;
  std::int64_t place = 0;
  const auto keep_until = [&](std::int64_t end) {
    if (place == end) return;
    parts.push_back(tensor_of(Value{
        .node = to.node(), .shape = {rows, end - place}, .strides = {period, 1}, .offset = place}));
  };
  for (const auto& [begin, piece] : pending->pieces) {
    keep_until(begin);
    parts.push_back(piece.rows);
    place = begin + piece.width;
  }
  keep_until(period);
  to.set_node(value_of(joined(std::move(parts), rows)).node);
}

// Side by side, each with so many rows, as a tensor of its own. Single columns are joined as rows,
// which roll.h finds alike, and transposed.
Tensor Tracer::joined(std::vector<Tensor> parts, std::int64_t rows) {
  const auto is_column = [](const Tensor& part) { return part.size(1) == 1; };
  const bool are_columns = rows > 1 && std::all_of(parts.begin(), parts.end(), is_column);
  for (Tensor& part : parts)
    if (rows == 1) part = part.view({part.numel()});
    else if (are_columns) part = part.view({1, rows});
  Tensor all = parts.size() == 1 ? parts[0] : cat(parts, rows == 1 || are_columns ? 0 : 1);
  if (are_columns) all = all.t();
  const bool is_own = parts.size() > 1 && all.is_contiguous();
  return is_own ? all : record_copy(all, all.dtype(), false);
}

// Of a tensor that waits for writes: the value of one of them, where it is just that.
Value Tracer::value_of_written(const TracedNode& from, const Tensor& tensor) {
  if (from.pending->period == elements_of(from) && tensor.is_contiguous()) {
    const auto piece = from.pending->pieces.find(tensor.offset());
    if (piece != from.pending->pieces.end() && piece->second.width == tensor.numel())
      return value_of(piece->second.rows.reshape(tensor.shape()));
  }
  apply_writes(from);
  return {.node = from.node(),
          .shape = tensor.shape(),
          .strides = tensor.strides(),
          .offset = tensor.offset()};
}

// A tensor with memory, made by the trace, that is written with values of the trace: all that lies
// in its buffer stands for a value from now on.
const Traced* Tracer::stand_in_for_memory(const Tensor& flat) {
  const int node = value_of(flat).node;
  graph.nodes[static_cast<std::size_t>(node)].is_written = true;
  return &handle_of(node);
}

// Its memory has not what the function wrote: nobody may look at it when the trace is over.
void Tracer::check_kept() const {
  const OnlyAddresses only;
  for_promoted([&](const Tensor& flat) {
    std::vector<const Shape*> states = {&flat.shape()};
    for (const Node& node : graph.nodes)
      if (node.kind == Node::Kind::Captured &&
          node.captured.buffer().data() == flat.buffer().data() &&
          std::find(states.begin(), states.end(), &node.captured.shape()) == states.end())
        states.push_back(&node.captured.shape());
    if (flat.buffer().use_count() > static_cast<long>(states.size()))
      throw ArgumentError(fmt::format(
          "a tensor of {} {} that a traced function wrote values to is kept outside of it, where "
          "it has no elements: return it from the function instead of storing it",
          flat.numel(), name_of(flat.dtype())));
  });
}

}  // namespace tilewright::graph
