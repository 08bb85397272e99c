// SPDX-License-Identifier: Apache-2.0
// compiler/tune/results.cpp — results as sets of configs that agree, for each argument.
#include "compiler/tune/results.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/tensor.h"

namespace tilewright {
namespace {

constexpr std::int64_t elements_at_once = 1 << 20;
// Arguments with more different results than this are scratch memory: copies are not kept for ever.
constexpr std::size_t most_groups = 8;

// Of sums in another order, relative to the largest value.
double result_tolerance(DType dtype, bool has_dot) {
  if (!is_floating(dtype)) return 0;
  if (dtype == DType::Float64) return 1e-10;
  if (dtype == DType::Float32) return has_dot ? 4e-3 : 1e-4;
  if (dtype == DType::Float16) return 4e-3;
  return dtype == DType::BFloat16 ? 3e-2 : 0.25;
}

std::vector<double> part_of(const Buffer& buffer, DType dtype, std::int64_t begin,
                            std::int64_t count) {
  return Tensor(buffer, dtype, {count}, {1}, begin)
      .to(Device::cpu())
      .to(DType::Float64)
      .to_vector<double>();
}

// The largest difference relative to the largest finite value; infinite where one is no number.
double relative_error(const Buffer& wanted, const Buffer& got, DType dtype) {
  const auto elements = static_cast<std::int64_t>(wanted.size() / size_of(dtype));
  double largest = 0, most = 0;
  for (std::int64_t begin = 0; begin < elements; begin += elements_at_once) {
    const std::int64_t count = std::min(elements_at_once, elements - begin);
    const std::vector<double> a = part_of(wanted, dtype, begin, count);
    const std::vector<double> b = part_of(got, dtype, begin, count);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isfinite(a[i])) largest = std::max(largest, std::abs(a[i]));
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      const double off = std::abs(a[i] - b[i]);
      most = std::isfinite(off) ? std::max(most, off) : INFINITY;
    }
  }
  return largest > 0 ? most / largest : most;
}

}  // namespace

bool ResultComparison::Part::is_scratch() const {
  return groups.size() > most_groups ||
         (groups.size() > 2 && std::all_of(groups.begin(), groups.end(), [](const Group& group) {
            return group.configs.size() == 1;
          }));
}

const ResultComparison::Group& ResultComparison::Part::largest() const {
  return *std::max_element(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.configs.size() < b.configs.size();
  });
}

ResultComparison::ResultComparison(const std::vector<NamedArgument>& arguments, bool has_dot,
                                   const Stream& stream)
    : stream_(stream) {
  for (const NamedArgument& argument : arguments) add(argument, has_dot);
}

void ResultComparison::add(const NamedArgument& argument, bool has_dot) {
  const Argument& value = *argument.value;
  if (value.kind != Argument::Kind::Memory || value.buffer == nullptr) return;
  const auto is_it = [&](const Part& part) { return part.buffer.state() == value.buffer->state(); };
  if (std::any_of(parts_.begin(), parts_.end(), is_it)) return;
  parts_.push_back(
      {argument.name, *value.buffer, value.dtype, result_tolerance(value.dtype, has_dot), {}});
}

void ResultComparison::take(std::size_t config) {
  for (Part& part : parts_)
    if (part.groups.size() <= most_groups) take(part, config);
}

void ResultComparison::take(Part& part, std::size_t config) const {
  for (Group& group : part.groups) {
    if (relative_error(group.copy, part.buffer, part.dtype) > part.tolerance) continue;
    group.configs.push_back(config);
    return;
  }
  Group group{Buffer::allocate(part.buffer.size(), stream_.device(), MemoryKind::Device, stream_),
              {config}};
  copy_async({group.copy}, {part.buffer}, part.buffer.size(), stream_);
  stream_.synchronize();
  part.groups.push_back(std::move(group));
}

std::vector<ResultProblem> ResultComparison::problems() const {
  std::vector<ResultProblem> found;
  const auto is_known = [&](std::size_t config) {
    return std::any_of(found.begin(), found.end(),
                       [&](const ResultProblem& problem) { return problem.config == config; });
  };
  for (const Part& part : parts_) {
    if (part.groups.size() < 2 || part.is_scratch()) continue;
    const Group& right = part.largest();
    for (const Group& group : part.groups) {
      if (&group == &right) continue;
      const double error = relative_error(right.copy, group.copy, part.dtype);
      for (const std::size_t config : group.configs)
        if (!is_known(config))
          found.push_back(
              {config, right.configs.front(), right.configs.size(),
               fmt::format("'{}' is off by {:.1e} of its largest value, {:.1e} is allowed",
                           part.name, error, part.tolerance)});
    }
  }
  return found;
}

std::vector<std::string> ResultComparison::scratch() const {
  std::vector<std::string> names;
  for (const Part& part : parts_)
    if (part.is_scratch()) names.push_back(part.name);
  return names;
}

}  // namespace tilewright
