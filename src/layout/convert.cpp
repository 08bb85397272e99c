// SPDX-License-Identifier: Apache-2.0
// layout/convert.cpp — decides by comparing columns.
#include "layout/convert.h"

#include "base/check.h"

namespace tilewright {

// Register r of a thread t asks for view(to(r, t)). It stays within the thread with a register
// number that is the same for all threads exactly when lanes and warps contribute the same to both
// sides and the register's part (with the view's offset) is made of registers of `from` alone.
Conversion plan_conversion(const Layout& from, const Layout& to, const IndexMap& view) {
  TW_CHECK(from.thread_bits() == to.thread_bits(), "layouts of {} and {} thread bits",
           from.thread_bits(), to.thread_bits());
  if (!(view.matrix * to.thread_matrix() == from.thread_matrix())) return {};
  Conversion out{Conversion::Kind::Registers, {}};
  for (int r = 0; r < to.register_count(); ++r) {
    const auto wanted = view(to.registers()(static_cast<std::uint64_t>(r)));
    const auto source = from.registers().solve(wanted);
    if (!source) return {};
    out.source.push_back(static_cast<std::uint32_t>(*source));
  }
  return out;
}

}  // namespace tilewright
