// SPDX-License-Identifier: Apache-2.0
// fuzz/mutants/main.cpp — find_mutants: which of the compiler's mutants random kernels notice.
//
// Only kernels whose text a mutant changes are compiled and run. Without mutants in the build
// (scripts/mutants makes one that has them) no text changes and none is found.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "../kernels/generate.h"
#include "../kernels/launch.h"
#include "base/check.h"

namespace tilewright::fuzz {
namespace {

constexpr const char* variable = "TILEWRIGHT_MUTANT";  // read by the mutants' build
constexpr std::size_t tried_together = 8;              // kernels with another text, in one compile

struct Search {
  unsigned first = 0;
  unsigned count = 2000;
  unsigned batch = 25;
  std::vector<std::string> mutants;  // not found yet
  std::vector<std::size_t> changed;  // by mutant: kernels with another text so far
};

// Mutants of passes are written "passes:NAME"; for the others kernels are lowered once.
bool is_of_passes(std::string_view mutant) { return mutant.starts_with("passes:"); }

std::string name_of_mutant(const std::string& mutant) {
  return mutant.substr(mutant.find(':') + 1);
}

class Texts {
 public:
  explicit Texts(const Program& program) : launch_(program) {
    for (const Place place : {Place::Cpu, Place::Emulated})
      lowered_.push_back(launch_.lower(place));
    right_ = whole(false);
  }
  bool changes(bool is_lowered_again) { return whole(is_lowered_again) != right_; }

 private:
  // Of both places, headers included; the error when there is none.
  std::string whole(bool is_lowered_again) {
    std::string text;
    for (const Place place : {Place::Cpu, Place::Emulated}) {
      try {
        const std::size_t i = place == Place::Cpu ? 0 : 1;
        std::optional<TileKernel> again;
        if (is_lowered_again) again.emplace(launch_.lower(place));
        const KernelSource source = launch_.emit(place, again ? *again : lowered_[i]);
        text += source.text;
        for (const NamedFile& header : source.headers) text += header.text;
      } catch (const std::exception& error) {
        text += error.what();
      }
    }
    return text;
  }

  Launch launch_;
  std::vector<TileKernel> lowered_;
  std::string right_;
};

// "MUTANT PROGRAM" for every text that differs, "MUTANT -1" once a mutant has been through all.
void write_changes(const std::vector<Program>& programs, const std::vector<std::string>& mutants,
                   int descriptor) {
  std::FILE* out = fdopen(descriptor, "w");
  std::vector<std::unique_ptr<Texts>> texts;
  for (const Program& program : programs) texts.push_back(std::make_unique<Texts>(program));
  for (std::size_t m = 0; m < mutants.size(); ++m) {
    setenv(variable, name_of_mutant(mutants[m]).c_str(), 1);
    for (std::size_t i = 0; i < programs.size(); ++i)
      if (texts[i]->changes(is_of_passes(mutants[m]))) fmt::print(out, "{} {}\n", m, i);
    fmt::print(out, "{} -1\n", m);
    std::fflush(out);
  }
}

using Changes = std::vector<std::vector<std::size_t>>;  // by mutant: programs

// In a process of its own. A mutant that ends it has changed every program.
Changes find_changes(const std::vector<Program>& programs,
                     const std::vector<std::string>& mutants) {
  int ends[2];
  TW_CHECK(pipe(ends) == 0, "no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  TW_CHECK(child >= 0, "no process");
  if (child == 0) {
    close(ends[0]);
    alarm(600);
    write_changes(programs, mutants, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  std::FILE* in = fdopen(ends[0], "r");
  Changes changes(mutants.size());
  std::vector<bool> is_done(mutants.size(), false);
  int program = 0;
  for (std::size_t mutant = 0; std::fscanf(in, "%zu %d", &mutant, &program) == 2;) {
    if (program < 0) is_done[mutant] = true;
    else changes[mutant].push_back(static_cast<std::size_t>(program));
  }
  std::fclose(in);
  int status = 0;
  waitpid(child, &status, 0);
  for (std::size_t m = 0; m < mutants.size(); ++m) {
    if (is_done[m]) continue;
    changes[m].clear();
    for (std::size_t i = 0; i < programs.size(); ++i) changes[m].push_back(i);
  }
  return changes;
}

// The first of the changed kernels that fails, in words.
std::string first_failure(const std::string& mutant, const std::vector<Program>& programs,
                          const std::vector<std::size_t>& changed) {
  for (std::size_t at = 0; at < changed.size(); at += tried_together) {
    std::vector<Program> tried;
    for (std::size_t i = at; i < std::min(at + tried_together, changed.size()); ++i)
      tried.push_back(programs[changed[i]]);
    setenv(variable, name_of_mutant(mutant).c_str(), 1);
    const std::vector<Failure> failures = evaluate(tried, {});
    unsetenv(variable);
    const auto first =
        std::min_element(failures.begin(), failures.end(),
                         [](const Failure& a, const Failure& b) { return a.program < b.program; });
    if (first == failures.end()) continue;
    const std::string line = first->message.substr(0, first->message.find('\n'));
    return fmt::format("seed {}, {}: {}: {}", tried[first->program].seed, name_of(first->place),
                       name_of(first->kind), line);
  }
  return {};
}

void search_batch(Search& search, unsigned from, unsigned size) {
  std::vector<Program> programs;
  for (unsigned k = 0; k < size; ++k) programs.push_back(generate(from + k, Kinds::all()));
  const Changes changes = find_changes(programs, search.mutants);
  Search left = search;
  left.mutants.clear();
  left.changed.clear();
  for (std::size_t m = 0; m < search.mutants.size(); ++m) {
    const std::string found = first_failure(search.mutants[m], programs, changes[m]);
    if (!found.empty()) {
      fmt::print("{}: {}\n", name_of_mutant(search.mutants[m]), found);
      std::fflush(stdout);
      continue;
    }
    left.mutants.push_back(search.mutants[m]);
    left.changed.push_back(search.changed[m] + changes[m].size());
  }
  search = left;
}

int run(Search search) {
  search.changed.assign(search.mutants.size(), 0);
  for (unsigned done = 0; done < search.count && !search.mutants.empty(); done += search.batch) {
    fmt::print(stderr, "{} mutants left after {} kernels\n", search.mutants.size(), done);
    search_batch(search, search.first + done, std::min(search.batch, search.count - done));
  }
  for (std::size_t m = 0; m < search.mutants.size(); ++m)
    fmt::print("{}: not found by {} kernels, {} of which have another text\n",
               name_of_mutant(search.mutants[m]), search.count, search.changed[m]);
  return search.mutants.empty() ? 0 : 1;
}

Search parse(int count, char** arguments) {
  Search search;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (!argument.starts_with("--")) {
      search.mutants.push_back(argument);
      continue;
    }
    if (i + 1 == count) throw std::invalid_argument(fmt::format("'{}' needs a number", argument));
    const auto number = static_cast<unsigned>(std::strtoul(arguments[++i], nullptr, 10));
    if (argument == "--first") search.first = number;
    else if (argument == "--count") search.count = number;
    else if (argument == "--batch") search.batch = std::max(1u, number);
    else
      throw std::invalid_argument(fmt::format(
          "there is no option '{}': [--first SEED] [--count N] [--batch N] MUTANT...", argument));
  }
  return search;
}

}  // namespace
}  // namespace tilewright::fuzz

int main(int count, char** arguments) {
  try {
    return tilewright::fuzz::run(tilewright::fuzz::parse(count, arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "find_mutants: {}\n", error.what());
    return 2;
  }
}
