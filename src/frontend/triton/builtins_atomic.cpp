// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_atomic.cpp — atomics through pointers; they give the old value.
#include <fmt/format.h>

#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/memory_access.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

constexpr std::string_view orders[] = {"acquire", "release", "acq_rel", "relaxed"};
constexpr std::string_view scopes[] = {"gpu", "cta", "sys"};

// How memory is ordered; a descriptor's atomics have no arguments for it.
std::vector<ir::Attribute> ordering(Call& call) {
  std::vector<ir::Attribute> attributes;
  if (call.row.parameters.find("sem") == std::string_view::npos)
    return {{"order", std::string("relaxed")}};
  const std::string order = one_of(call, "sem", orders);
  const std::string scope = one_of(call, "scope", scopes);
  attributes.push_back({"order", order.empty() ? std::string("acq_rel") : order});
  attributes.push_back({"scope", scope.empty() ? std::string("gpu") : scope});
  return attributes;
}

Access access_of(Call& call) {
  Access access{.pointers = call.tensor("pointer"), .mask = mask_of(call)};
  require_pointer(call, access.pointers);
  require_writable(call, access.pointers);
  if (access.mask) access.mask = to_pointer_shape(call, access.pointers, access.mask, "mask");
  return access;
}

ir::Value value_of(Call& call, const Access& access, std::string_view parameter) {
  const ir::Value value =
      call.semantic.cast(call.tensor(parameter), call.type(access.pointers).pointee().element());
  return to_pointer_shape(call, access.pointers, value, parameter);
}

void require_element(Call& call, const ir::Type& element) {
  const bool adds = call.row.name == "atomic_add";
  const bool is_short = bits_of(element) < 32;
  const bool is_half = element.is_float() && bits_of(element) == 16;
  if (is_short && !(adds && is_half))
    call.fail(fmt::format("does not work on {}", text_of(element)), "use 32- or 64-bit elements");
}

// The order of floats is that of their bits as signed integers where the sign is clear, and the
// reverse as unsigned ones where it is set.
Value float_extreme(Call& call, const Access& access, ir::Value value, bool is_max) {
  Semantic& semantic = call.semantic;
  ir::Builder& builder = call.builder();
  const ir::Type type = call.type(value);
  const bool is_wide = type.dtype == f64;
  const DType signed_type = is_wide ? i64 : i32, unsigned_type = is_wide ? u64 : u32;
  const ir::Value bits = builder.bitcast(value, signed_type);
  const ir::Value zero =
      semantic.like(builder.constant(ir::Type::scalar(signed_type), std::int64_t{0}), type);
  const ir::Value positive = builder.compare("ge", bits, zero);
  const auto run = [&](DType dtype, ir::Value lanes, const char* op) {
    const ir::Value mask = access.mask ? builder.binary(OpKind::And, access.mask, lanes) : lanes;
    const ir::Value pointers = semantic.cast(access.pointers, ir::Type::pointer(dtype));
    const ir::Value old =
        atomic_rmw(call, op, {.pointers = pointers, .mask = mask}, builder.bitcast(value, dtype));
    return builder.bitcast(old, signed_type);
  };
  const ir::Value above = run(signed_type, positive, is_max ? "max" : "min");
  const ir::Value below = run(unsigned_type, semantic.invert(positive), is_max ? "min" : "max");
  return builder.bitcast(builder.select(positive, above, below), type.dtype);
}

Value atomic(Call& call) {
  const Access access = access_of(call);
  const ir::Type element = call.type(access.pointers).pointee().element();
  require_element(call, element);
  const ir::Value value = value_of(call, access, "val");
  const std::string_view op = call.row.name.substr(std::string_view("atomic_").size());
  const bool is_extreme = op == "max" || op == "min";
  if (is_extreme && element.is_float()) return float_extreme(call, access, value, op == "max");
  if (element.is_float() && op != "add" && op != "xchg")
    call.fail(fmt::format("does not work on {}", text_of(element)));
  return atomic_rmw(call, op == "add" && element.is_float() ? "fadd" : op, access, value);
}

Value atomic_cas(Call& call) {
  const ir::Value pointers = call.tensor("pointer");
  require_pointer(call, pointers);
  require_writable(call, pointers);
  const ir::Type element = call.type(pointers).pointee().element();
  if (bits_of(element) < 16)
    call.fail(fmt::format("does not work on {}", text_of(element)),
              "use 16-, 32- or 64-bit elements");
  const Access access{.pointers = pointers};
  const ir::Value expected = value_of(call, access, "cmp"), value = value_of(call, access, "val");
  return call.builder().create_one(OpKind::AtomicCas, {pointers, expected, value}, call.type(value),
                                   ordering(call));
}

constexpr std::string_view parameters = "pointer, val, mask=None, sem=None, scope=None";

constexpr BuiltinRow atomic_rows[] = {
    {"atomic_add", parameters, atomic, true},
    {"atomic_max", parameters, atomic, true},
    {"atomic_min", parameters, atomic, true},
    {"atomic_and", parameters, atomic, true},
    {"atomic_or", parameters, atomic, true},
    {"atomic_xor", parameters, atomic, true},
    {"atomic_xchg", parameters, atomic, true},
    {"atomic_cas", "pointer, cmp, val, sem=None, scope=None", atomic_cas, true},
};

}  // namespace

ir::Value atomic_rmw(Call& call, std::string_view op, const Access& access, ir::Value value) {
  std::vector<ir::Value> operands = {access.pointers, value};
  if (access.mask) operands.push_back(access.mask);
  std::vector<ir::Attribute> attributes = ordering(call);
  attributes.push_back({"op", std::string(op)});
  return call.builder().create_one(OpKind::AtomicRmw, operands, call.type(value),
                                   std::move(attributes));
}

std::span<const BuiltinRow> atomic_builtins() { return atomic_rows; }

}  // namespace tilewright::triton
