// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/services.cpp — the table of services.
#include "runtime/cpu/services.h"

#include "codegen/device_lib/emulate/fibers.h"
#include "runtime/cpu/communicating.h"
#include "runtime/cpu/large_results.h"

namespace tilewright {
namespace {

void fail(const char* message) { throw ProgramFailure{message ? message : "no reason given"}; }

}  // namespace

const TwCpuServices& cpu_services() {
  static const TwCpuServices services = {.size = sizeof(TwCpuServices),
                                         .fail = fail,
                                         .emulation = emulation_services(),
                                         .give_way = give_way,
                                         .stream = stream,
                                         .end_row = end_row,
                                         .begin_row = begin_row};
  return services;
}

}  // namespace tilewright
