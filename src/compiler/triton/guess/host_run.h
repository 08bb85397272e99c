// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/host_run.h — what the function around a launch has computed when it launches.
//
//   def softmax(x):                            x_ptr is given: x is that tensor
//       n_rows, n_cols = x.shape               64, 781
//       y = torch.empty_like(x)                empty, float32[64, 781]
//       kernel[(n_rows,)](y, x, x.stride(0), y.stride(0), n_cols, BLOCK=next_power_of_2(n_cols))
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/triton/guess/host_tensors.h"
#include "compiler/triton/guess/launches.h"

namespace tilewright {

// Runs the statements before a launch, as far as they can be evaluated: a statement that cannot be
// leaves its names without a value. The branch and the loop that hold the launch are entered,
// whatever their conditions say.
class HostRun {
 public:
  // `given` names what is known, and nothing that the function assigns replaces it. A name that a
  // given one is a view of (`x2 = x.view(-1, n)`) stands for the same tensor.
  HostRun(python::ModuleLoader& loader, python::Evaluator& evaluator, const KernelLaunch& launch,
          std::map<std::string, python::Value> given);

  // An expression of the launch. Throws UserError that says what cannot be evaluated.
  WrapperValue value(const python::Node* node);
  // All names with their values.
  std::map<std::string, python::Value, std::less<>> names() const;

 private:
  bool run(python::NodeList statements);  // true when the launch was reached
  bool enter(const python::Node& statement);
  void bind_first(const python::For& loop);
  void execute(const python::Node& statement);
  void bind(const python::Node* target, const WrapperValue* value);
  void forget_assigned(const python::Node& node);
  void set_defaults();
  void give_sources_of_views();

  python::ModuleLoader& loader_;
  python::Evaluator& evaluator_;
  const KernelLaunch& launch_;
  std::map<std::string, WrapperValue> names_;
  std::set<std::string> fixed_;
};

// The name that an expression is the tensor of: `x`, `x.contiguous()`, `x.view(-1)`. Empty for
// others.
std::string_view tensor_name(const python::Node* node);

}  // namespace tilewright
