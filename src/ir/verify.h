// SPDX-License-Identifier: Apache-2.0
// ir/verify.h — what a kernel must satisfy at a stage; run after every pass in tests and debug
// builds.
#pragma once

#include <string>

#include "ir/kernel.h"
#include "tilewright/error.h"

namespace tilewright::ir {

// A rule that a kernel breaks, at an op or (null) as a whole.
class VerificationError : public InternalError {
 public:
  VerificationError(const std::string& sentence, const Op* op, std::string rule)
      : InternalError(sentence), op_(op), rule_(std::move(rule)) {}
  const Op* op() const { return op_; }
  const std::string& rule() const { return rule_; }

 private:
  const Op* op_;
  std::string rule_;
};

// Throws VerificationError that names the op (as text), the rule it breaks and the source line.
// Checks that every op is legal at `kernel.stage`, has the operands, results, attributes and
// regions of its kind, that types fit, and that values are defined before use, in scope and once.
void verify(const Kernel& kernel);

}  // namespace tilewright::ir
