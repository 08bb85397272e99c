// SPDX-License-Identifier: Apache-2.0
// ir/verify_shared.cpp — rule L7 of verify_laid.h: what has a place in a block's shared memory, and
// scratch, which is named by the ops that need it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ir/analysis/buffer_lives.h"
#include "ir/verify_laid.h"
#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

class SharedRules {
 public:
  explicit SharedRules(const Kernel& kernel)
      : kernel_(kernel), is_named_(kernel.buffers.size(), false) {}

  void check() {
    walk(kernel_.body, [&](const Op& op) { check_scratch(op); });
    for (const KernelRing& ring : kernel_.rings) note_scratch(nullptr, ring.words);
    bool has_offsets = false;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      if (buffer.is_scratch() && !is_named_[i])
        fail(nullptr, fmt::format("rule L7: no op has buffer '{}' as its scratch", buffer.name));
      has_offsets |= buffer.offset >= 0;
    }
    if (has_offsets) check_offsets();
  }

 private:
  [[noreturn]] void fail(const Op* op, const std::string& rule) const {
    fail_verification(kernel_, op, rule);
  }

  void check_scratch(const Op& op) {
    if (!op.find("scratch")) return;
    if (!op.facts().is(Family::Control)) return note_scratch(&op, op.text("scratch"));
    for (const std::string& name : op.texts("scratch")) note_scratch(&op, name);
  }

  void note_scratch(const Op* op, std::string_view name) {
    if (name.empty()) return;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (kernel_.buffers[i].name != name) continue;
      if (!kernel_.buffers[i].is_scratch())
        fail(op, fmt::format("rule L7: buffer '{}' is a place for tiles, not scratch", name));
      is_named_[i] = true;
      return;
    }
    fail(op, fmt::format("rule L7: there is no scratch '{}'", name));
  }

  void check_offsets() const {
    const std::vector<BufferLife> lives = buffer_lives(kernel_);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      if (!buffer.has_place() || lives[i].is_never()) continue;
      if (buffer.offset < 0)
        fail(nullptr,
             fmt::format("rule L7: buffer '{}' has no offset, and others have", buffer.name));
      if (buffer.offset % buffer.align != 0)
        fail(nullptr, fmt::format("rule L7: buffer '{}' at {} is not aligned to {} bytes",
                                  buffer.name, buffer.offset, buffer.align));
      for (std::size_t j = 0; j < i; ++j) {
        const KernelBuffer& other = kernel_.buffers[j];
        if (other.offset >= 0 && lives[i].meets(lives[j]) && buffer.overlaps(other))
          fail(nullptr,
               fmt::format("rule L7: buffers '{}' and '{}' have bytes in common, and are in "
                           "use at the same time",
                           other.name, buffer.name));
      }
    }
  }

  const Kernel& kernel_;
  std::vector<bool> is_named_;  // by buffer
};

}  // namespace

void verify_shared(const Kernel& kernel) { SharedRules(kernel).check(); }

}  // namespace tilewright::ir
