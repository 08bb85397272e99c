// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_builder.h — statements of a range of programs that know nothing of elements.
// A view of a LoopState, under the names that the families use.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "codegen/lower/loop_state.h"

namespace tilewright {

class LoopBuilder : protected FinalBuilder {
 public:
  explicit LoopBuilder(LoopState& state);

 protected:
  using Term = IndexTerm;

  // The other families.
  LoopFamilies& families() const { return *state_.families; }

  ir::Value scalar(ir::Value value);
  void define(ir::Value value, ir::Value made);
  // Whether what an op was made is written where it is used.
  bool is_inlined(const ir::Op& op, ir::Value made) const;
  void note_lines(const std::vector<const ir::Op*>& ops);
  ir::Value array(ir::Value value) const { return arrays_.at(schedule_.storage(value).id); }
  // Of a variable: an array of one element.
  ir::Value current(ir::Value variable);
  ir::Op* loop_over(ir::Value index, const LoopRange& range, std::int64_t by, const char* over,
                    Statements& list);
  // A loop from 0 on; the body fills the list that it is given.
  ir::Op* count_to(std::int64_t end, ir::Value index, Statements& list,
                   const std::function<void(Statements&)>& body);
  ir::Value new_index(const std::string& name, DType dtype = DType::Int32) {
    return out_.make_value(ir::Type::scalar(dtype), name, nullptr);
  }

  LoopState& state_;
  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const RowFacts& facts_;
  const ExpressionFacts& written_;
  const std::unordered_map<std::uint32_t, ir::Value>& arrays_;
};

}  // namespace tilewright
