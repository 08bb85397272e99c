// SPDX-License-Identifier: Apache-2.0
// cli/stepper.h — runs a launch line by line, as commands say.
//
// The stepper watches the interpreter and reads commands whenever it stands at the first op of a
// line. Going back is running the program again up to an earlier op, from the last checkpoint
// before it (step_history.h), with memory as it was then: an undo list keeps what each write
// replaced.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/step_history.h"
#include "cli/step_source.h"
#include "compiler/launch_watch.h"
#include "frontend/triton/value.h"
#include "ir/interpret/program.h"
#include "ir/interpret/watch.h"

namespace tilewright::cli {

class Stepper final : public LaunchWatch, private ir::Watch {
 public:
  using Constants = std::vector<std::pair<std::string, triton::Value>>;
  // `read` gives the next command, false at the end. `write` gets lines.
  struct Terminal {
    std::function<bool(std::string&)> read;
    std::function<void(const std::string&)> write;
    std::function<void()> begins = {};  // the source is known now, and breakpoints have moved
  };
  Stepper(Terminal terminal, Constants constants)
      : terminal_(std::move(terminal)), constants_(std::move(constants)) {}

  // ---- For whoever reads commands by a program (step_dap.h), while it stands still
  struct Frame {
    std::string function;
    std::string file;
    int line = 0;
  };
  struct Breakpoint {
    int line = 0;
    std::string condition;
  };
  std::vector<Frame> frames() const;                                   // innermost first
  std::vector<std::pair<std::string, std::string>> variables() const;  // names and texts
  std::string value_of(const std::string& expression);                 // throws Error
  // Commands and names that begin as the last word of `before` does, in order.
  std::vector<std::string> completions(const std::string& before) const;
  std::string program_name() const;                                // "program (0, 0, 0)"
  const std::string& stop_reason() const { return stop_reason_; }  // empty: a step
  void set_breakpoints(std::vector<Breakpoint> breakpoints);
  const std::vector<Breakpoint>& breakpoints() const { return breakpoints_; }
  void run_at_first() { goal_ = Goal::Continue; }  // else it stops at the first line

  void run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
           std::span<const ir::InterpretArgument> arguments, ir::InterpretOptions options) override;

 private:
  enum class Goal { Next, Into, Out, Continue, Time, Program, Nothing };
  struct Watched {
    std::string name;
    std::vector<ir::Element> last;
    bool is_known = false;
  };
  struct Undo {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  // the old content
    std::size_t size = 0;
  };
  struct Rewind {};  // thrown out of the interpreter
  struct Quit {};

  // ---- ir::Watch
  void begins(const ir::Program& program, std::int64_t number) override;
  void before(const ir::Program& program, const ir::Op& op) override;
  bool takes_interrupts() const override { return true; }
  void after(const ir::Program& program, const ir::Op& op) override;
  void moves(std::span<const ir::Value> to, std::span<const ir::Value> from) override;
  bool lets_pass(const ir::Program& program, const ir::Op& op, const std::string& problem) override;

  bool enter(const ir::Op& op);  // keeps the calls that are under way; false: the rest of a line
  bool should_stop(bool is_new_line);
  bool breaks_here();
  void keep_for_undo(const ir::Program& program, const ir::Op& op);
  void note_value(ir::Value value);
  void check_watched();
  void know_watched();  // as they are now
  void undo_to(std::size_t writes);
  // Memory as it was where the run begins again: at a checkpoint, a program, or the launch.
  void rewind(std::span<const ir::InterpretBuffer> buffers, ir::InterpretOptions& options);

  // ---- Commands (step_commands.cpp)
  void stop();                         // shows the place and obeys commands until one goes on
  bool obey(const std::string& line);  // true: goes on
  void show_place(int around);
  void add_breakpoint(const std::string& text);
  void add_watch(const std::string& name);
  void print(const std::string& expression);
  void heat(const std::string& expression);
  void locals();
  void where();
  void back();
  bool go_to_program(const std::string& text);
  // Names, slices of names, and Triton expressions over both. Throws Error.
  ir::Tile evaluate(const std::string& expression);
  ir::Tile evaluate_expression(const std::string& expression);
  const ir::Tile* named(const std::string& name) const;
  void say(const std::string& line) const { terminal_.write(line); }

  Terminal terminal_;
  Constants constants_;
  const ir::Kernel* kernel_ = nullptr;
  std::optional<StepSource> source_;
  std::int64_t grid_[3] = {1, 1, 1};

  // ---- Where it stands
  const ir::Program* program_ = nullptr;
  const ir::Op* op_ = nullptr;
  std::int64_t number_ = 0;
  StepPlace at_;
  std::vector<std::int64_t> line_times_;
  StepHistory history_{StepHistory::Limits{}};

  // ---- Where it goes
  Goal goal_ = Goal::Into;
  std::size_t goal_depth_ = 0;
  std::int64_t goal_time_ = 0;
  std::int64_t goal_program_ = 0;
  std::vector<Breakpoint> breakpoints_;
  std::vector<Watched> watched_;
  std::string reason_;
  std::string stop_reason_;
  std::string last_command_;

  // ---- Memory
  std::vector<Undo> undo_;
  std::vector<std::vector<std::byte>> initial_;
  bool restores_all_ = false;
  const StepMark* resumed_ = nullptr;
};

}  // namespace tilewright::cli
