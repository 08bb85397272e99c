// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/loops.cpp — the loop nest of a step over elements: its loops, the split of the
// innermost one by a prefix mask, effects, and copies of whole tiles.
#include <algorithm>
#include <functional>

#include <fmt/ranges.h>

#include "base/check.h"
#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr const char* loop_names[] = {"i", "j", "k", "l"};

// Elements of a block: of a long sum of floats, or of a large result (tw::part_size).
constexpr int block_size = 1024;
// The lines in a block of their own. Each of `once` has the same condition in front.
std::vector<std::string> only_if(const std::string& condition, const std::vector<std::string>& own,
                                 const std::vector<std::string>& once) {
  if (own.empty()) return once;
  std::vector<std::string> out{fmt::format("if ({}) {{", condition)};
  for (const std::string& line : own) out.push_back("  " + line);
  for (const std::string& line : once) out.push_back("  " + line);
  out.emplace_back("}");
  return out;
}

}  // namespace

Nest ProgramWriter::make_nest(const Step& step, const Type& shape, const std::vector<int>& axes) {
  Nest nest;
  nest.step = &step;
  nest.shape = shape;
  nest.names = names_;
  nest.loops = loops_over(shape, axes);
  nest.own.at.assign(shape.rank, Placed{"0", 0});
  bool is_merged = false;
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    Loop& loop = nest.loops[k];
    loop.name = nest.names.make(loop_names[std::min<std::size_t>(k, 3)]);
    loop.end = fmt::format("{}", loop.size);
    const int depth = static_cast<int>(k) + 1;
    std::int64_t stride = loop.size;
    for (int d = loop.first; d < loop.last; ++d) {
      if (shape.size(d) == 1) continue;
      stride /= shape.size(d);
      std::string text = loop.name;
      if (stride * shape.size(d) < loop.size || stride > 1)
        text = fmt::format("({} >> {} & {})", loop.name,
                           __builtin_ctzll(static_cast<unsigned long long>(stride)),
                           shape.size(d) - 1);
      is_merged |= text != loop.name;
      nest.own.at[static_cast<std::size_t>(d)] = {text, depth};
    }
  }
  if (is_merged) {
    Placed number;
    std::int64_t stride = shape.numel();
    for (const Loop& loop : nest.loops) {
      stride /= loop.size;
      number.text += (number.text.empty() ? "" : " + ") +
                     (stride == 1 ? loop.name : fmt::format("{} * {}", loop.name, stride));
    }
    number.depth = nest.depth();
    nest.own.linear = number;
    nest.is_merged = true;
  }
  nest.lines.resize(nest.loops.size() + 1);
  nest.after.resize(nest.loops.size() + 1);
  return nest;
}

void ProgramWriter::flush(Nest& nest, int depth) {
  for (const std::string& line : nest.lines[static_cast<std::size_t>(depth)]) out_.line(line);
  nest.lines[static_cast<std::size_t>(depth)].clear();
}

// ---- The split

// What the mask asks of dimensions of one element, which no loop runs over; empty: nothing.
std::string ProgramWriter::bounds_without_loop(const Nest& nest, const ir::Op& bounds) {
  std::string out;
  const auto add = [&](const std::string& test) { out += (out.empty() ? "" : " && ") + test; };
  for (int d = 0; d < nest.shape.rank; ++d) {
    if (nest.shape.size(d) > 1) continue;
    const ir::Value low = bounds.operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = bounds.operands[2 * static_cast<std::size_t>(d) + 1];
    const std::optional<std::int64_t> least = constant(low), most = constant(high);
    if (!least || *least > 0) add(fmt::format("{} <= 0", atom(text(low))));
    if (!most || *most < 1) add(fmt::format("{} > 0", atom(text(high))));
  }
  return out;
}

// Ranges of the innermost loop. Outer loops are narrowed when only the inside matters; else the
// inside of a row outside the mask is empty.
std::vector<ProgramWriter::Range> ProgramWriter::ranges(Nest& nest, bool rest) {
  Loop& inner = nest.loops.back();
  if (!nest.split) return {{inner.begin, inner.end, {}}};
  const ir::Op& bounds = *kernel_.maker(nest.split);
  std::string inside;
  std::string begin = "0", end = inner.end;
  bool is_cut_low = false, is_cut_high = false;
  for (Loop& loop : nest.loops) {
    const auto d = static_cast<std::size_t>(loop.first);
    const std::optional<std::int64_t> low = constant(bounds.operands[2 * d]);
    const std::optional<std::int64_t> high = constant(bounds.operands[2 * d + 1]);
    const bool cuts_low = !low || *low > 0, cuts_high = !high || *high < loop.size;
    std::string from = "0", to = loop.end;
    if (cuts_low && low) {
      from = fmt::format("{}", std::min(*low, loop.size));
    } else if (cuts_low) {
      from = nest.names.make(loop.name + "_begin");
      names_.reserve(from);
      out_.format("const i32 {} = tw::clip({}, 0, {});", from, text(bounds.operands[2 * d]),
                  loop.size);
    }
    if (cuts_high && high && (!cuts_low || low)) {
      to = fmt::format("{}", std::max({*high, std::int64_t{0}, low.value_or(0)}));
    } else if (cuts_high) {
      to = nest.names.make(loop.name + "_end");
      names_.reserve(to);
      out_.format("const i32 {} = tw::clip({}, {}, {});", to, text(bounds.operands[2 * d + 1]),
                  from, loop.size);
    }
    if (&loop == &inner) {
      begin = from;
      end = to;
      is_cut_low = cuts_low;
      is_cut_high = cuts_high;
    } else if (!rest) {
      loop.begin = from;
      loop.end = to;
    } else if (cuts_low || cuts_high) {
      if (cuts_low)
        inside += (inside.empty() ? "" : " && ") + fmt::format("{} >= {}", loop.name, from);
      if (cuts_high)
        inside += (inside.empty() ? "" : " && ") + fmt::format("{} < {}", loop.name, to);
    }
  }
  const std::string without_loop = bounds_without_loop(nest, bounds);
  if (!without_loop.empty()) {
    const std::string last = nest.names.make(inner.name + "_last");
    names_.reserve(last);
    out_.format("const i32 {} = {} ? {} : {};", last, without_loop, end, begin);
    end = last;
    is_cut_high = true;
  }
  if (!rest) return {{begin, end, true}};
  if (!inside.empty()) {
    const std::string last = nest.names.make(inner.name + "_last");
    nest.lines[nest.loops.size() - 1].push_back(
        fmt::format("const i32 {} = {} ? {} : {};", last, inside, end, begin));
    end = last;
    is_cut_high = true;
  }
  std::vector<Range> all{{begin, end, true}};
  if (is_cut_low) all.insert(all.begin(), {"0", begin, false});
  if (is_cut_high) all.push_back({end, inner.end, false});
  return all;
}

// ---- The nest

void ProgramWriter::run_ops(Nest& nest, const Step& step) {
  for (const ir::Op* op : step.ops) {
    if (op->results.empty() || op->facts().has(ir::Writes)) {
      effect(nest, *op);
      continue;
    }
    // Loads keep their place before the stores; all else is written where it is needed.
    if (op->kind == OpKind::Load) element(nest, op->result(), nest.own);
  }
}

// Writes the values that outlive the loop. An array may be that of a value which another of them
// still reads (m = m_new, z = z * exp(m - m_new)), so all are computed before any is written.
void ProgramWriter::keep(Nest& nest, const Step& step) {
  // A sum keeps its terms; where it is taken at once, they are often not read again.
  if (!nest.keeps.empty() && (nest.once.empty() || !is_read_behind_mask(nest))) return;
  std::vector<std::string> values;
  for (const ir::Value value : step.kept) {
    Placed made = element(nest, value, nest.own);
    const bool reads_an_array = made.text.find('[') != std::string::npos;
    if (step.kept.size() > 1 && reads_an_array) made = named(nest, value, made.text, nest.depth());
    values.push_back(made.text);
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Placed at = linear(kernel_.type(step.kept[k]), nest.own);
    nest.lines.back().push_back(fmt::format("{}[{}] = {};", array(step.kept[k]), at.text,
                                            copied(kernel_.type(step.kept[k]), values[k])));
  }
}

void ProgramWriter::find_blocks(Nest& nest) {
  nest.block_size = block_size;
  find_rows_ahead(nest);
  if (!nest.sum.empty() || nest.mapped) return;  // the library's loops have blocks of their own
  const bool is_long = !nest.loops.empty() && nest.loops.back().size > nest.block_size;
  const auto writes = [&](const ir::Op* op) { return is_streamed(nest, *op); };
  const std::vector<const ir::Op*>& ops = nest.step->ops;
  nest.has_blocks =
      !nest.long_sums.empty() ||
      (is_long && (!nest.ahead.empty() || std::any_of(ops.begin(), ops.end(), writes)));
}

void ProgramWriter::elements(const Step& step) {
  std::vector<const ir::Op*> all = step.ops;
  all.insert(all.end(), step.reductions.begin(), step.reductions.end());
  comment_lines(all);
  if (!stays_in_place(step)) return element_loops(step);
  const std::string is_whole = wholeness(step);
  for (const ir::Value value : step.kept) is_whole_[schedule_.result_of(value).id] = is_whole;
  if (is_whole == "true") return;
  out_.open(fmt::format("if (!{})", is_whole));
  element_loops(step);
  out_.close();
}

void ProgramWriter::element_loops(const Step& step) {
  std::vector<int> axes;
  for (const ir::Op* op : step.reductions) axes.push_back(static_cast<int>(op->integer("axis")));
  Nest nest = make_nest(step, step.shape, axes);
  std::vector<Reduction> reductions = plan_reductions(step, nest);
  const bool is_ordered = std::any_of(reductions.begin(), reductions.end(),
                                      [](const Reduction& r) { return !r.has_identity; });
  if (!is_ordered) find_split(step, nest);
  widen_sums(nest, reductions);
  nest.is_largest = is_plain_largest(nest, reductions);
  begin_reductions(nest, reductions);

  std::vector<std::string> pragmas;
  std::string clauses;
  bool is_vector = is_simd(step) && !is_ordered;
  if (is_vector) find_row_call(nest, reductions);
  for (const Reduction& reduction : reductions) {
    if (reduction.is_inner && reduction.clause.empty()) is_vector = false;
    else if (reduction.is_inner) clauses += " " + reduction.clause;
    const Type own_type = kernel_.type(reduction.op->result()).element();
    const Type type = reduction.wide.value_or(own_type);
    const bool is_exact = reduction.wide && type.dtype == DType::Float64;
    if (reduction.is_inner && !is_exact && reduction.clause.starts_with("reduction(+ ") &&
        type.is_float() && nest.loops.back().size > 2 * block_size && nest.sum.empty())
      nest.long_sums.emplace_back(reduction.sums[0], type_text(type));
  }
  if (is_vector) pragmas.push_back("#pragma omp simd" + clauses);
  if (is_vector) nest.mapped = &step == late_.step ? stored_f32(nest) : mapped_value(nest);
  find_blocks(nest);

  const auto body = [&] {
    run_ops(nest, step);
    for (Reduction& reduction : reductions) accumulate(nest, reduction);
    keep(nest, step);
  };
  finish_reductions(nest, reductions);
  print_nest(nest, pragmas, body);
  for (const Reduction& reduction : reductions) publish(reduction);
  check_runs(step);
}

// One range of the innermost loop; sums over many elements in blocks.
void ProgramWriter::print_part(Nest& nest, const Part& part,
                               const std::vector<std::string>& pragmas) {
  for (const std::string& line : part.once) out_.line(line);
  if (part.lines.empty()) return;
  if (!part.condition.empty()) {
    out_.open(fmt::format("if ({})", part.condition));
    print_part(nest, {part.range, part.run_lines, {}, {}, {}, part.first, part.last, part.streamed},
               pragmas);
    out_.outdent();
    out_.open("} else");
    print_part(nest, {part.range, part.lines, {}, {}, {}, part.first, part.last, part.streamed},
               pragmas);
    out_.close();
    return;
  }
  if (!nest.sum.empty() && part.once.empty()) return print_sum(nest, part);
  if (nest.step == late_.step) return print_late(nest, part);
  if (nest.mapped && !part.streamed.empty()) return print_map(nest, part);
  if (nest.has_blocks && (part.once.empty() || !part.streamed.empty()))
    return print_blocks(nest, part, pragmas);
  fetch_ahead(nest, part, part.range.begin, part.range.end);
  begin_streams(part.streamed);
  print_loop(nest, part.range, part, pragmas);
  finish_streams(part.streamed, part.range.begin, part.range.end);
}

void ProgramWriter::print_blocks(Nest& nest, const Part& part,
                                 const std::vector<std::string>& pragmas) {
  out_.open(fmt::format("for (i32 {0} = {1}; {0} < {2}; {0} += {3})", part.first, part.range.begin,
                        part.range.end, nest.block_size));
  out_.format("const i32 {} = tw::clip(i64({}) + {}, 0, {});", part.last, part.first,
              nest.block_size, part.range.end);
  // Sums that were done at once are not the blocks'.
  std::vector<std::string> before;
  for (const auto& [sum, type] : nest.long_sums) {
    if (!part.once.empty()) break;
    before.push_back(nest.names.make(sum + "_before"));
    out_.format("const {} {} = {};", type, before.back(), sum);
    out_.format("{} = 0;", sum);
  }
  fetch_ahead(nest, part, part.first, part.last);
  begin_streams(part.streamed);
  print_loop(nest, {part.first, part.last, {}}, part, pragmas);
  finish_streams(part.streamed, part.first, part.last);
  for (std::size_t k = 0; k < before.size(); ++k)
    out_.format("{0} = {1} + {0};", nest.long_sums[k].first, before[k]);
  out_.close();
}

void ProgramWriter::print_loop(const Nest& nest, const Range& range, const Part& part,
                               const std::vector<std::string>& pragmas) {
  const Loop& loop = nest.loops.back();
  // Sums that were done at once are not the loop's.
  for (const std::string& pragma : pragmas)
    out_.line(part.once.empty() ? pragma : pragma.substr(0, pragma.find(" reduction")));
  out_.open(
      fmt::format("for (i32 {0} = {1}; {0} < {2}; ++{0})", loop.name, range.begin, range.end));
  for (const std::string& line : part.lines) out_.line(line);
  out_.close();
}

// Short rows that are only loaded into arrays, as products need them: most rows are whole, and a
// loop of known length is faster than one that looks for its end.
bool ProgramWriter::has_whole_rows(const Nest& nest, const std::vector<Part>& parts) const {
  constexpr std::int64_t longest_row = 256;
  const Step& step = *nest.step;
  return nest.loops.size() > 1 && nest.loops.back().size <= longest_row && parts.size() == 2 &&
         parts[0].range.holds.value_or(false) && parts[0].range.begin == "0" &&
         step.reductions.empty() && !step.ops.empty() &&
         std::all_of(step.ops.begin(), step.ops.end(),
                     [](const ir::Op* op) { return op->kind == OpKind::Load; }) &&
         std::all_of(parts.begin(), parts.end(), [](const Part& part) {
           return part.condition.empty() && part.once.empty() && part.streamed.empty();
         });
}

// The ranges of the innermost loop.
void ProgramWriter::print_parts(Nest& nest, const std::vector<Part>& parts,
                                const std::vector<std::string>& pragmas) {
  const bool has_whole = has_whole_rows(nest, parts);
  if (has_whole) {
    const std::string& size = nest.loops.back().end;
    Part whole = parts[0];
    out_.open(fmt::format("if ({} == {})", whole.range.end, size));
    whole.range.end = size;
    print_part(nest, whole, pragmas);
    out_.outdent();
    out_.open("} else");
  }
  for (const Part& part : parts) print_part(nest, part, pragmas);
  if (has_whole) out_.close();
}

// Writes the loops; `body` fills the nest's lines for one range of the innermost loop.
void ProgramWriter::print_nest(Nest& nest, const std::vector<std::string>& pragmas,
                               const std::function<void()>& body) {
  if (nest.loops.empty()) {
    body();
    flush(nest, 0);
    for (const std::string& line : nest.after[0]) out_.line(line);
    names_ = nest.names;
    return;
  }
  const bool rest = nest.split && needs_rest(*nest.step, nest);
  const std::vector<Range> parts = ranges(nest, rest);
  std::vector<Part> written;
  std::string own;
  for (const Placed& coordinate : nest.own.at) own += coordinate.text + ",";
  for (const Range& range : parts) {
    nest.split_holds = range.holds;
    nest.part_begin = range.begin;
    nest.part_end = range.end;
    nest.streamed.clear();
    nest.block_first = range.begin;
    nest.block_last = range.end;
    if (nest.has_blocks) {
      nest.block_first = nest.names.make(nest.loops.back().name + "_first");
      nest.block_last = nest.names.make(nest.loops.back().name + "_last");
    }
    const auto write_body = [&](bool assumes_runs) {
      nest.assumes_runs = assumes_runs;
      nest.once.clear();
      body();
      // What lies in the innermost loop, or depends on the mask, is known only in this part.
      std::erase_if(nest.known, [&](const auto& entry) {
        return entry.second.depth == nest.depth() || entry.first.second == own;
      });
      return std::exchange(nest.lines.back(), {});
    };
    const std::size_t before = nest.lines[0].size();
    Part part{range, write_body(true), {}};
    if (!nest.runs.empty()) {
      part.condition = fmt::format("{}", fmt::join(std::exchange(nest.runs, {}), " && "));
      part.run_lines = std::exchange(part.lines, write_body(false));
    }
    part.once = std::exchange(nest.once, {});
    // Behind the mask's end there is often nothing: what only that part needs waits until it is
    // known.
    if (!part.once.empty() && part.lines.empty() && &range == &parts.back() && parts.size() > 1) {
      const auto first = nest.lines[0].begin() + static_cast<std::ptrdiff_t>(before);
      std::vector<std::string> needed(first, nest.lines[0].end());
      nest.lines[0].erase(first, nest.lines[0].end());
      part.once = only_if(fmt::format("{} < {}", range.begin, range.end), needed, part.once);
    }
    part.first = nest.block_first;
    part.last = nest.block_last;
    part.streamed = nest.streamed;
    written.push_back(std::move(part));
  }
  flush(nest, 0);
  for (std::size_t k = 0; k + 1 < nest.loops.size(); ++k) {
    const Loop& loop = nest.loops[k];
    out_.open(fmt::format("for (i32 {} = {}; {} < {}; ++{})", loop.name, loop.begin, loop.name,
                          loop.end, loop.name));
    flush(nest, static_cast<int>(k) + 1);
  }
  print_parts(nest, written, pragmas);
  for (std::size_t k = nest.loops.size(); k-- > 0;) {
    for (const std::string& line : nest.after[k]) out_.line(line);
    if (k > 0) out_.close();
  }
}

// ---- Effects

void ProgramWriter::effect(Nest& nest, const ir::Op& op) {
  std::vector<std::string>& lines = nest.lines.back();
  if (op.facts().is_atomic()) return atomic(nest, op);
  if (op.kind == OpKind::Assert) {
    const Placed holds = element(nest, op.operands[0], nest.own);
    std::string condition_text = holds.text;
    if (op.operands.size() > 1)
      condition_text = fmt::format("({} || !{})", condition_text,
                                   atom(element(nest, op.operands[1], nest.own).text));
    return check(op, condition_text, &lines);
  }
  TW_CHECK(op.kind == OpKind::Store, "'{}' has no text on the CPU", op.facts().name);
  Condition mask{true, {}};
  if (op.operands.size() > 2) mask = condition(nest, op.operands[2], nest.own);
  if (mask.known && !*mask.known) return;
  if (nest.mapped && mask.known) {
    streamed_element(nest, op);
    lines.push_back(fmt::format("return {};", element(nest, nest.mapped, nest.own).text));
    return;
  }
  const Placed value = element(nest, op.operands[1], nest.own);
  const std::string place = mask.known && is_streamed(nest, op)
                                ? streamed_element(nest, op)
                                : access(nest, op.operands[0], nest.own).text;
  const std::string written =
      nest.loops.empty() ? value.text : copied(kernel_.type(op.operands[1]), value.text);
  const std::string store = fmt::format("{} = {};", place, written);
  if (mask.known) lines.push_back(store);
  else lines.push_back(fmt::format("if ({}) {}", mask.text.text, store));
}

void ProgramWriter::atomic(Nest& nest, const ir::Op& op) {
  const bool is_cas = op.kind == OpKind::AtomicCas;
  Condition mask{true, {}};
  if (!is_cas && op.operands.size() > 2) mask = condition(nest, op.operands[2], nest.own);
  const Type& type = kernel_.type(op.result());
  const std::string none = fmt::format("{}{{}}", type_text(type.element()));
  const bool is_used = schedule_.is_used(op.result()) || type.is_scalar();
  std::string update = none;
  if (!mask.known || *mask.known) {
    const Placed place = access(nest, op.operands[0], nest.own);
    std::string name = is_cas ? "cas" : std::string(op.text("op"));
    if (name == "fadd") name = "add";
    update = fmt::format("tw::atomic_{}(&{}, {}", name, place.text,
                         element(nest, op.operands[1], nest.own).text);
    if (is_cas) update += ", " + element(nest, op.operands[2], nest.own).text;
    update += ")";
  } else if (!is_used) {
    return;
  }
  if (!is_used) {
    nest.lines.back().push_back(mask.known ? update + ";"
                                           : fmt::format("if ({}) {};", mask.text.text, update));
    return;
  }
  if (!mask.known) update = fmt::format("{} ? {} : {}", mask.text.text, update, none);
  std::string key;
  for (const Placed& coordinate : nest.own.at) key += coordinate.text + ",";
  nest.known[{op.result().id, key}] = named(nest, op.result(), update, nest.depth());
}

// ---- Copies of whole tiles: `first` gets the elements of `second`, all of one shape at once.

void ProgramWriter::copy(const Step& step,
                         const std::vector<std::pair<ir::Value, ir::Value>>& copies) {
  std::vector<std::pair<ir::Value, ir::Value>> left = copies;
  while (!left.empty()) {
    const Type shape = kernel_.type(left.front().first).with_element(i8);
    const auto is_here = [&](const auto& pair) {
      return same_shape(kernel_.type(pair.first), shape);
    };
    Nest nest = make_nest(step, shape, {});
    const auto body = [&] {
      std::vector<std::string> stores;
      for (const auto& [to, from] : left) {
        if (!is_here(std::pair(to, from))) continue;
        const Placed value = element(nest, from, nest.own);
        const Placed at = linear(kernel_.type(to), nest.own);
        const std::string name = nest.names.make(kernel_.name_of(from), "next");
        nest.lines.back().push_back(
            fmt::format("const auto {} = {};", name, copied(kernel_.type(from), value.text)));
        stores.push_back(
            fmt::format("{}[{}] = {};", array(to), at.text, copied(kernel_.type(to), name)));
      }
      nest.lines.back().insert(nest.lines.back().end(), stores.begin(), stores.end());
    };
    print_nest(nest, {"#pragma omp simd"}, body);
    std::erase_if(left, is_here);
  }
}

}  // namespace tilewright
