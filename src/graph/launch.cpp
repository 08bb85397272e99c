// SPDX-License-Identifier: Apache-2.0
// graph/launch.cpp — the list of a formula's kernels, and their arguments.
#include "graph/launch.h"

#include <bit>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "base/log.h"
#include "graph/lower/group.h"
#include "ir/print.h"

namespace tilewright::graph {
namespace {

thread_local const Target* current_emulated = nullptr;
thread_local std::vector<LaunchedGroup>* current_observed = nullptr;
thread_local std::size_t foreign_calls_made = 0;
std::atomic<std::size_t> kernels_made{0};

// Each element that an operand holds, once.
double bytes_of_operand(const Walk& walk, int operand, DType dtype) {
  double elements = 1;
  for (int d = 0; d < walk.rank; ++d)
    if (walk.strides[operand][d] != 0) elements *= static_cast<double>(walk.sizes[d]);
  return elements * static_cast<double>(size_of(dtype));
}

void observe(const Formula& formula, const Walk& walk, std::span<const Argument> operands) {
  LaunchedGroup launch{.kernel = formula.name, .programs = walk.programs()};
  launch.operations = static_cast<double>(formula.steps.size()) * static_cast<double>(walk.numel());
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (o < formula.leaves.size() && formula.leaves[o].is_place) continue;
    const double bytes = bytes_of_operand(walk, static_cast<int>(o), operands[o].dtype);
    (o < formula.leaves.size() ? launch.bytes_read : launch.bytes_written) += bytes;
  }
  current_observed->push_back(std::move(launch));
}

const GroupKernel* find_kernel(const Formula& formula, std::uint64_t head, std::uint64_t access) {
  const GroupKernel* kernel = formula.kernels.load(std::memory_order_acquire);
  while (kernel != nullptr && (kernel->head != head || kernel->access != access))
    kernel = kernel->next;
  return kernel;
}

std::uint64_t head_of(const WalkClass& walk, DeviceKind device, int lists) {
  return walk.head_word(device) | static_cast<std::uint64_t>(lists) << 40;
}

const GroupKernel& make_kernel_of(const Formula& formula, const WalkClass& walk, std::uint64_t head,
                                  int lists) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::uint64_t access = walk.access_word();
  if (const GroupKernel* found = find_kernel(formula, head, access)) return *found;
  auto made = std::make_unique<GroupKernel>();
  made->head = head;
  made->access = access;
  ir::Kernel lowered = lists == 1 ? lower_group(formula, walk) : lower_lists(formula, walk, lists);
  if (logs("graph")) log_line("graph", "kernel\n" + ir::print(lowered));
  made->kernel = load_ir(std::move(lowered), false);
  made->next = formula.kernels.load(std::memory_order_relaxed);
  formula.kernels.store(made.get(), std::memory_order_release);
  kernels_made.fetch_add(1, std::memory_order_relaxed);
  return *made.release();
}

// Arguments on the stack, of which only those that are there are initialised.
class ArgumentList {
 public:
  void add(const Argument& argument) { std::construct_at(data() + count_++, argument); }
  std::span<const Argument> list() { return {data(), count_}; }

 private:
  static constexpr std::size_t most = 2 * max_operands + max_walk_arguments;
  Argument* data() { return reinterpret_cast<Argument*>(bytes_); }
  static_assert(std::is_trivially_destructible_v<Argument>);
  std::size_t count_ = 0;
  alignas(Argument) std::byte bytes_[most * sizeof(Argument)];
};

}  // namespace

Formula::~Formula() {
  for (GroupKernel* kernel = kernels.load(); kernel != nullptr;) {
    const std::unique_ptr<GroupKernel> owned(kernel);
    kernel = owned->next;
  }
}

const IrKernel& group_kernel(const Formula& formula, const WalkClass& walk, DeviceKind device,
                             int lists) {
  const std::uint64_t head = head_of(walk, device, lists);
  const GroupKernel* found = find_kernel(formula, head, walk.access_word());
  return (found != nullptr ? *found : make_kernel_of(formula, walk, head, lists)).kernel;
}

void run_group(const Formula& formula, const Walk& walk, std::span<const Argument> operands,
               std::span<const Argument> numbers, std::optional<int> num_warps) {
  TW_CHECK(operands.size() == static_cast<std::size_t>(walk.operands) &&
               numbers.size() == formula.numbers.size(),
           "'{}' has other operands", formula.name);
  const DeviceKind device =
      current_emulated != nullptr ? DeviceKind::Cuda : operands.back().device.kind;
  const IrKernel& kernel = group_kernel(formula, walk, device);
  if (current_observed != nullptr) [[unlikely]]
    observe(formula, walk, operands);
  ArgumentList arguments;
  for (const Argument& operand : operands) arguments.add(operand);
  for (const Argument& number : numbers) arguments.add(number);
  std::int64_t integers[max_walk_arguments];
  const int count = walk_arguments(walk, integers);
  for (int i = 0; i < count; ++i) arguments.add(integers[i]);
  kernel.launch({.grid = walk.programs(), .num_warps = num_warps, .emulate = current_emulated},
                arguments.list());
}

void run_lists(const Formula& formula, const Walk& walk, std::span<const Argument> operands,
               std::span<const Argument> numbers, std::span<const std::int64_t> sizes) {
  const DeviceKind device =
      current_emulated != nullptr ? DeviceKind::Cuda : operands.back().device.kind;
  const IrKernel& kernel = group_kernel(formula, walk, device, static_cast<int>(sizes.size()));
  std::vector<Argument> arguments(operands.begin(), operands.end());
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  std::int64_t programs = 0;
  for (const std::int64_t size : sizes) {
    arguments.emplace_back(size);
    programs += cdiv(size, std::int64_t{1} << walk.log_block);
  }
  if (current_observed != nullptr) [[unlikely]] {
    const std::size_t each = operands.size() / sizes.size();
    Walk own = walk;
    for (std::size_t list = 0; list < sizes.size(); ++list) {
      own.sizes[0] = sizes[list];
      observe(formula, own, operands.subspan(list * each, each));
      if (list == 0) continue;
      LaunchedGroup more = std::move(current_observed->back());
      current_observed->pop_back();
      LaunchedGroup& all = current_observed->back();
      all.programs += more.programs;
      all.operations += more.operations;
      all.bytes_read += more.bytes_read;
      all.bytes_written += more.bytes_written;
    }
  }
  kernel.launch({.grid = programs, .emulate = current_emulated}, arguments);
}

Argument number_argument(DType dtype, const Scalar& number) {
  const bool is_real = number.dtype() == DType::Float32;
  if (dtype == DType::Float64) return number.real();
  if (is_floating(dtype)) return static_cast<float>(number.real());
  Argument made = is_real ? static_cast<std::int64_t>(number.real()) : number.integer();
  const std::size_t bytes = size_of(dtype);
  made.dtype = dtype;
  if (bytes < 8) made.bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  return made;
}

Argument operand_argument(DType operand_dtype, const Scalar& number) {
  const DType dtype = number_dtype(compute_dtype(operand_dtype));
  if (operand_dtype == DType::Bool) return number_argument(dtype, Scalar(number.real() != 0));
  return number_argument(dtype, number);
}

double number_value(const Argument& number) {
  if (number.dtype == DType::Float64) return std::bit_cast<double>(number.bits);
  if (is_floating(number.dtype))
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(number.bits)));
  return static_cast<double>(static_cast<std::int64_t>(number.bits));
}

bool has_group_kernel(const Formula& formula, const WalkClass& walk, DeviceKind device, int lists) {
  return find_kernel(formula, head_of(walk, device, lists), walk.access_word()) != nullptr;
}

void note_foreign_call() { ++foreign_calls_made; }
std::size_t foreign_calls() { return foreign_calls_made; }

std::size_t group_kernels_made() { return kernels_made.load(std::memory_order_relaxed); }

LaunchObserver::LaunchObserver(std::vector<LaunchedGroup>& list) : before_(current_observed) {
  current_observed = &list;
}
LaunchObserver::~LaunchObserver() { current_observed = before_; }
std::vector<LaunchedGroup>* observed_launches() { return current_observed; }

EmulatedGroups::EmulatedGroups(const Target& target) { current_emulated = &target; }
EmulatedGroups::~EmulatedGroups() { current_emulated = nullptr; }
const Target* emulated_target() { return current_emulated; }

}  // namespace tilewright::graph
