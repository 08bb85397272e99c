// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/trials.cpp — drafting in turn, compiling in parallel.
#include "compiler/triton/tune/trials.h"

#include <future>
#include <semaphore>

#include "compiler/triton/guess/try_kernel.h"
#include "compiler/launcher_header.h"
#include "runtime/module_key.h"

namespace tilewright {
namespace {

// Gives its place back when the compilation ends, however it ends.
class HeldRoom {
 public:
  explicit HeldRoom(std::counting_semaphore<>& room) : room_(room) {}
  ~HeldRoom() { room_.release(); }
  HeldRoom(const HeldRoom&) = delete;
  HeldRoom& operator=(const HeldRoom&) = delete;

 private:
  std::counting_semaphore<>& room_;
};

// Runs `work`; an error of the user's or a lack of memory is the config's own.
template <class Work>
void attempt(Trial& trial, ConfigOutcome& outcome, const Work& work) {
  const auto fail = [&](const Error& error) {
    trial.error = std::current_exception();
    outcome.skip(one_line(error));
  };
  try {
    work();
  } catch (const UserError& error) {
    fail(error);
  } catch (const OutOfMemory& error) {
    fail(error);
  }
}

void draft_trial(const LaunchRequest& request, Trial& trial, ConfigOutcome& outcome) {
  const std::lock_guard lock(request.state.mutex);
  // What is wrong with the launch itself is so for every config: that passes through.
  trial.resolved = resolve(request, &outcome.config);
  attempt(trial, outcome, [&] {
    trial.draft = draft(request, trial.resolved);
    trial.code = module_key(trial.draft.source).hex();
  });
}

void note_resources(const Trial& trial, ConfigOutcome& outcome, Device device) {
  if (!device.is_cuda()) return;
  const Function& function = trial.draft.specialization->function;
  const FunctionAttributes attributes = function.attributes();
  const std::int64_t dynamic_bytes = dynamic_shared_bytes(trial.draft.source);
  outcome.threads = 32 * trial.resolved.options.num_warps;
  outcome.registers = attributes.registers;
  outcome.local_bytes = attributes.local_bytes;
  outcome.shared_bytes = static_cast<std::int64_t>(attributes.shared_bytes) + dynamic_bytes;
  outcome.blocks_per_processor =
      function.blocks_per_processor(outcome.threads, static_cast<std::size_t>(dynamic_bytes));
}

}  // namespace

std::vector<Trial> make_trials(const LaunchRequest& request, std::vector<ConfigOutcome>& configs,
                               int threads, const std::function<void(std::size_t)>& progress,
                               const std::function<bool()>& is_over) {
  std::vector<Trial> trials(configs.size());
  std::counting_semaphore<> room(threads);
  std::vector<std::future<void>> compilations;  // the last to go: they use all of the above
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (configs[i].kind == ConfigOutcome::Kind::Skipped) continue;
    if (is_over()) break;
    progress(i);
    draft_trial(request, trials[i], configs[i]);
    if (trials[i].error) continue;
    room.acquire();
    compilations.push_back(std::async(std::launch::async, [&, i] {
      const HeldRoom held(room);
      attempt(trials[i], configs[i], [&] {
        load_draft(trials[i].draft, request.place.device);
        note_resources(trials[i], configs[i], request.place.device);
      });
    }));
  }
  for (std::future<void>& compilation : compilations) compilation.get();
  return trials;
}

}  // namespace tilewright
