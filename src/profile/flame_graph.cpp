// SPDX-License-Identifier: Apache-2.0
// profile/flame_graph.cpp — the host's own time by place in the nesting: folded stacks, and an SVG.
#include <algorithm>
#include <map>

#include "base/output_file.h"
#include "base/units.h"
#include "profile/nesting.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

std::map<std::string, std::int64_t> fold(const Trace& trace) {
  const Nesting nesting = nest(trace);
  std::map<std::string, std::int64_t> stacks;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i)
    if (is_on_host(trace.events[i].kind) && nesting.self_host[i] > 0)
      stacks[stack_of(trace, nesting, i, ";")] += nesting.self_host[i];
  return stacks;
}

struct Node {
  std::map<std::string, Node> children;
  std::int64_t total = 0;
};

Node tree_of(const Trace& trace) {
  Node root;
  for (const auto& [stack, nanoseconds] : fold(trace)) {
    Node* at = &root;
    at->total += nanoseconds;
    for (std::size_t begin = 0; begin <= stack.size();) {
      const std::size_t end = std::min(stack.find(';', begin), stack.size());
      at = &at->children[stack.substr(begin, end - begin)];
      at->total += nanoseconds;
      begin = end + 1;
    }
  }
  return root;
}

int depth_of(const Node& node) {
  int depth = 0;
  for (const auto& [name, child] : node.children) depth = std::max(depth, 1 + depth_of(child));
  return depth;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

constexpr double width = 1200;
constexpr int row_height = 20;
constexpr int head_height = 40;

// A warm colour that is always the same for a name.
std::string colour_of(const std::string& name) {
  const std::size_t number = std::hash<std::string>{}(name);
  return fmt::format("hsl({},70%,{}%)", 10 + number % 45, 60 + number / 64 % 15);
}

void draw(fmt::memory_buffer& text, const Node& node, const std::string& name, double left,
          double scale, int level) {
  const double size = static_cast<double>(node.total) * scale;
  if (size < 0.3) return;
  if (level >= 0) {
    const int top = head_height + level * row_height;
    const std::string label =
        fmt::format("{}: {}", name, format_seconds(static_cast<double>(node.total) * 1e-9));
    const auto room = static_cast<std::size_t>(size / 7);
    std::string shown = name;
    if (shown.size() > room) shown = room < 4 ? "" : shown.substr(0, room - 2) + "..";
    fmt::format_to(std::back_inserter(text),
                   "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
                   "fill=\"{}\" rx=\"2\"/><text x=\"{:.1f}\" y=\"{}\">{}</text></g>\n",
                   escaped(label), left, top, std::max(size - 0.5, 0.3), row_height - 1,
                   colour_of(name), left + 3, top + 14, escaped(shown));
  }
  for (const auto& [child_name, child] : node.children) {
    draw(text, child, child_name, left, scale, level + 1);
    left += static_cast<double>(child.total) * scale;
  }
}

}  // namespace

void Profile::folded_stacks(const std::string& path) const {
  write_output(path, [&](fmt::memory_buffer& text, const std::function<void()>&) {
    for (const auto& [stack, nanoseconds] : fold(trace()))
      fmt::format_to(std::back_inserter(text), "{} {}\n", stack, (nanoseconds + 500) / 1000);
  });
}

void Profile::flame_graph(const std::string& path) const {
  const Node root = tree_of(trace());
  write_output(path, [&](fmt::memory_buffer& text, const std::function<void()>&) {
    const int height = head_height + depth_of(root) * row_height + 10;
    fmt::format_to(std::back_inserter(text),
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                   "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"12\">\n"
                   "<rect width=\"100%\" height=\"100%\" fill=\"#fffdf8\"/>\n"
                   "<text x=\"10\" y=\"24\" font-size=\"15\">Host time by call, {2} in all; point "
                   "at a box for its time</text>\n",
                   static_cast<int>(width), height,
                   format_seconds(static_cast<double>(root.total) * 1e-9));
    if (root.total > 0) draw(text, root, "", 0, width / static_cast<double>(root.total), -1);
    fmt::format_to(std::back_inserter(text), "</svg>\n");
  });
}

}  // namespace tilewright
