// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/try_kernel.cpp — one attempt after another.
#include "compiler/triton/guess/try_kernel.h"

#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/log.h"
#include "base/text.h"
#include "compiler/triton/compile.h"
#include "runtime/compile.h"

namespace tilewright {
namespace {

void attempt(python::ModuleLoader& loader, const python::DecoratedFunction& function,
             const Guess& guess, const Target& target, GuessStage stage) {
  const KernelOptions options{.num_warps = guess.num_warps, .num_stages = guess.num_stages};
  check_options(function.name, options);
  const TileKernel kernel = lower_to_tiles(loader, function, guess.signature, target, options);
  if (stage == GuessStage::Ir) return;
  const KernelSource source = emit_source(loader, kernel, target, options);
  if (stage == GuessStage::Binary) static_cast<void>(compile(source, target));
}

}  // namespace

std::string one_line(const std::exception& error) {
  if (const auto* located = dynamic_cast<const SyntaxOrTypeError*>(&error)) {
    const Diagnostic& d = located->diagnostic();
    return fmt::format("{}:{}:{}: {}", d.file, d.span.line, d.span.column, d.message);
  }
  return first_line(error.what());
}

TryOutcome try_kernel(python::ModuleLoader& loader, Guesser& guesser,
                      const python::DecoratedFunction& function, const Target& target,
                      GuessStage stage) {
  TryOutcome outcome;
  std::optional<std::string> last;
  for (const GuessChoices& choices : guess_choices()) {
    try {
      python::Evaluator evaluator(loader, {.facts = facts_of(target)});
      const Guess guess = guesser.guess(function, choices, facts_of(target));
      const std::string text =
          signature_text(read_parameters(loader, evaluator, function), guess.signature);
      if (text == last) continue;  // these choices change nothing
      last = text;
      if (outcome.signature.empty()) outcome.signature = text;
      attempt(loader, function, guess, target, stage);
      return {.ok = true, .reason = "", .signature = text};
    } catch (const MissingError& error) {
      return {.ok = false, .reason = first_line(error.what()), .signature = outcome.signature};
    } catch (const std::exception& error) {
      const std::string reason = one_line(error);
      log_line("guess", fmt::format("{} with {}: {}", function.name, choices.name, reason));
      if (outcome.reason.empty()) outcome.reason = reason;
    }
  }
  return outcome;
}

}  // namespace tilewright
