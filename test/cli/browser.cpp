// SPDX-License-Identifier: Apache-2.0
// cli/browser.cpp — the messages to a headless Chromium.
#include "browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <stdexcept>

extern char** environ;

namespace tilewright::cli {
namespace {

using nlohmann::json;

constexpr int limit_ms = 30000;

// Chromium reads from descriptor 3 and writes to 4.
int spawn_browser(const std::vector<std::string>& arguments, int input, int output, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 3);
  posix_spawn_file_actions_adddup2(&actions, output, 4);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int problem = posix_spawn(&child, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

// Both ends far above 3 and 4, so that these can be made of them in any order.
void make_pipe(int (&ends)[2]) {
  int low[2];
  if (pipe2(low, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  for (int i = 0; i < 2; ++i) {
    ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
    close(low[i]);
  }
}

struct Key {
  std::string name;  // of KeyboardEvent.key
  int code = 0;
  std::string text;  // what it types
};

const Key& key_named(const std::string& name) {
  static const std::map<std::string, Key> keys = {
      {"Tab", {"Tab", 9, ""}},
      {"Enter", {"Enter", 13, "\r"}},
      {"Space", {" ", 32, " "}},
      {"Escape", {"Escape", 27, ""}},
      {"Home", {"Home", 36, ""}},
      {"End", {"End", 35, ""}},
      {"ArrowLeft", {"ArrowLeft", 37, ""}},
      {"ArrowUp", {"ArrowUp", 38, ""}},
      {"ArrowRight", {"ArrowRight", 39, ""}},
      {"ArrowDown", {"ArrowDown", 40, ""}},
  };
  return keys.at(name);
}

std::string text_of(const json& node, const char* property) {
  const auto found = node.find(property);
  if (found == node.end() || !found->contains("value")) return {};
  const json& value = (*found)["value"];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Browser::Browser(const std::string& program, const std::string& folder) {
  int down[2], up[2];
  make_pipe(down);
  make_pipe(up);
  const int problem = spawn_browser(
      {program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + folder,
       "--window-size=1200,900", "--remote-debugging-pipe", "about:blank"},
      down[0], up[1], child_);
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
  if (problem != 0) child_ = -1;
  signal(SIGPIPE, SIG_IGN);  // a browser that died is told by an error
  try {
    const json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})
                   .at("sessionId");
  } catch (...) {
    end();
    throw;
  }
}

Browser::~Browser() { end(); }

void Browser::end() {
  close(to_);
  close(from_);
  if (child_ <= 0) return;
  kill(-child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

json Browser::next_message() {
  std::size_t end = 0;
  while ((end = buffer_.find('\0')) == std::string::npos) {
    pollfd wait{.fd = from_, .events = POLLIN, .revents = 0};
    char block[65536];
    const ssize_t n = poll(&wait, 1, limit_ms) == 1 ? read(from_, block, sizeof block) : 0;
    if (n <= 0) throw std::runtime_error("the browser is gone or does not answer");
    buffer_.append(block, static_cast<std::size_t>(n));
  }
  json message = json::parse(buffer_.substr(0, end));
  buffer_.erase(0, end + 1);
  return message;
}

json Browser::call(const std::string& method, json parameters) {
  json message = {{"id", ++calls_}, {"method", method}};
  message["params"] = parameters.is_null() ? json::object() : std::move(parameters);
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + '\0';
  if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the browser is gone");
  while (true) {
    const json answer = next_message();
    if (answer.value("id", 0) != calls_) continue;  // an event
    if (answer.contains("error")) throw std::runtime_error(method + ": " + answer.dump());
    return answer["result"];
  }
}

void Browser::open(const std::string& url) {
  call("Page.navigate", {{"url", url}});
  // A promise is waited for; the document of the old page says "complete" too.
  evaluate("new Promise((done) => { const look = () => location.href === " + json(url).dump() +
           " && document.readyState === 'complete' ? done(1) : setTimeout(look, 20); look(); })");
}

void Browser::resize(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  // The page learns of it with its next frame, which a browser that draws none may never make.
  evaluate(
      "new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done));"
      " setTimeout(done, 2000); })");
}

void Browser::prefer_dark(bool dark) {
  call("Emulation.setEmulatedMedia",
       {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
}

void Browser::press(const std::string& key, bool shift) {
  const Key& facts = key_named(key);
  json event = {{"type", facts.text.empty() ? "rawKeyDown" : "keyDown"},
                {"key", facts.name},
                {"code", key},
                {"windowsVirtualKeyCode", facts.code},
                {"modifiers", shift ? 8 : 0}};
  if (!facts.text.empty()) event["text"] = facts.text;
  call("Input.dispatchKeyEvent", event);
  event["type"] = "keyUp";
  event.erase("text");
  call("Input.dispatchKeyEvent", event);
}

json Browser::evaluate(const std::string& expression) {
  const json result =
      call("Runtime.evaluate",
           {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (result.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + result["exceptionDetails"].dump());
  return result["result"].value("value", json());
}

std::vector<Spoken> Browser::spoken() {
  std::vector<Spoken> all;
  const json tree = call("Accessibility.getFullAXTree");
  std::map<std::string, const json*> nodes;
  for (const json& node : tree["nodes"]) nodes[node["nodeId"]] = &node;
  // From the root down: the list itself is in no order.
  const auto visit = [&](const auto& self, const json& node) -> void {
    Spoken one{text_of(node, "role"), text_of(node, "name"), 0};
    for (const json& property : node.value("properties", json::array()))
      if (property["name"] == "level") one.level = property["value"]["value"];
    if (!node.value("ignored", false)) all.push_back(std::move(one));
    for (const json& child : node.value("childIds", json::array()))
      if (const auto found = nodes.find(child); found != nodes.end()) self(self, *found->second);
  };
  if (!tree["nodes"].empty()) visit(visit, tree["nodes"][0]);
  return all;
}

}  // namespace tilewright::cli
