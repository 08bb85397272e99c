// SPDX-License-Identifier: Apache-2.0
// ir/check/checker.h — watches a launch in the interpreter and says what is wrong with it.
//
// Checker looks at every op; what it knows of memory is in Shadow, what it knows of values in
// Taint. The kernel is one of stage Source, as the user wrote it: passes remove what they know to
// be useless, and with it what a user should hear of.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/check/finding.h"
#include "ir/check/shadow.h"
#include "ir/check/taint.h"
#include "ir/interpret/watch.h"

namespace tilewright::ir {

class Checker final : public Watch {
 public:
  Checker(const Kernel& kernel, std::span<const InterpretBuffer> buffers,
          std::span<const UnwrittenRange> unwritten, const std::int64_t (&grid)[3]);

  void begins(const Program& program, std::int64_t number) override;
  void before(const Program& program, const Op& op) override;
  void after(const Program& program, const Op& op) override;
  void decides(const Program& program, const Op& condition) override;
  void moves(std::span<const Value> to, std::span<const Value> from) override;
  bool lets_pass(const Program& program, const Op& op, const std::string& problem) override;

  // The launch ended early, with this sentence.
  void stopped(const std::string& why);

  const std::vector<Finding>& findings() const { return findings_.all(); }

 private:
  // One execution of an op that touches memory.
  struct Access {
    const Program& program;
    const Op& op;
    const Tile& pointers;
    const Tile* mask = nullptr;
    const Tile* value = nullptr;  // what is written
    std::size_t value_operand = 0;
    bool reads = false;
    bool writes = false;
    bool is_atomic = false;  // for all programs
    std::size_t bytes = 0;
    std::uint16_t number = 0;  // of the op, as the shadow keeps it
  };
  Access access_of(const Program& program, const Op& op) const;

  void check_access(const Access& access);
  // Marks on the address or mask of a lane; true: there were some.
  bool check_address(const Access& access, std::size_t i);
  void check_value(const Access& access, std::size_t i);
  void check_cells(const Access& access, std::size_t i);
  void check_read(const Access& access, std::size_t i, ShadowCell& cell);
  void check_write(const Access& access, std::size_t i, ShadowCell& cell, bool changes);
  void check_duplicates(const Access& access);
  void synchronise(const Access& access, std::size_t i);
  void check_branch(const Program& program, const Op& op, Value value, std::string_view what);
  void check_promises(const Program& program, const Op& op);
  void mark_load(const Program& program, const Op& op);

  // What a mark that got somewhere means. `reached` says where, `op` is the op there.
  void report_mark(const Program& program, Mark mark, std::uint16_t origin, const Op& op,
                   std::size_t i, const std::string& reached);
  void report_not_finite(const Program& program, const Op& origin, const Op& op, std::size_t i,
                         const std::string& reached);
  void report_outside(const Access& access, std::size_t i);
  void report_race(const Access& access, std::size_t i, bool changes, std::uint32_t other,
                   std::uint16_t other_op, bool other_writes);

  // A finding at the op in this program; null: it is known and was counted.
  std::optional<Finding> begin(FindingKind kind, const Op& op, const Op* partner,
                               const Program& program, const Value* tile, std::size_t i);
  std::array<std::int64_t, 3> id_of(std::uint32_t program) const;
  std::string lane_name(const Access& access, std::size_t i) const;

  const Kernel& kernel_;
  Findings findings_;
  Shadow shadow_;
  Taint taint_;
  std::int64_t grid_[3];
  std::int64_t program_ = 0;
  std::uint32_t store_ = 0;
  bool has_duplicates_ = false;
  std::vector<bool> is_used_;  // by value
  std::vector<const Op*> memory_ops_;
  std::unordered_map<const Op*, std::uint16_t> memory_numbers_;  // from 1
};

// "[3, 17]" of a tile of this shape; empty for scalars.
std::string index_text(const Type& type, std::size_t i);
// 3, 0.5, nan
std::string value_text(const Type& type, Element element);

// What can be seen without running: arithmetic in float64 that nobody asked for.
std::vector<Finding> check_types(const Kernel& kernel);

}  // namespace tilewright::ir
