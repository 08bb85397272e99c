// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/evaluate.cpp — programs are compiled together, run one by one in a child process,
// and what went wrong comes back through a pipe.
#include "evaluate.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/check.h"
#include "base/settings.h"
#include "codegen/cuda/emit.h"
#include "launch.h"
#include "tilewright/error.h"

namespace tilewright::fuzz {
namespace {

// After so many the rest of a batch is not tried again.
constexpr std::size_t most_crashes = 5;

// What a child tells: "begin PROGRAM PLACE" before a run, "failure PROGRAM PLACE KIND BYTES" and
// the message after it.
class Report {
 public:
  explicit Report(int descriptor) : out_(fdopen(descriptor, "w")) {}
  void begin(std::size_t program, Place place) {
    send(fmt::format("begin {} {}\n", program, static_cast<int>(place)));
  }
  void failure(std::size_t program, Place place, Failure::Kind kind, const std::string& message) {
    send(fmt::format("failure {} {} {} {}\n{}\n", program, static_cast<int>(place),
                     static_cast<int>(kind), message.size(), message));
  }

 private:
  void send(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
  }
  std::FILE* out_;
};

// The programs of a batch in the child.
class Batch {
 public:
  Batch(const std::vector<Program>& programs, const EvaluateOptions& options, Report& report)
      : programs_(programs), options_(options), report_(report) {}

  void run(const std::vector<bool>& skipped) {
    std::vector<std::size_t> left;
    launches_.resize(programs_.size());
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      if (skipped[i]) continue;
      report_.begin(i, Place::Interpreter);
      guarded(i, Place::Interpreter, Failure::Kind::Refused, [&] {
        launches_[i] = std::make_unique<Launch>(programs_[i]);
        left.push_back(i);
      });
    }
    for (const Place place : options_.places) {
      if (place == Place::Laid) run_laid(left);
      else run_at(place, left);
    }
  }

 private:
  template <class Body>
  bool guarded(std::size_t program, Place place, Failure::Kind kind, const Body& body) {
    try {
      body();
      return true;
    } catch (const CompileError& error) {
      report_.failure(program, place, Failure::Kind::NoCompile, error.what());
    } catch (const std::exception& error) {
      report_.failure(program, place, kind, error.what());
    }
    return false;
  }

  void run_laid(const std::vector<std::size_t>& programs) {
    for (const std::size_t i : programs) {
      report_.begin(i, Place::Laid);
      guarded(i, Place::Laid, Failure::Kind::Fault, [&] {
        const std::string wrong = launches_[i]->run_laid();
        if (!wrong.empty()) report_.failure(i, Place::Laid, Failure::Kind::Differs, wrong);
      });
    }
  }

  // Texts that are compiled with the same flags, and whose headers of one name are one, are one
  // text.
  void run_at(Place place, const std::vector<std::size_t>& programs) {
    std::vector<std::vector<std::size_t>> groups;
    sources_.assign(programs_.size(), {});
    for (const std::size_t i : programs)
      guarded(i, place, Failure::Kind::Refused, [&] {
        report_.begin(i, place);
        sources_[i] = launches_[i]->source_for(place);
        if (options_.tamper) options_.tamper(place, sources_[i]);
        const auto fits = [&](const std::vector<std::size_t>& group) {
          return std::all_of(group.begin(), group.end(), [&](std::size_t other) {
            return can_merge(sources_[other], sources_[i]);
          });
        };
        const auto group = std::find_if(groups.begin(), groups.end(), fits);
        if (group != groups.end()) group->push_back(i);
        else groups.push_back({i});
      });
    for (const std::vector<std::size_t>& group : groups) run_group(place, group);
  }

  void run_group(Place place, const std::vector<std::size_t>& group) {
    std::optional<Module> module;
    try {
      module = load(place, group);
    } catch (const Error&) {
      if (group.size() > 1) {  // by halves: one of them is alone in the end
        const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
        run_group(place, {group.begin(), middle});
        run_group(place, {middle, group.end()});
        return;
      }
    }
    for (const std::size_t i : group) {
      report_.begin(i, place);
      guarded(i, place, Failure::Kind::Fault, [&] {
        if (!module) module = load(place, group);  // throws again
        const std::string wrong = launches_[i]->run(module->function(programs_[i].name));
        if (!wrong.empty()) report_.failure(i, place, Failure::Kind::Differs, wrong);
      });
    }
  }

  Module load(Place place, const std::vector<std::size_t>& group) const {
    std::vector<KernelSource> sources;
    for (const std::size_t i : group) sources.push_back(sources_[i]);
    KernelSource merged = merge(sources);
    if (place == Place::Emulated) merged = emulate_source(merged);
    // Emulated text is run once: compiling it with -O1 takes three times as long.
    if (place == Place::Emulated)
      std::replace(merged.options.begin(), merged.options.end(), std::string("-O1"),
                   std::string("-O0"));
    return Module::load(merged, Device::cpu());
  }

  const std::vector<Program>& programs_;
  const EvaluateOptions& options_;
  Report& report_;
  std::vector<std::unique_ptr<Launch>> launches_;
  std::vector<KernelSource> sources_;
};

struct ChildResult {
  std::vector<Failure> failures;
  std::optional<Failure> crash;
};

void parse_report(const std::string& text, ChildResult& result, Failure& last) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    Failure failure;
    int place = 0;
    in >> failure.program >> place;
    failure.place = static_cast<Place>(place);
    if (word == "begin") {
      last = failure;
      continue;
    }
    int kind = 0;
    std::size_t size = 0;
    in >> kind >> size;
    in.get();
    failure.kind = static_cast<Failure::Kind>(kind);
    failure.message.resize(size);
    in.read(failure.message.data(), static_cast<std::streamsize>(size));
    result.failures.push_back(std::move(failure));
  }
}

std::string read_all(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t count = 0; (count = read(descriptor, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(count));
  close(descriptor);
  return text;
}

ChildResult run_child(const std::vector<Program>& programs, const EvaluateOptions& options,
                      const std::vector<bool>& skipped) {
  int ends[2];
  TW_CHECK(pipe(ends) == 0, "no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  TW_CHECK(child >= 0, "no process");
  if (child == 0) {
    close(ends[0]);
    alarm(options.seconds);
    Settings checked = settings();
    checked.emulate_check = true;
    const SettingsOverride with_checks(checked);
    Report report(ends[1]);
    Batch(programs, options, report).run(skipped);
    _exit(0);
  }
  close(ends[1]);
  ChildResult result;
  Failure last;
  parse_report(read_all(ends[0]), result, last);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return result;
  last.kind = Failure::Kind::Crash;
  last.message = WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM
                                           ? fmt::format("did not end within {} s", options.seconds)
                                           : fmt::format("ended by signal {}", WTERMSIG(status))
                                     : fmt::format("ended with status {}", WEXITSTATUS(status));
  result.crash = last;
  return result;
}

}  // namespace

std::string_view name_of(Place place) {
  constexpr std::string_view names[] = {"interpreter", "cpu", "emulated", "laid"};
  return names[static_cast<std::size_t>(place)];
}

std::string_view name_of(Failure::Kind kind) {
  constexpr std::string_view names[] = {"refused", "does not compile", "fault", "differs", "crash"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<Failure> evaluate(const std::vector<Program>& programs,
                              const EvaluateOptions& options) {
  std::vector<bool> skipped(programs.size(), false);
  std::vector<Failure> crashes;
  while (true) {
    ChildResult result = run_child(programs, options, skipped);
    if (!result.crash) {
      result.failures.insert(result.failures.end(), crashes.begin(), crashes.end());
      return result.failures;
    }
    skipped[result.crash->program] = true;
    crashes.push_back(*result.crash);
    if (crashes.size() >= most_crashes) return crashes;
  }
}

}  // namespace tilewright::fuzz
