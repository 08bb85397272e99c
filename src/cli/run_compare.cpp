// SPDX-License-Identifier: Apache-2.0
// cli/run_compare.cpp — every tensor that both have, and the verdict.
#include "cli/run_compare.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/table.h"
#include "cli/kernel_path.h"
#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

const NamedValue& tensor_argument(const std::string& name, const std::vector<NamedValue>& values) {
  std::vector<std::string> names;
  for (const NamedValue& value : values) {
    if (value.tensor() == nullptr) continue;
    if (value.name == name) return value;
    names.push_back(value.name);
  }
  throw UsageError{fmt::format("--expect {}: no tensor argument has that name{}", name,
                               suggest_names(name, names))};
}

bool is_written(const NamedValue& value) {
  const Tensor now = value.tensor()->to(Device::cpu()).contiguous();
  return std::memcmp(now.data(), value.before.data(), now.nbytes()) != 0;
}

double allowed(const std::optional<double>& tolerance, const Tensor& tensor) {
  return tolerance.value_or(tolerance_of(tensor.dtype()));
}

}  // namespace

std::vector<Expected> read_expected(const std::vector<std::string>& texts,
                                    const std::vector<NamedValue>& values) {
  std::vector<Expected> all;
  for (const std::string& text : texts) {
    const auto [name, content] = parse_assignment(text, "NAME=FILE.npy");
    const NamedValue& argument = tensor_argument(name, values);
    const ArgumentValue value = read_value(name, content, {.device = Device::cpu(), .seed = 0});
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor == nullptr)
      throw UsageError{fmt::format("--expect {}: this is no tensor; write a .npy file", text)};
    if (tensor->shape() != argument.tensor()->shape())
      throw ArgumentError(fmt::format("--expect {}: it is {}, and the argument is {}", text,
                                      tensor_type_text(*tensor),
                                      tensor_type_text(*argument.tensor())));
    all.push_back({name, content, *tensor});
  }
  return all;
}

std::vector<ComparedTensor> compare_with_expected(const std::vector<Expected>& expected,
                                                  const std::vector<NamedValue>& values,
                                                  std::optional<double> tolerance) {
  std::vector<ComparedTensor> all;
  for (const Expected& each : expected) {
    const Tensor& got = *tensor_argument(each.name, values).tensor();
    all.push_back(
        {each.text, each.name, find_differences(got, each.tensor, allowed(tolerance, got))});
  }
  return all;
}

std::vector<ComparedTensor> compare_runs(const std::string& with,
                                         const std::vector<NamedValue>& values,
                                         const std::vector<NamedValue>& others,
                                         std::optional<double> tolerance) {
  std::vector<ComparedTensor> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor* got = values[i].tensor();
    const Tensor* wanted = others[i].tensor();
    if (got == nullptr || wanted == nullptr) continue;
    ComparedTensor compared{with, values[i].name,
                            find_differences(*got, *wanted, allowed(tolerance, *got))};
    if (compared.difference.different > 0 || is_written(values[i]))
      all.push_back(std::move(compared));
  }
  return all;
}

void restore(const std::vector<NamedValue>& from, const std::vector<NamedValue>& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (to[i].tensor() != nullptr) to[i].tensor()->copy_from(from[i].before);
}

void print_compared(const std::vector<ComparedTensor>& all) {
  Table table({{}, {}, {}}, 2);
  for (const ComparedTensor& each : all)
    table.add({each.name, "against " + each.with, difference_text(each.difference)});
  if (!all.empty()) fmt::print("{}", table.to_string());
}

Json compared_json(const std::vector<ComparedTensor>& all) {
  Json list = Json::array();
  for (const ComparedTensor& each : all) {
    Json json = difference_json(each.difference);
    json["tensor"] = each.name;
    json["with"] = each.with;
    list.push_back(std::move(json));
  }
  return list;
}

bool has_difference(const std::vector<ComparedTensor>& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const ComparedTensor& each) { return each.difference.different > 0; });
}

}  // namespace tilewright::cli
