// SPDX-License-Identifier: Apache-2.0
// ir/check/reports.cpp — the sentences of findings.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/check/checker.h"

namespace tilewright::ir {
namespace {

std::string program_text(const std::array<std::int64_t, 3>& id) {
  return fmt::format("({})", fmt::join(id, ", "));
}

// "exp", "div"
std::string_view operation(const Op& op) {
  return op.kind == OpKind::Math ? op.text("function") : op.facts().name;
}

std::string operand_values(const Program& program, const Op& op, std::size_t i) {
  std::string text;
  for (const Value operand : op.operands) {
    const Tile& tile = program.value(operand);
    if (tile.size() == 0 || (tile.size() != 1 && i >= tile.size())) return "";
    text += (text.empty() ? "" : ", ") + value_text(tile.type, tile.at(i));
  }
  return text;
}

bool is_bad(double value) { return std::isnan(value) || std::isinf(value); }

// The element of the origin's result that is not finite: the same as the one that was reached where
// both tiles are as large, else the first.
std::size_t bad_element(const Tile& tile, std::size_t size, std::size_t i) {
  if (tile.size() == size && i < tile.size() && is_bad(tile.elements[i].f)) return i;
  for (std::size_t k = 0; k < tile.size(); ++k)
    if (is_bad(tile.elements[k].f)) return k;
  return 0;
}

std::string_view remedy_for(const Op& origin) {
  if (origin.kind == OpKind::Divide) return "keep the divisor away from 0";
  if (origin.kind == OpKind::Cast)
    return "the value is too large for the type: scale it, or use a wider one";
  if (origin.kind == OpKind::Math && origin.text("function").starts_with("exp"))
    return "subtract the maximum before the exponential";
  return "keep the operands where the operation has a number as result, or choose with tl.where";
}

}  // namespace

std::string index_text(const Type& type, std::size_t i) {
  if (type.is_scalar()) return "";
  std::vector<std::int64_t> index(type.rank);
  auto rest = static_cast<std::int64_t>(i);
  for (int d = type.rank - 1; d >= 0; --d) {
    index[static_cast<std::size_t>(d)] = rest % type.size(d);
    rest /= type.size(d);
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string value_text(const Type& type, Element element) {
  if (type.is_pointer) return fmt::format("{:#x}", TaggedPointer::address(element.i));
  if (type.is_float() && std::isnan(element.f)) return "nan";  // without its sign
  if (type.is_float()) return fmt::format("{:.6g}", element.f);
  if (type.is_bool()) return element.i ? "true" : "false";
  return type.dtype == DType::UInt64 ? fmt::format("{}", static_cast<std::uint64_t>(element.i))
                                     : fmt::format("{}", element.i);
}

std::array<std::int64_t, 3> Checker::id_of(std::uint32_t program) const {
  const std::int64_t number = static_cast<std::int64_t>(program) - 1;
  return {number % grid_[0], number / grid_[0] % grid_[1], number / grid_[0] / grid_[1]};
}

std::string Checker::lane_name(const Access& access, std::size_t i) const {
  return access.program.memory().element_name(access.pointers.elements[i].i,
                                              access.pointers.type.dtype);
}

std::optional<Finding> Checker::begin(FindingKind kind, const Op& op, const Op* partner,
                                      const Program& program, const Value* tile, std::size_t i) {
  if (!findings_.count(kind, op, partner, program_)) return std::nullopt;
  Finding finding;
  finding.kind = kind;
  finding.kernel = kernel_.name;
  finding.place = place_of(kernel_, op);
  finding.program = program.id();
  if (tile != nullptr) finding.element = index_text(kernel_.type(*tile), i);
  return finding;
}

void Checker::report_outside(const Access& access, std::size_t i) {
  auto finding = begin(FindingKind::OutOfBounds, access.op, nullptr, access.program,
                       &access.op.operands[0], i);
  if (!finding) return;
  const std::string_view verb = access.reads ? "reads" : "writes";
  finding->message = fmt::format("{} {}", access.op.facts().name,
                                 access.program.memory().problem(access.pointers.elements[i].i,
                                                                 access.pointers.type.dtype, verb));
  finding->values.emplace_back(access.mask == nullptr ? "the access has no mask"
                                                      : "the mask holds for this element");
  finding->remedy =
      access.mask == nullptr
          ? "give it a mask that is false beyond the end, such as mask=offsets < n; a "
            "block pointer takes boundary_check"
          : "compare the offsets with the size of this tensor in the mask, in every "
            "dimension; a block pointer or descriptor takes the tensor's own shape";
  findings_.add(std::move(*finding));
}

void Checker::report_race(const Access& access, std::size_t i, bool changes, std::uint32_t other,
                          std::uint16_t other_op, bool other_writes) {
  if (shadow_.is_blind()) return;
  const Op* const partner = other_op == 0 ? nullptr : memory_ops_[other_op - 1u];
  const bool is_atomic_op = access.reads && access.writes;
  const bool is_scope = is_atomic_op && !access.is_atomic && partner != nullptr &&
                        partner->facts().has(Reads) && partner->facts().has(Writes);
  const FindingKind kind = is_scope  ? FindingKind::AtomicScope
                           : changes ? FindingKind::Race
                                     : FindingKind::SameValue;
  auto finding = begin(kind, access.op, partner, access.program, &access.op.operands[0], i);
  if (!finding) return;
  const std::string element = lane_name(access, i);
  const std::string who =
      other == 0 ? fmt::format("program {} and another one", program_text(access.program.id()))
                 : fmt::format("programs {} and {}", program_text(id_of(other)),
                               program_text(access.program.id()));
  if (is_scope)
    finding->message = fmt::format(
        "{} touch {} by atomics of scope \"cta\", which are none for other programs", who, element);
  else if (access.writes && other_writes)
    finding->message = changes ? fmt::format("{} write {}, and nothing orders them", who, element)
                               : fmt::format("{} write the same value to {}", who, element);
  else
    finding->message = fmt::format("{} touch {}, one of them writing{}", who, element,
                                   changes ? ", and nothing orders them" : " the value it has");
  if (access.op.kind == OpKind::Store)
    finding->values.push_back(fmt::format(
        "this program writes {}, {} was there", value_text(access.value->type, access.value->at(i)),
        value_text(access.value->type, access.program.memory().read(access.pointers.elements[i].i,
                                                                    access.pointers.type.dtype))));
  if (partner != nullptr)
    finding->notes.push_back(fmt::format("the other access is the {} at {}", partner->facts().name,
                                         place_of(kernel_, *partner).text()));
  finding->remedy = is_scope ? "use scope=\"gpu\""
                    : kind == FindingKind::SameValue
                        ? "harmless as long as both values are equal; let one program write it, "
                          "to be clear"
                        : "give each program elements of its own, use an atomic such as "
                          "tl.atomic_add, or a launch for each step";
  findings_.add(std::move(*finding));
}

void Checker::report_mark(const Program& program, Mark mark, std::uint16_t origin, const Op& op,
                          std::size_t i, const std::string& reached) {
  const Op& from = taint_.op_of(origin);
  if (mark == Mark::NotFinite) return report_not_finite(program, from, op, i, reached);
  const FindingKind kind = mark == Mark::MaskedOff ? FindingKind::Undefined
                           : mark == Mark::Wrapped ? FindingKind::IndexOverflow
                                                   : FindingKind::DivisionByZero;
  auto finding = begin(kind, from, nullptr, program, nullptr, 0);
  if (!finding) return;
  const Tile& made = program.value(from.result());
  const bool is_same_size =
      !op.operands.empty() && made.size() == program.value(op.operands[0]).size();
  if (is_same_size) finding->element = index_text(made.type, i);
  const std::size_t at = is_same_size ? i : 0;
  if (mark == Mark::MaskedOff) {
    finding->message =
        "a result depends on a masked-off element of this load, which has no `other`";
    finding->remedy =
        "give the load an `other` that changes nothing (0 for a sum, -inf for a "
        "maximum), or leave the element out with tl.where; a block pointer takes padding_option";
  } else if (mark == Mark::Wrapped) {
    finding->message = fmt::format("index arithmetic overflows {}", short_name_of(made.type.dtype));
    if (is_same_size || made.size() == 1)
      finding->values.push_back(fmt::format("{} of {} gives {}", operation(from),
                                            operand_values(program, from, at),
                                            value_text(made.type, made.at(at))));
    finding->remedy = "compute the offset in 64 bits: .to(tl.int64) before the product";
  } else {
    finding->message = "an integer is divided by zero";
    if (is_same_size || made.size() == 1)
      finding->values.push_back(
          fmt::format("{} of {}", operation(from), operand_values(program, from, at)));
    finding->remedy = "make the divisor at least 1, or leave such elements out with a mask";
  }
  finding->notes.push_back(
      fmt::format("it reaches {} at {}", reached, place_of(kernel_, op).text()));
  findings_.add(std::move(*finding));
}

void Checker::report_not_finite(const Program& program, const Op& origin, const Op& op,
                                std::size_t i, const std::string& reached) {
  const Tile& stored = program.value(op.operands[op.kind == OpKind::AtomicCas ? 2 : 1]);
  const double value = stored.at(i).f;
  const FindingKind kind = std::isnan(value) ? FindingKind::Nan : FindingKind::Infinity;
  auto finding = begin(kind, origin, nullptr, program, nullptr, 0);
  if (!finding) return;
  const Tile& made = program.value(origin.result());
  const std::size_t at = bad_element(made, stored.size(), i);
  finding->element = index_text(made.type, at);
  const std::string_view what = kind == FindingKind::Nan ? "a NaN" : "an infinity";
  const bool has_values = origin.facts().has(Elementwise);
  finding->message = fmt::format("{} begins here: {} gives {}", what, operation(origin),
                                 value_text(made.type, made.at(at)));
  if (has_values)
    finding->values.push_back(
        fmt::format("{} of {}", operation(origin), operand_values(program, origin, at)));
  finding->notes.push_back(
      fmt::format("it reaches {} at {}", reached, place_of(kernel_, op).text()));
  // What it was given may have been infinite before: that is where to look first.
  const Op* first = &origin;
  for (const Value operand : origin.operands) {
    const std::uint16_t earlier = origin_of(taint_.at(operand, at), Mark::NotFinite);
    if (earlier == 0 || first != &origin) continue;
    first = &taint_.op_of(earlier);
    finding->notes.push_back(fmt::format("of an infinity that begins at {}: {}",
                                         place_of(kernel_, *first).text(), operation(*first)));
  }
  finding->remedy = remedy_for(*first);
  findings_.add(std::move(*finding));
}

}  // namespace tilewright::ir
