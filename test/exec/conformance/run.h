// SPDX-License-Identifier: Apache-2.0
// conformance/run.h — the places where kernels run, and one run of a case at a place.
#pragma once

#include <string>
#include <vector>

#include "case.h"

namespace tilewright::conformance {

enum class Place : std::uint8_t {
  Interpreter,  // over buffers that end with their last element: finds what lies outside
  Cpu,
  Emulated,  // the text for sm_90a, thread by thread on the CPU
  Cuda,
  Sm80,  // only compiled
  Sm90a,
  Laid,  // interpreted in the sweeps of the CPU and of sm_90a
  Wide,  // the text for wide_machine.h, emulated with its warps of 64 lanes, and its sweeps
};
inline constexpr Place all_places[] = {Place::Interpreter, Place::Cpu,  Place::Emulated,
                                       Place::Cuda,        Place::Sm80, Place::Sm90a,
                                       Place::Laid,        Place::Wide};
std::string place_name(Place place);

// Why nothing can run there on this machine; empty when it can.
std::string why_not(Place place);

// Runs the case and its references; returns every disagreement as a line, none when all is well.
std::vector<std::string> run_case(const Family& family, const Case& one, Place place);

}  // namespace tilewright::conformance
