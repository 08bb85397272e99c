// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_target.cpp — questions about the machine, and what only tunes launches.
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

// Kernels that choose by target get the paths for Hopper, on every device.
constexpr std::int64_t capability = 90;

Value yes(Call&) { return Value::boolean(true); }
Value no(Call&) { return Value::boolean(false); }

Value capability_geq(Call& call) {
  return Value::boolean(capability >= call.integer("major") * 10 + call.integer("minor"));
}

constexpr BuiltinRow target_rows[] = {
    {"is_cuda", "", yes},       {"is_hip", "", no},
    {"is_hip_cdna3", "", no},   {"is_hip_cdna4", "", no},
    {"is_hip_gfx1250", "", no}, {"cuda_capability_geq", "major, minor=0", capability_geq},
};

// Launches that overlap are not used, so there is nothing to wait for.
Value ignored(Call& call) {
  call.host.note(call.name + " has no effect: launches do not overlap here");
  return {};
}

// Numbers of the launch, which are constants here.
Value warps(Call& call) { return Value::integer(call.host.num_warps()); }
Value threads(Call& call) { return Value::integer(32 * call.host.num_warps()); }

constexpr BuiltinRow cuda_rows[] = {
    {"num_threads", "", threads},
    {"num_warps", "", warps},
    {"gdc_wait", "", ignored},
    {"gdc_launch_dependents", "", ignored},
};

}  // namespace

std::span<const BuiltinRow> target_builtins() { return target_rows; }
std::span<const BuiltinRow> cuda_builtins() { return cuda_rows; }

}  // namespace tilewright::triton
