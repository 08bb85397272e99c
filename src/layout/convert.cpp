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
  // All is linear, so that the registers of two sources together are those of their bits together.
  const auto first = from.registers().solve(view.offset);
  if (!first) return {};
  Conversion out{Conversion::Kind::Registers, {static_cast<std::uint32_t>(*first)}};
  for (int bit = 0; bit < to.registers().columns(); ++bit) {
    const auto source =
        from.registers().solve(view.matrix(to.registers()(std::uint64_t{1} << bit)));
    if (!source) return {};
    const std::size_t count = out.source.size();
    for (std::size_t r = 0; r < count; ++r)
      out.source.push_back(out.source[r] ^ static_cast<std::uint32_t>(*source));
  }
  return out;
}

}  // namespace tilewright
