// SPDX-License-Identifier: Apache-2.0
// passes/roles/empty_maps.cpp — sizes that are arguments, asked in the kernel.
#include "passes/roles/empty_maps.h"

#include <algorithm>

namespace tilewright {
namespace {

using ir::OpKind;
using ir::Type;
using ir::Value;

bool is_known(const ir::Kernel& kernel, const ir::LaunchNumber& size) {
  return std::all_of(size.arguments.begin(), size.arguments.end(), [&](int argument) {
    return kernel.arguments[static_cast<std::size_t>(argument)].is_positive;
  });
}

// In 64 bits: a map's size may be beyond 2^31.
Value product(ir::Builder& build, const ir::Kernel& kernel, const std::vector<int>& arguments) {
  const bool is_single = arguments.size() == 1;
  Value out;
  for (const int argument : arguments) {
    const Value one = kernel.arguments[static_cast<std::size_t>(argument)].value;
    const Value factor = is_single ? one : build.cast(one, i64);
    out = out ? build.binary(OpKind::Multiply, out, factor) : factor;
  }
  return out;
}

}  // namespace

std::vector<Value> have_elements(ir::Builder& build, const ir::Kernel& kernel,
                                 const ir::KernelMap& map) {
  std::vector<Value> out;
  for (const ir::KernelMap::Dimension& dimension : map.dimensions) {
    out.emplace_back();
    if (is_known(kernel, dimension.size)) continue;
    const Value size = product(build, kernel, dimension.size.arguments);
    out.back() = build.compare("gt", size, build.constant(kernel.type(size), std::int64_t{0}));
  }
  return out;
}

Value coordinate_of(ir::Builder& build, Value has_elements, Value at, std::int64_t size) {
  if (!has_elements) return at;
  return build.select(has_elements, at, build.constant(Type::scalar(i32), size));
}

}  // namespace tilewright
