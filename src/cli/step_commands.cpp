// SPDX-License-Identifier: Apache-2.0
// cli/step_commands.cpp — what can be typed while a kernel stands still.
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "cli/step_print.h"
#include "cli/stepper.h"
#include "frontend/triton/lower_value.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

constexpr const char* commands_help =
    "next (n)             the next line, over calls\n"
    "into (s)             the next line, into calls\n"
    "out (o)              until the function returns\n"
    "continue (c)         until a breakpoint, a change of a watched name, or the end\n"
    "back (b)             one line back\n"
    "break LINE [if E]    stop there, where E holds for an element\n"
    "watch NAME           stop when it changes\n"
    "program X,Y,Z        go to the beginning of a program\n"
    "print E (p)          a name, a slice x[0:4, 7], or a Triton expression: tl.sum(x) / n\n"
    "heat E               a tile as a map of characters\n"
    "locals, where, list  the names, the calls, the source\n"
    "quit (q)";

struct Command {
  std::string verb;
  std::string rest;
};

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

Command command_of(const std::string& line) {
  const std::size_t space = line.find_first_of(" \t");
  return {line.substr(0, space),
          space == std::string::npos ? std::string() : trimmed(line.substr(space))};
}

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

// The words of an expression that could be names of values.
std::set<std::string> words_in(const std::string& expression) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    while (end < expression.size() && is_name(expression.substr(at, end - at + 1))) ++end;
    if (end > at && (at == 0 || expression[at - 1] != '.'))
      words.insert(expression.substr(at, end - at));
    at = end == at ? at + 1 : end;
  }
  return words;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void Stepper::stop() {
  if (std::exchange(goal_, Goal::Nothing) == Goal::Time) know_watched();
  history_.pause();
  if (!reason_.empty()) say(reason_);
  stop_reason_ = std::exchange(reason_, "");
  show_place(0);
  std::string line;
  while (terminal_.read(line)) {
    line = trimmed(line);
    if (line.empty()) line = last_command_;
    if (line.empty() || line.starts_with('#')) continue;
    last_command_ = line;
    try {
      if (obey(line)) return history_.go_on();
    } catch (const Error& error) {
      say(error.what());
    }
  }
  throw Quit{};
}

bool Stepper::obey(const std::string& line) {
  const auto [verb, rest] = command_of(line);
  const auto goes = [&](Goal goal) {
    goal_ = goal;
    goal_depth_ = at_.calls.size();
    return true;
  };
  if (verb == "next" || verb == "n") return goes(Goal::Next);
  if (verb == "into" || verb == "s") return goes(Goal::Into);
  if (verb == "out" || verb == "o") return goes(Goal::Out);
  if (verb == "continue" || verb == "c") return goes(Goal::Continue);
  if (verb == "quit" || verb == "q") throw Quit{};
  if (verb == "program") return go_to_program(rest);
  if (verb == "back" || verb == "b") back();
  else if (verb == "break") add_breakpoint(rest);
  else if (verb == "watch") add_watch(rest);
  else if (verb == "print" || verb == "p") print(rest);
  else if (verb == "heat") heat(rest);
  else if (verb == "locals") locals();
  else if (verb == "where") where();
  else if (verb == "list" || verb == "l") show_place(4);
  else if (verb == "help" || verb == "h") say(commands_help);
  else say(fmt::format("there is no command '{}'; help lists them", verb));
  return false;
}

void Stepper::show_place(int around) {
  const int line = op_->location.line;
  if (around == 0)
    say(fmt::format("program ({}), {}:{}", fmt::join(program_->id(), ", "),
                    printable(source_->file_name(op_->location.file)), line));
  for (int number = std::max(1, line - around); number <= line + around; ++number) {
    const std::string text = source_->line(op_->location.file, number);
    if (number == line || !text.empty())
      say(fmt::format("{} {:4} {}", number == line ? "->" : "  ", number, text));
  }
}

void Stepper::add_breakpoint(const std::string& text) {
  const std::size_t space = text.find(' ');
  const std::optional<std::int64_t> wanted = integer_of(text.substr(0, space));
  std::string condition = space == std::string::npos ? std::string() : trimmed(text.substr(space));
  if (!wanted || (!condition.empty() && !condition.starts_with("if ")))
    throw ArgumentError("write break LINE, or break LINE if EXPRESSION");
  if (!condition.empty()) condition = trimmed(condition.substr(3));
  const int line = source_->line_from(static_cast<int>(*wanted));
  if (line == 0) throw ArgumentError(fmt::format("no line from {} on does anything", *wanted));
  if (line != *wanted)
    say(fmt::format("line {} does nothing by itself; the breakpoint is at line {}", *wanted, line));
  breakpoints_.push_back({line, condition});
  say(fmt::format("breakpoint at line {}{}", line, condition.empty() ? "" : " if " + condition));
}

void Stepper::add_watch(const std::string& name) {
  if (!is_name(name)) throw ArgumentError("write watch NAME");
  Watched watched{name, {}, false};
  if (const ir::Tile* const tile = named(name)) {
    watched.last = tile->elements;
    watched.is_known = true;
  }
  watched_.push_back(std::move(watched));
  say(fmt::format("'{}' is watched", name));
}

void Stepper::print(const std::string& expression) {
  if (expression.empty()) throw ArgumentError("write print NAME, or print EXPRESSION");
  for (const auto& [name, value] : constants_)
    if (name == expression)
      return say(fmt::format("{} = {}", name, triton::describe(*kernel_, value)));
  say(fmt::format("{} = {}", expression, tile_text(evaluate(expression))));
}

void Stepper::heat(const std::string& expression) {
  if (expression.empty()) throw ArgumentError("write heat NAME");
  say(heat_map(evaluate(expression)));
}

std::vector<std::pair<std::string, std::string>> Stepper::variables() const {
  std::set<std::string> seen;
  for (const ir::KernelArgument& argument : kernel_->arguments)
    seen.insert(kernel_->name_of(argument.value));
  for (const auto& [key, value] : at_.names)
    if (key.first == at_.calls.back()) seen.insert(key.second);
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& name : seen)
    if (const ir::Tile* const tile = named(name)) all.emplace_back(name, tile_text(*tile));
  return all;
}

std::vector<std::string> Stepper::completions(const std::string& before) const {
  const std::size_t begin = before.find_last_of(" \t()[]+-*/%<>=,.:&|!") + 1;
  if (begin > 0 && before[begin - 1] == '.') return {};  // of what stands before the dot
  std::set<std::string> words;
  if (before.find_first_not_of(" \t") >= begin) {
    words = {"next",  "into", "out",    "continue", "back", "break", "watch", "program",
             "print", "heat", "locals", "where",    "list", "help",  "quit"};
  } else {
    for (const auto& [name, text] : variables()) words.insert(name);
    for (const auto& [name, value] : constants_) words.insert(name);
  }
  const std::string word = before.substr(begin);
  std::erase_if(words, [&](const std::string& each) { return !each.starts_with(word); });
  return {words.begin(), words.end()};
}

void Stepper::locals() {
  for (const auto& [name, text] : variables())
    say(fmt::format("{:12} {}", name, text.substr(0, text.find('\n'))));
}

std::vector<Stepper::Frame> Stepper::frames() const {
  std::vector<Frame> all;
  for (std::size_t i = at_.calls.size(); i-- > 0;)
    all.push_back(
        {source_->function_name(at_.calls[i]), source_->file_name(at_.file), at_.call_lines[i]});
  return all;
}

std::string Stepper::value_of(const std::string& expression) {
  return tile_text(evaluate(expression));
}

std::string Stepper::program_name() const {
  return fmt::format("program ({})", fmt::join(program_->id(), ", "));
}

void Stepper::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  breakpoints_ = std::move(breakpoints);
  if (!source_) return;
  for (Breakpoint& breakpoint : breakpoints_)
    if (const int line = source_->line_from(breakpoint.line); line != 0) breakpoint.line = line;
}

void Stepper::where() {
  for (std::size_t i = at_.calls.size(); i-- > 0;)
    say(fmt::format("{} at line {}", source_->function_name(at_.calls[i]), at_.call_lines[i]));
}

void Stepper::back() {
  if (line_times_.size() < 2) throw ArgumentError("this is the first line of the program");
  goal_ = Goal::Time;
  goal_time_ = line_times_[line_times_.size() - 2];
  throw Rewind{};
}

bool Stepper::go_to_program(const std::string& text) {
  std::int64_t id[3] = {0, 0, 0};
  std::string_view rest = text;
  for (int d = 0; d < 3 && !rest.empty(); ++d) {
    const std::size_t comma = rest.find(',');
    const std::optional<std::int64_t> part =
        integer_of(trimmed(std::string(rest.substr(0, comma))));
    if (!part || *part < 0 || *part >= grid_[d])
      throw ArgumentError(
          fmt::format("'{}' is no program of a grid of {} x {} x {}; write "
                      "program X,Y,Z",
                      text, grid_[0], grid_[1], grid_[2]));
    id[d] = *part;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  goal_ = Goal::Program;
  goal_program_ = (id[2] * grid_[1] + id[1]) * grid_[0] + id[0];
  if (goal_program_ > number_) return true;
  restores_all_ = goal_program_ < number_;
  throw Rewind{};
}

const ir::Tile* Stepper::named(const std::string& name) const {
  const auto tile_of = [&](ir::Value value) -> const ir::Tile* {
    const ir::Tile& tile = program_->value(value);
    return tile.size() == 0 ? nullptr : &tile;
  };
  if (!at_.calls.empty())
    if (const auto found = at_.names.find({at_.calls.back(), name}); found != at_.names.end())
      return tile_of(found->second);
  for (const ir::KernelArgument& argument : kernel_->arguments)
    if (at_.calls.size() <= 1 && kernel_->name_of(argument.value) == name)
      return tile_of(argument.value);
  for (const auto& [key, value] : at_.names)
    if (key.second == name) return tile_of(value);
  for (const ir::KernelArgument& argument : kernel_->arguments)
    if (kernel_->name_of(argument.value) == name) return tile_of(argument.value);
  return nullptr;
}

ir::Tile Stepper::evaluate(const std::string& expression) {
  if (const ir::Tile* const tile = named(expression)) return *tile;
  const std::size_t bracket = expression.find('[');
  const bool is_slice = bracket != std::string::npos && expression.ends_with(']') &&
                        is_name(expression.substr(0, bracket)) &&
                        expression.find("None") == std::string::npos;
  if (is_slice)
    if (const ir::Tile* const tile = named(expression.substr(0, bracket)))
      return tile_slice(*tile, expression.substr(bracket + 1, expression.size() - bracket - 2));
  return evaluate_expression(expression);
}

ir::Tile Stepper::evaluate_expression(const std::string& expression) {
  std::vector<triton::ValueOperand> operands;
  std::vector<const ir::Tile*> tiles;
  Constants constants;
  for (const std::string& word : words_in(expression)) {
    const auto constant = std::find_if(constants_.begin(), constants_.end(),
                                       [&](const auto& each) { return each.first == word; });
    if (const ir::Tile* const tile = named(word)) {
      operands.push_back({word, tile->type});
      tiles.push_back(tile);
    } else if (constant != constants_.end()) {
      constants.push_back(*constant);
    } else if (is_name(expression) && word == expression) {
      throw ArgumentError(fmt::format("'{}' has no value here; locals lists what has", word));
    }
  }
  const triton::LoweredValue lowered = triton::lower_value(expression, operands, constants);
  const auto* const tensor = lowered.result.get_if<ir::Value>();
  if (tensor == nullptr)
    throw ArgumentError(
        fmt::format("{} is {}", expression, triton::describe(lowered.kernel, lowered.result)));
  ir::InterpretOptions options;
  std::copy(grid_, grid_ + 3, options.grid);
  ir::Program program(lowered.kernel, program_->memory(), options, program_->id());
  for (std::size_t i = 0; i < tiles.size(); ++i)
    program.set(lowered.kernel.arguments[i].value, *tiles[i]);
  program.run();
  return program.value(*tensor);
}

}  // namespace tilewright::cli
