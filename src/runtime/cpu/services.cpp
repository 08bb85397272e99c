// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/services.cpp — the table of services.
#include "runtime/cpu/services.h"

namespace tilewright {
namespace {

void fail(const char* message) { throw ProgramFailure{message ? message : "no reason given"}; }

void run_block(const TwCpuLaunch*, void (*)(void*), void*, std::uint64_t) {
  fail("CUDA source is not emulated in this build");
}

}  // namespace

const TwCpuServices& cpu_services() {
  static const TwCpuServices services = {
      .size = sizeof(TwCpuServices), .fail = fail, .run_block = run_block};
  return services;
}

}  // namespace tilewright
