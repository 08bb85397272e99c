// SPDX-License-Identifier: Apache-2.0
// passes/laid/describe.cpp — one line per step, regions indented.
#include "passes/laid/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text_writer.h"
#include "ir/print.h"

namespace tilewright {
namespace {

class Describer {
 public:
  explicit Describer(const ir::Kernel& kernel) : names_(kernel) {}

  void steps(const Steps& steps) {
    for (const Step& step : steps) line(step);
  }
  std::string take() { return out_.take(); }

 private:
  std::string op_text(const ir::Op& op) const {
    std::string text;
    for (const ir::Value value : op.results) text += fmt::format("%{} ", names_[value]);
    return text + std::string(op.facts().name);
  }

  std::string list(const std::vector<const ir::Op*>& ops) const {
    std::vector<std::string> texts;
    for (const ir::Op* op : ops) texts.push_back(op_text(*op));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  void line(const Step& step) {
    switch (step.kind) {
      case Step::Kind::Scalar:
        return out_.format("scalar: {}", op_text(*step.op));
      case Step::Kind::Across:
        return out_.format("across: {}", op_text(*step.op));
      case Step::Kind::Elements:
        return elements(step);
      case Step::Kind::Control:
        break;
    }
    out_.open(fmt::format("control: {}", op_text(*step.op)));
    for (std::size_t i = 0; i < step.regions.size(); ++i) {
      if (i > 0) {
        out_.outdent();
        out_.open("} then");
      }
      steps(step.regions[i]);
    }
    out_.close();
  }

  void elements(const Step& step) {
    std::string text = fmt::format("elements [{}]:", fmt::join(step.shape.shape(), ", "));
    if (!step.ops.empty()) text += " " + list(step.ops) + ";";
    std::vector<std::string> kept;
    for (const ir::Value value : step.kept) kept.push_back("%" + names_[value]);
    if (!kept.empty()) text += fmt::format(" keeps {};", fmt::join(kept, ", "));
    if (!step.reductions.empty()) text += " reduces " + list(step.reductions) + ";";
    text.pop_back();
    out_.line(text);
  }

  ir::ValueNames names_;
  TextWriter out_;
};

}  // namespace

std::string describe(const ir::Kernel& kernel, const Schedule& schedule) {
  Describer describer(kernel);
  describer.steps(schedule.steps());
  return describer.take();
}

}  // namespace tilewright
