// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_expressions.h — values of a Final kernel in CUDA C++.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/print/expressions.h"

namespace tilewright {

class CudaExpressions : public ExpressionPrinter {
 public:
  static constexpr std::string_view axes = "xyz";
  explicit CudaExpressions(const ir::Kernel& kernel);

  // Pointers to const data are so in their types, where no control flow mixes them with others.
  std::string type(ir::Value value) const override;
  // "<tw::Cache::Linger>", or nothing.
  static std::string cache(const ir::Op& op);
  // Parts of the device library that the text so far needs.
  const std::set<std::string>& parts() const { return parts_; }
  void need(const char* part) const { parts_.insert(part); }
  // The axis along which programs share a block.
  int shared_axis() const { return shared_axis_; }

 protected:
  std::string program(int axis) const override;
  std::string programs(int axis) const override;
  std::string blocks() const override;
  std::string thread() const override;
  std::string thread_again() const override;
  std::string digit(const ir::Op& op) const override;
  std::string product(const std::string& index, const std::string& stride) const override {
    return stride + " * " + index;
  }
  std::string load(const ir::Op& op) const override;
  std::string computed(const ir::Op& op) const override;
  std::string atomic(const ir::Op& op) const override;
  std::string own_row(const ir::Op& op) const override;

 private:
  std::string offset(const ir::Op& op) const;

  bool keeps_const_ = true;
  int shared_axis_ = 0;
  bool is_persistent_ = false;
  mutable std::set<std::string> parts_;
};

}  // namespace tilewright
