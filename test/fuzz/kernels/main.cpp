// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/main.cpp — random_kernels: generated kernels must give the same on the interpreter,
// the CPU and in checked emulation of their CUDA text.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "generate.h"
#include "keep.h"
#include "minimise.h"
#include "roles.h"

namespace tilewright::fuzz {
namespace {

constexpr const char* usage =
    "random_kernels [--first SEED] [--count N] [--batch N] [--kinds A,B] [--without A,B]\n"
    "               [--places laid,cpu,emulated] [--attempts N] [--failures N] [--roles] "
    "[--print] [--keep DIR]\n"
    "Generates kernels with the seeds SEED to SEED + N - 1, runs them on the interpreter and at "
    "each\n"
    "place, and prints those that differ, made smaller in at most --attempts steps. Stops after\n"
    "--failures of them. --without leaves kinds of statements out, --kinds all others.\n"
    "--keep: only interprets, and writes each kernel with its memory to a folder under DIR.\n"
    "--roles: kernels that can have a producer and consumers (TILEWRIGHT_EXTRA_PASSES).\n";

struct Settings {
  unsigned first = 0;
  unsigned count = 100;
  unsigned batch = 50;
  Kinds kinds = Kinds::all();
  EvaluateOptions evaluate;
  int attempts = 60;
  std::size_t failures = 5;
  bool has_roles = false;
  bool prints = false;
  std::string keep;  // nothing else is done
};

unsigned number(const char* text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text == '\0' || *end != '\0')
    throw std::invalid_argument(fmt::format("'{}' is no number", text));
  return static_cast<unsigned>(value);
}

std::vector<Place> parse_places(const std::string& text) {
  std::vector<Place> places;
  if (text.find("laid") != std::string::npos) places.push_back(Place::Laid);
  if (text.find("cpu") != std::string::npos) places.push_back(Place::Cpu);
  if (text.find("emulated") != std::string::npos) places.push_back(Place::Emulated);
  if (places.empty())
    throw std::invalid_argument(fmt::format("'{}' names no place: laid, cpu, emulated", text));
  return places;
}

void set(Settings& settings, const std::string& option, const char* value) {
  if (option == "--first") settings.first = number(value);
  else if (option == "--count") settings.count = number(value);
  else if (option == "--batch") settings.batch = std::max(1u, number(value));
  else if (option == "--attempts") settings.attempts = static_cast<int>(number(value));
  else if (option == "--failures") settings.failures = number(value);
  else if (option == "--keep") settings.keep = value;
  else if (option == "--places") settings.evaluate.places = parse_places(value);
  else if (option == "--kinds") settings.kinds = parse_kinds(value);
  else if (option == "--without") {
    const Kinds without = parse_kinds(value);
    for (int i = 0; i < kind_count; ++i)
      if (without.has(static_cast<Kind>(i))) settings.kinds.set(static_cast<Kind>(i), false);
  } else throw std::invalid_argument(fmt::format("there is no option '{}'\n{}", option, usage));
}

Settings parse(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "--print") settings.prints = true;
    else if (option == "--roles") settings.has_roles = true;
    else if (i + 1 == count)
      throw std::invalid_argument(fmt::format("'{}' needs a value\n{}", option, usage));
    else set(settings, option, arguments[++i]);
  }
  return settings;
}

void print_failure(const Program& program, const Failure& failure) {
  fmt::print("{}: {}: {}\n{}\n{}\n", name_of(failure.place), name_of(failure.kind), failure.message,
             launch_of(program), source_of(program));
}

void report(const Program& program, const Failure& failure, const Settings& settings) {
  fmt::print("=== seed {} fails\n", program.seed);
  print_failure(program, failure);
  const Minimised smaller = minimise(program, failure, settings.evaluate, settings.attempts);
  fmt::print("--- seed {}, {} of {} statements\n", program.seed,
             statement_count(smaller.program.body), statement_count(program.body));
  print_failure(smaller.program, smaller.failure);
  std::fflush(stdout);
}

int run(const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  std::size_t failed = 0;
  unsigned tried = 0;
  while (tried < settings.count && failed < settings.failures) {
    std::vector<Program> programs;
    for (; tried < settings.count && programs.size() < settings.batch; ++tried)
      programs.push_back(settings.has_roles ? generate_roles(settings.first + tried)
                                            : generate(settings.first + tried, settings.kinds));
    if (settings.prints)
      for (const Program& program : programs)
        fmt::print("# {}\n{}\n", launch_of(program), source_of(program));
    if (!settings.keep.empty()) {
      for (const Program& program : programs) keep(program, settings.keep);
      continue;
    }
    std::vector<bool> reported(programs.size(), false);
    for (const Failure& failure : evaluate(programs, settings.evaluate)) {
      if (reported[failure.program] || failed >= settings.failures) continue;
      reported[failure.program] = true;
      ++failed;
      report(programs[failure.program], failure, settings);
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{} kernels from seed {}, {} failed, {:.1f} s\n", tried, settings.first, failed,
             seconds.count());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::fuzz

int main(int count, char** arguments) {
  try {
    return tilewright::fuzz::run(tilewright::fuzz::parse(count, arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_kernels: {}\n", error.what());
    return 2;
  }
}
