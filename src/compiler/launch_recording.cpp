// SPDX-License-Identifier: Apache-2.0
// compiler/launch_recording.cpp — the list of a recording, and its launches once more.
#include "compiler/launch_recording.h"

#include "compiler/launch_key.h"
#include "compiler/run_launch.h"

namespace tilewright {

thread_local LaunchRecording* LaunchRecording::current_ = nullptr;

LaunchRecording::LaunchRecording(bool runs) : before_(current_), runs_(runs) { current_ = this; }
LaunchRecording::~LaunchRecording() { current_ = before_; }

void LaunchRecording::add(const std::string& kernel, const Specialization& specialization,
                          const Dim3& grid, std::span<const Argument> arguments) {
  RecordedLaunch launch{.kernel = &kernel, .specialization = &specialization, .grid = grid};
  launch.arguments.assign(arguments.begin(), arguments.end());
  for (const Argument& argument : arguments)
    launch.memory.push_back(argument.buffer != nullptr ? *argument.buffer : Buffer());
  launches.push_back(std::move(launch));
  // The arguments' own buffers may be on a stack that is about to go.
  RecordedLaunch& kept = launches.back();
  for (std::size_t i = 0; i < kept.arguments.size(); ++i)
    kept.arguments[i].buffer = kept.memory[i] ? &kept.memory[i] : nullptr;
}

void run_again(const RecordedLaunch& launch) {
  const Argument* passed[max_slots];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) passed[i] = &launch.arguments[i];
  const std::optional<Stream> current;
  run_launch({*launch.kernel,
              *launch.specialization,
              {passed, launch.arguments.size()},
              launch.grid,
              current},
             false);
}

}  // namespace tilewright
