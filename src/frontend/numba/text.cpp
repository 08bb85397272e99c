// SPDX-License-Identifier: Apache-2.0
// frontend/numba/text.cpp — the whole text of a kernel: helpers, device functions, the kernel.
#include "frontend/numba/text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "frontend/numba/externals.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

// Callees before their callers.
void add_instance(const Instance& instance, std::vector<const Instance*>& order) {
  if (std::find(order.begin(), order.end(), &instance) != order.end()) return;
  for (const Instance* callee : instance.callees) add_instance(*callee, order);
  if (std::find(order.begin(), order.end(), &instance) == order.end()) order.push_back(&instance);
}

std::string types_text(const std::vector<Type>& types) {
  std::vector<std::string> texts;
  for (const Type& type : types) texts.push_back(text_of(type));
  return fmt::format("{}", fmt::join(texts, ", "));
}

const char* const cuda_preamble =
    "#define TW_FUNCTION static __device__ inline\n#define TW_MATH(name) name\n";
// Constants of floats are written with CUDA's functions.
const char* const loop_preamble =
    R"(#define TW_FUNCTION TW_ALWAYS static inline
#define TW_MATH(name) __builtin_##name
TW_FUNCTION float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
TW_FUNCTION double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }
// Which thread of which block runs.
struct TwIndex {
  long long x, y, z;
};
struct TwThread {
  TwIndex threadIdx, blockIdx, blockDim, gridDim;
};
)";

// CUDA's names for what device_lib/cpu has.
const char* const loop_halves = R"(typedef f16 __half;
TW_ALWAYS static inline float __half2float(f16 x) { return tw::to_f32(x); }
TW_ALWAYS static inline f16 __float2half(float x) { return tw::to_f16(x); }
TW_ALWAYS static inline f16 __double2half(double x) { return tw::to_f16(x); }
)";

bool is_true(const Node* node) {
  const auto* value = cast_if<BoolLiteral>(node);
  return value != nullptr && value->value;
}

}  // namespace

JitKind jit_kind(ModuleLoader& loader, const LoadedModule& module, const FunctionDef& function) {
  JitKind kind;
  for (const Node* decorator : function.decorators) {
    const auto* call = cast_if<Call>(decorator);
    const Node* const callee = call != nullptr ? call->function : decorator;
    const std::string name = without_package(loader.resolve(module, callee).external);
    if (name != "cuda.jit" && name != "jit" && name != "njit" && name != "cuda.cuda.jit" &&
        name != "cuda.declare_device")
      continue;
    kind.is_jit = true;
    kind.is_cuda = name.starts_with("cuda.");
    if (call == nullptr) continue;
    for (const Node* each : call->keywords) {
      const auto& keyword = cast<Keyword>(each);
      kind.is_device |= keyword.name == "device" && is_true(keyword.value);
      kind.is_fastmath |= keyword.name == "fastmath" && is_true(keyword.value);
    }
  }
  return kind;
}

KernelText write_kernel(const KernelRequest& request) {
  Program program(request.loader, request.dialect);
  program.active.push_back(&request.function);
  program.is_narrow = request.is_narrow;
  program.are_apart = request.are_apart;
  program.is_emulated = request.is_emulated;
  const bool is_loop = request.dialect == Dialect::Loop;
  FunctionWriter writer(program, request.module, request.function, request.arguments,
                        std::vector<bool>(request.arguments.size(), false));
  KernelText out;
  writer.write_kernel(out, request.name);
  out.needs_threads = program.needs_threads;
  out.is_cooperative = program.is_cooperative;
  out.uses_fast_math = jit_kind(request.loader, request.module, request.function).is_fastmath;
  std::vector<const Instance*> order;
  for (const Instance* callee : writer.callees) add_instance(*callee, order);
  std::set<std::string> helpers = writer.helpers;
  std::string functions;
  for (const Instance* instance : order) {
    helpers.insert(instance->helpers.begin(), instance->helpers.end());
    functions += instance->text + "\n";
  }
  out.uses_math = helpers.contains("math");
  // By name: the order of nodes is another one in every process.
  std::set<std::string> arrays;
  for (const auto& [node, array] : program.frozen)
    arrays.insert(array.declaration(request.dialect));
  const std::string texts = helper_texts(helpers);
  out.uses_half = identifiers_in(functions + out.text).contains("__half");
  std::string head =
      cpp_comment(fmt::format("Kernel {} of {} for ({}).", request.name,
                              request.module.tree->source.file, types_text(request.arguments))) +
      "\n";
  if (out.is_cooperative && !request.is_emulated) head += "#include <cooperative_groups.h>\n";
  if (out.uses_half) head += is_loop ? loop_halves : "#include <cuda_fp16.h>\n";
  if (is_loop) head += loop_preamble;
  // The checks of the emulation know by this name that these lines are not the user's.
  else if (!texts.empty()) head += line_directive(1, "tilewright/numba_helpers") + cuda_preamble;
  out.text = head + texts + "\n" + fmt::format("{}", fmt::join(arrays, "")) + functions + out.text;
  return out;
}

}  // namespace tilewright::numba
