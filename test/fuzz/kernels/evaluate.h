// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/evaluate.h — generated kernels on the interpreter, in the sweeps of both targets, on
// the CPU and as checked emulation of their CUDA text; what differs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program.h"
#include "tilewright/kernel_source.h"

namespace tilewright::fuzz {

enum class Place : std::uint8_t {
  Interpreter,
  Cpu,
  Emulated,
  Laid,  // interpreted at the Laid stage, as scheduled for a CPU and for CUDA
};
std::string_view name_of(Place place);

struct Failure {
  enum class Kind : std::uint8_t {
    Refused,    // by the interpreter or the compiler: a sentence
    NoCompile,  // the generated text
    Fault,      // an error while it ran: a race, threads that part, a bound
    Differs,    // from the interpreter
    Crash,      // the process ended
  };
  std::size_t program = 0;
  Place place = Place::Interpreter;
  Kind kind = Kind::Refused;
  std::string message;
};
std::string_view name_of(Failure::Kind kind);

struct EvaluateOptions {
  std::vector<Place> places = {Place::Laid, Place::Cpu, Place::Emulated};
  unsigned seconds = 300;  // for all programs together
  // Changes the generated text before it is compiled: for planted bugs.
  std::function<void(Place, KernelSource&)> tamper = {};
};

// Each program at each place, the programs of one call compiled as one text. In a process of its
// own: a crash is that of one program, the others are run again without it (five times at most).
std::vector<Failure> evaluate(const std::vector<Program>& programs, const EvaluateOptions& options);

}  // namespace tilewright::fuzz
