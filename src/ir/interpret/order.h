// SPDX-License-Identifier: Apache-2.0
// ir/interpret/order.h — finds out whether memory after a launch depends on an order that no device
// promises.
//
// Two things are watched: one execution of a store that writes an element twice, with different
// values (which lane comes last is open), and programs that touch the same element, one of them
// changing it, not both atomically (which program comes first is open). Kernels that synchronise
// their programs by atomics (locks, tickets) order such accesses themselves: of them only the first
// is reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

class OrderWatch {
 public:
  explicit OrderWatch(const Kernel& kernel);

  void begin_program(std::int64_t number) { program_ = static_cast<std::uint32_t>(number + 1); }
  void begin_store() { ++store_; }

  // An access to the element that begins at `address`.
  struct Access {
    std::uint64_t address = 0;
    bool is_atomic = false;
    bool is_store = false;  // of the store that began last, not of an atomic op
    bool changes = false;   // of a write: the element has another value afterwards
  };
  // "program 1 reads {}, which program 0 has written": {} stands for the element. Empty: nothing
  // was found, or something was found before.
  std::string note_read(const Access& access);
  std::string note_write(const Access& access);

  // The first finding, with its place in the source; empty when there is none.
  const std::string& finding() const { return finding_; }
  void set_finding(std::string text) { finding_ = std::move(text); }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint32_t several = ~0u;
  struct Record {
    std::uint32_t writer = 0;  // program + 1
    std::uint32_t reader = 0;
    std::uint32_t atomic_reader = 0;
    std::uint32_t store = 0;  // the execution that wrote it last
    bool has_changed = false;
    bool is_atomic = false;  // written by atomics alone
  };
  using Page = std::vector<Record>;

  Record& record(std::uint64_t address);
  bool is_other(std::uint32_t program) const { return program != 0 && program != program_; }
  void add(std::uint32_t& to) const { to = to == 0 || to == program_ ? program_ : several; }
  std::string pair_text(std::uint32_t other, const char* what) const;

  bool is_synchronised_ = false;
  std::uint32_t program_ = 0;
  std::uint32_t store_ = 0;
  std::unordered_map<std::uint64_t, Page> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_page_ = nullptr;
  std::string finding_;
};

}  // namespace tilewright::ir
