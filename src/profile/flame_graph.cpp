// SPDX-License-Identifier: Apache-2.0
// profile/flame_graph.cpp — the host's own time by place in the nesting: folded stacks, and an SVG
// that can be searched and zoomed in a browser.
#include <algorithm>
#include <functional>
#include <map>

#include "base/embedded.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "base/unicode.h"
#include "base/units.h"
#include "profile/nesting.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

struct Node {
  std::map<std::string, Node> children;
  std::int64_t self = 0;
  std::int64_t total = 0;
};

Node tree_of(const Trace& trace) {
  const Nesting nesting = nest(trace);
  Node root;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const std::int64_t self = nesting.self_host[i];
    if (!is_on_host(trace.events[i].kind) || self <= 0) continue;
    Node* at = &root;
    at->total += self;
    for (const std::uint32_t event : path_to(trace, nesting, i)) {
      at = &at->children[trace.name(trace.events[event])];
      at->total += self;
    }
    at->self += self;
  }
  return root;
}

int depth_of(const Node& node) {
  int depth = 0;
  for (const auto& [name, child] : node.children) depth = std::max(depth, 1 + depth_of(child));
  return depth;
}

void fold(fmt::memory_buffer& text, const Node& node, const std::string& stack) {
  if (node.self > 0)
    fmt::format_to(std::back_inserter(text), "{} {}\n", stack, (node.self + 500) / 1000);
  for (const auto& [name, child] : node.children)
    fold(text, child, stack.empty() ? folded_frame(name) : stack + ";" + folded_frame(name));
}

// ---- The picture.

constexpr double width = 1200;
constexpr int row_height = 20;
constexpr int head_height = 72;

// A warm colour that is always the same for a name.
std::string colour_of(const std::string& name) {
  const std::size_t number = std::hash<std::string>{}(name);
  return fmt::format("hsl({},70%,{}%)", 10 + number % 45, 60 + number / 64 % 15);
}

// What the script does when the window is wider is done here for viewers without scripts.
std::string fitting(const std::string& name, double size) {
  const auto room = static_cast<std::size_t>(size / 7);
  if (name.size() <= room) return name;
  return room < 4 ? "" : std::string(cut_utf8(name, room - 2)) + "..";
}

class Drawing {
 public:
  Drawing(fmt::memory_buffer& text, const Node& root) : text_(text), root_(root) {}

  void run() {
    const int height = head_height + depth_of(root_) * row_height + 10;
    head(height);
    double begin = 0;
    for (const auto& [name, child] : root_.children) {
      frame(child, printable(name), begin, 0);
      begin += share(child);
    }
    put("<script><![CDATA[\n{}]]></script>\n</svg>\n", embedded_file("flame_graph.js"));
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }
  double share(const Node& node) const {
    return static_cast<double>(node.total) / static_cast<double>(root_.total);
  }

  void head(int height) {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" data-height=\"{1}\" data-row-height=\"{2}\" "
        "data-head-height=\"{3}\" font-family=\"monospace\" font-size=\"12\">\n"
        "<title>Flame graph: host time by call</title>\n"
        "<style>.frame {{ cursor: pointer; }} .frame.found rect {{ fill: #7c3aed; }} "
        ".frame.found text {{ fill: #ffffff; }} .frame:focus-visible rect {{ stroke: #000000; "
        "stroke-width: 2; }}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fffdf8\"/>\n",
        static_cast<int>(width), height, row_height, head_height);
    put("<text x=\"10\" y=\"24\" font-size=\"15\">Host time by call, {} in all</text>\n",
        format_seconds(static_cast<double>(root_.total) * 1e-9));
    put("<foreignObject x=\"10\" y=\"34\" width=\"98%\" height=\"32\">"
        "<div xmlns=\"http://www.w3.org/1999/xhtml\" style=\"font:12px monospace\">"
        "<input id=\"search\" type=\"search\" placeholder=\"Search (/)\" aria-label=\"Search\" "
        "style=\"width:10em\"/> <button id=\"reset\" type=\"button\" disabled=\"disabled\">Show "
        "all "
        "(Esc)</button> <span id=\"status\" role=\"status\"></span></div></foreignObject>\n");
  }

  // `begin` is the part of the whole time that lies to the left.
  void frame(const Node& node, const std::string& name, double begin, int level) {
    const double size = share(node) * width;
    if (size < 0.005) return;
    const std::string time = format_seconds(static_cast<double>(node.total) * 1e-9);
    const int top = head_height + level * row_height;
    put("<g class=\"frame\" tabindex=\"0\" role=\"button\" data-name=\"{}\" data-begin=\"{:.7f}\" "
        "data-end=\"{:.7f}\" data-level=\"{}\"><title>{}: {}, {:.1f}%</title>",
        xml_text(name), begin, begin + share(node), level, xml_text(name), time, 100 * share(node));
    put("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" rx=\"2\"/>"
        "<text x=\"{:.1f}\" y=\"{}\">{}</text></g>\n",
        begin * width, top, std::max(size - 0.5, 0.3), row_height - 1, colour_of(name),
        begin * width + 3, top + 14, xml_text(fitting(name, size)));
    for (const auto& [child_name, child] : node.children) {
      frame(child, printable(child_name), begin, level + 1);
      begin += share(child);
    }
  }

  fmt::memory_buffer& text_;
  const Node& root_;
};

}  // namespace

void Profile::folded_stacks(const std::string& path) const {
  write_output(path, [&](fmt::memory_buffer& text, const std::function<void()>&) {
    fold(text, tree_of(trace()), "");
  });
}

void Profile::flame_graph(const std::string& path) const {
  const Node root = tree_of(trace());
  write_output(path, [&](fmt::memory_buffer& text, const std::function<void()>&) {
    Drawing(text, root).run();
  });
}

}  // namespace tilewright
