// SPDX-License-Identifier: Apache-2.0
// cli/step_dap.cpp — messages of the protocol, and what the stepper makes of them.
#include "cli/step_dap.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/json.h"
#include "cli/verbs.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t largest_message = 16u << 20;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(a, ignored) ==
         std::filesystem::weakly_canonical(b, ignored);
}

class DapSession {
 public:
  explicit DapSession(std::string file) : file_(std::move(file)) {}
  void attach(Stepper& stepper) { stepper_ = &stepper; }

  // Everything before the kernel starts; false: the editor has gone.
  bool configure() {
    while (const std::optional<Json> request = read()) {
      const std::string command = request->value("command", "");
      if (command == "disconnect") {
        respond(*request, Json::object());
        return false;
      }
      if (command == "launch" || command == "attach") {
        stops_on_entry_ = arguments(*request).value("stopOnEntry", false);
        respond(*request, Json::object());
        continue;
      }
      answer(*request);
      if (command == "initialize") event("initialized", Json::object());
      if (command == "configurationDone") {
        if (!stops_on_entry_) stepper_->run_at_first();
        return true;
      }
    }
    return false;
  }

  // The next command for a stepper that has stopped; false: the editor has gone.
  bool next_command(std::string& line) {
    const bool is_first = std::exchange(has_stopped_, true) == false;
    const std::string& why = stepper_->stop_reason();
    const char* const kind = why.starts_with("breakpoint")    ? "breakpoint"
                             : why.starts_with("the kernel ") ? "exception"
                             : !why.empty()                   ? "pause"
                             : is_first                       ? "entry"
                                                              : "step";
    event("stopped",
          {{"reason", kind}, {"description", why}, {"threadId", 1}, {"allThreadsStopped", true}});
    while (const std::optional<Json> request = read()) {
      static const std::map<std::string, std::string> commands = {{"continue", "continue"},
                                                                  {"next", "next"},
                                                                  {"stepIn", "into"},
                                                                  {"stepOut", "out"},
                                                                  {"stepBack", "back"}};
      const auto found = commands.find(request->value("command", ""));
      if (found != commands.end()) {
        respond(*request, {{"allThreadsContinued", true}});
        line = found->second;
        return true;
      }
      if (request->value("command", "") == "disconnect") {
        respond(*request, Json::object());
        has_gone_ = true;
        return false;
      }
      answer(*request);
    }
    has_gone_ = true;
    return false;
  }

  // Breakpoints on lines that do nothing have moved.
  void tell_moved() {
    const std::vector<Stepper::Breakpoint>& placed = stepper_->breakpoints();
    for (std::size_t i = 0; i < placed.size() && i < asked_.size(); ++i)
      if (placed[i].line != asked_[i])
        event("breakpoint",
              {{"reason", "changed"},
               {"breakpoint", {{"id", i + 1}, {"verified", true}, {"line", placed[i].line}}}});
  }

  void print(const std::string& line) {
    event("output", {{"category", "stdout"}, {"output", line + "\n"}});
  }

  void finish(int code) {
    event("exited", {{"exitCode", code}});
    event("terminated", Json::object());
    while (!has_gone_) {
      const std::optional<Json> request = read();
      if (!request) return;
      respond(*request, Json::object());
      has_gone_ = request->value("command", "") == "disconnect";
    }
  }

 private:
  static Json arguments(const Json& request) {
    return request.contains("arguments") && request["arguments"].is_object() ? request["arguments"]
                                                                             : Json::object();
  }

  static std::optional<Json> read() {
    std::size_t length = 0;
    for (std::string header; std::getline(std::cin, header);) {
      if (header.ends_with('\r')) header.pop_back();
      if (header.empty() && length > 0) break;
      if (header.starts_with("Content-Length:"))
        length = std::strtoul(header.c_str() + 15, nullptr, 10);
    }
    if (!std::cin) return std::nullopt;
    if (length == 0 || length > largest_message)
      throw ArgumentError("a message of the debug adapter has no usable Content-Length");
    std::string text(length, ' ');
    if (!std::cin.read(text.data(), static_cast<std::streamsize>(length))) return std::nullopt;
    try {
      return parse_json(text);
    } catch (const Json::exception&) {
      throw ArgumentError("a message of the debug adapter is no JSON");
    }
  }

  void send(Json message) {
    message["seq"] = ++sequence_;
    const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    fmt::print("Content-Length: {}\r\n\r\n{}", text.size(), text);
    std::fflush(stdout);
  }

  void event(const char* name, Json body) {
    send({{"type", "event"}, {"event", name}, {"body", std::move(body)}});
  }

  void respond(const Json& request, Json body, const std::string& problem = {}) {
    Json message = {{"type", "response"},
                    {"request_seq", request.value("seq", 0)},
                    {"success", problem.empty()},
                    {"command", request.value("command", "")},
                    {"body", std::move(body)}};
    if (!problem.empty()) message["message"] = problem;
    send(std::move(message));
  }

  void answer(const Json& request) {
    try {
      respond(request, body_of(request));
    } catch (const Error& error) {
      respond(request, Json::object(), error.what());
    }
  }

  Json body_of(const Json& request) {
    const std::string command = request.value("command", "");
    if (command == "initialize")
      return {{"supportsConfigurationDoneRequest", true},
              {"supportsConditionalBreakpoints", true},
              {"supportsStepBack", true},
              {"supportsEvaluateForHovers", true}};
    if (command == "setBreakpoints") return set_breakpoints(arguments(request));
    if (command == "threads")
      return {
          {"threads", {{{"id", 1}, {"name", has_stopped_ ? stepper_->program_name() : "kernel"}}}}};
    if (command == "stackTrace") return stack();
    if (command == "scopes")
      return {{"scopes", {{{"name", "Values"}, {"variablesReference", 1}, {"expensive", false}}}}};
    if (command == "variables") return variables();
    if (command == "evaluate")
      return {{"result", stepper_->value_of(arguments(request).value("expression", ""))},
              {"variablesReference", 0}};
    if (command == "configurationDone" || command == "setExceptionBreakpoints")
      return Json::object();
    throw ArgumentError(fmt::format("'{}' is not supported", command));
  }

  Json set_breakpoints(const Json& given) {
    const Json source = given.value("source", Json::object());
    const bool is_ours = is_same_file(source.value("path", file_), file_);
    std::vector<Stepper::Breakpoint> breakpoints;
    for (const Json& each : given.value("breakpoints", Json::array()))
      breakpoints.push_back({each.value("line", 0), each.value("condition", "")});
    Json answers = Json::array();
    if (!is_ours) {
      for (const Stepper::Breakpoint& each : breakpoints)
        answers.push_back({{"verified", false},
                           {"line", each.line},
                           {"message", fmt::format("breakpoints can be set in {}", file_)}});
      return {{"breakpoints", answers}};
    }
    asked_.clear();
    for (const Stepper::Breakpoint& each : breakpoints) asked_.push_back(each.line);
    stepper_->set_breakpoints(std::move(breakpoints));
    for (const Stepper::Breakpoint& each : stepper_->breakpoints())
      answers.push_back({{"id", answers.size() + 1}, {"verified", true}, {"line", each.line}});
    return {{"breakpoints", answers}};
  }

  Json stack() const {
    Json frames = Json::array();
    for (const Stepper::Frame& frame : stepper_->frames())
      frames.push_back({{"id", frames.size() + 1},
                        {"name", frame.function},
                        {"source", {{"path", std::filesystem::absolute(frame.file).string()}}},
                        {"line", frame.line},
                        {"column", 1}});
    const std::size_t count = frames.size();
    return {{"stackFrames", std::move(frames)}, {"totalFrames", count}};
  }

  Json variables() const {
    Json all = Json::array();
    for (const auto& [name, text] : stepper_->variables())
      all.push_back({{"name", name}, {"value", text}, {"variablesReference", 0}});
    return {{"variables", std::move(all)}};
  }

  std::string file_;
  Stepper* stepper_ = nullptr;
  std::vector<int> asked_;  // lines of breakpoints as the editor gave them
  int sequence_ = 0;
  bool stops_on_entry_ = false;
  bool has_stopped_ = false;
  bool has_gone_ = false;
};

}  // namespace

void serve_dap(const std::string& file, const Stepper::Constants& constants,
               const std::function<void(Stepper& stepper)>& launch) {
  DapSession session(file);
  Stepper stepper(
      {[&](std::string& line) { return session.next_command(line); },
       [&](const std::string& line) { session.print(line); }, [&] { session.tell_moved(); }},
      constants);
  session.attach(stepper);
  if (!session.configure()) return;
  int code = 0;
  try {
    launch(stepper);
  } catch (const UserError& error) {
    session.print(error.what());
    code = 1;
  }
  session.finish(code);
}

}  // namespace tilewright::cli
