// SPDX-License-Identifier: Apache-2.0
// bench/suite/rivals.cpp — requests to rivals.py and what is made of its answers.
#include "bench/suite/rivals.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/text.h"
#include "bench/json.h"
#include "bench/measure.h"
#include "bench/suite/helper_process.h"
#include "runtime/cpu/temporary_folder.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

constexpr std::array names = {"torch eager", "torch builtin", "torch.compile", "triton"};

}  // namespace

struct Rivals::Team {
  RivalOptions options;
  TemporaryFolder folder;  // Triton reads the source of a kernel from its file
  std::unique_ptr<HelperProcess> helper;
  int starts = 0;
  std::string torch, triton;  // versions; empty when there is none
  std::string problem;        // why there is nobody

  void start() {
    helper = std::make_unique<HelperProcess>(std::vector<std::string>{
        options.python, "-u", "-c", std::string(embedded_file("suite/rivals.py"))});
    ++starts;
  }

  Json ask(const Json& request, double seconds) {
    if (!helper || !helper->is_alive()) start();
    const Json answer = parse_json(helper->ask(request.dump(), seconds, options.is_interrupted));
    if (answer.contains("problem") && !answer.contains("torch"))
      throw EnvironmentError(answer["problem"].get<std::string>());
    return answer;
  }

  void meet() {
    try {
      const Json answer = ask({{"do", "versions"}}, options.prepare_seconds);
      if (answer["torch"].is_string()) torch = answer["torch"];
      if (answer["triton"].is_string()) triton = answer["triton"];
      if (torch.empty()) problem = fmt::format("not installed: {} has no PyTorch", options.python);
    } catch (const std::exception& error) {
      problem = first_line(error.what());
    } catch (const Interrupted&) {
      problem = "interrupted";
    }
  }
};

namespace {

using Team = Rivals::Team;

// A rival at one problem. Prepares itself again when its process was started anew.
struct Rival {
  std::shared_ptr<Team> team;
  Json request;
  int start = 0;  // the process that knows it
  int id = -1;

  Json prepare() {
    const Json answer = team->ask(request, team->options.prepare_seconds);
    start = team->starts;
    if (answer.contains("id")) id = answer["id"];
    return answer;
  }

  Turn measure(double seconds) {
    if (team->options.is_interrupted()) throw Interrupted{};
    if (start != team->starts || !team->helper->is_alive()) prepare();
    const RivalOptions& o = team->options;
    const Json answer = team->ask({{"do", "measure"},
                                   {"id", id},
                                   {"seconds", seconds},
                                   {"clock", o.clock == Clock::Wall ? "wall" : "device"},
                                   {"warmups", o.warmups.value_or(-1)},
                                   {"trials", o.trials.value_or(0)}},
                                  10 * seconds + o.measure_seconds);
    Turn turn;
    turn.samples = answer.at("samples").get<std::vector<double>>();
    turn.host_seconds = answer.value("host_seconds", 0.0);
    turn.clock = answer.value("clock", "wall");
    turn.is_stable = is_known(turn.samples, BenchOptions{}.relative_interval);
    return turn;
  }
};

Record record_for(const Problem& problem, std::int64_t dim, const char* name) {
  Record record;
  record.op = problem.operation->name;
  record.way = name;
  record.device = problem.device.name();
  record.dtype = name_of(problem.dtype);
  record.shape = problem.shape;
  record.dim = dim;
  record.bytes = bytes_at_least(*problem.operation, problem.shape, problem.dtype);
  record.flops = problem.operation->flops(problem.shape);
  return record;
}

Contender contender_of(std::shared_ptr<Team> team, const Problem& problem, Record record) {
  const auto rival = std::make_shared<Rival>(Rival{team, {}});
  rival->request = {{"do", "prepare"},
                    {"op", record.op},
                    {"way", record.way},
                    {"shape", record.shape},
                    {"dtype", record.dtype},
                    {"device", record.device},
                    {"file", team->folder.write(record.op + ".py",
                                                embedded_file("kernels/" + record.op + ".py"))}};
  team->options.show(
      fmt::format("{} {}: preparing {}", record.op, shape_text(record.shape), record.way));
  const Json answer = rival->prepare();
  if (answer.contains("missing")) {
    record.status = Status::NotAvailable;
    record.reason = answer["missing"];
    return {record, {}};
  }
  record.first_seconds = answer.value("first_seconds", 0.0);
  record.bytes_moved = answer.value("bytes_moved", 0.0);  // 0: it cannot be known
  record.kernels = answer.value("kernels", 0);
  if (answer.contains("error") && answer["error"].is_number())
    record.error = answer["error"].get<double>();
  record.tolerance = tolerance_of(problem, 16);
  // The rival's own arithmetic is not ours to judge: its error stands in the table.
  return {record, [rival](double seconds) { return rival->measure(seconds); }};
}

}  // namespace

Rivals::Rivals(RivalOptions options) : team_(std::make_shared<Team>()) {
  team_->options = std::move(options);
  team_->meet();
}

Rivals::~Rivals() = default;

std::string Rivals::versions() const {
  if (!team_->problem.empty()) return team_->problem;
  std::string text = "PyTorch " + team_->torch;
  if (!team_->triton.empty()) text += ", Triton " + team_->triton;
  return text;
}

Contender Rivals::contender(const Function& function, Record record) {
  if (!team_->problem.empty()) {
    record.status = Status::NotAvailable;
    record.reason = team_->problem;
    return {record, {}};
  }
  const auto rival = std::make_shared<Rival>(Rival{team_, {}});
  Json inputs = Json::array();
  for (const auto& [file, dtype] : function.inputs)
    inputs.push_back({{"file", file}, {"dtype", dtype}});
  rival->request = {{"do", "call"},
                    {"function", function.expression},
                    {"inputs", inputs},
                    {"outputs", function.outputs},
                    {"device", record.device}};
  team_->options.show(fmt::format("{}: preparing {}", record.op, record.way));
  try {
    const Json answer = rival->prepare();
    record.first_seconds = answer.value("first_seconds", 0.0);
    if (!answer.contains("missing"))
      return {record, [rival](double seconds) { return rival->measure(seconds); }};
    record.status = Status::NotAvailable;
    record.reason = answer["missing"];
  } catch (const Interrupted&) {
    record.status = Status::Failed;
    record.reason = "interrupted";
  } catch (const std::exception& error) {
    record.status = Status::Failed;
    record.reason = first_line(error.what());
  }
  return {record, {}};
}

std::vector<Contender> Rivals::mlp_contenders(const Record& like, int steps) {
  constexpr std::array ways = {"torch eager", "torch.compile", "torch.compile reduce-overhead",
                               "torch.compile max-autotune"};
  std::vector<Contender> contenders;
  for (const char* way : ways) {
    Record record = like;
    record.way = way;
    if (!team_->problem.empty()) {
      record.status = Status::NotAvailable;
      record.reason = team_->problem;
      contenders.push_back({record, {}});
      continue;
    }
    const auto rival = std::make_shared<Rival>(Rival{team_, {}});
    rival->request = {{"do", "prepare_mlp"},   {"op", record.op},       {"way", record.way},
                      {"shape", record.shape}, {"dtype", record.dtype}, {"device", record.device},
                      {"steps", steps}};
    team_->options.show(fmt::format("{}: preparing {}", record.op, record.way));
    try {
      const Json answer = rival->prepare();
      record.first_seconds = answer.value("first_seconds", 0.0);
      if (!answer.contains("missing")) {
        contenders.push_back({record, [rival](double seconds) { return rival->measure(seconds); }});
        continue;
      }
      record.status = Status::NotAvailable;
      record.reason = answer["missing"];
    } catch (const Interrupted&) {
      break;
    } catch (const std::exception& error) {
      record.status = Status::Failed;
      record.reason = first_line(error.what());
    }
    contenders.push_back({record, {}});
  }
  return contenders;
}

std::vector<Contender> Rivals::contenders(const Problem& problem, std::int64_t dim) {
  std::vector<Contender> contenders;
  for (const char* name : names) {
    Record record = record_for(problem, dim, name);
    const bool is_triton = record.way == "triton";
    if (!team_->problem.empty() || (is_triton && team_->triton.empty())) {
      record.status = Status::NotAvailable;
      record.reason = !team_->problem.empty() ? team_->problem : "not installed";
      contenders.push_back({record, {}});
      continue;
    }
    try {
      contenders.push_back(contender_of(team_, problem, record));
    } catch (const Interrupted&) {
      break;
    } catch (const std::exception& error) {
      record.status = Status::Failed;
      record.reason = first_line(error.what());
      contenders.push_back({record, {}});
    }
    if (team_->options.is_interrupted()) break;
  }
  return contenders;
}

}  // namespace tilewright::suite
