// SPDX-License-Identifier: Apache-2.0
// cli/line_editor.h — lines that a person types, with editing, history and completion by libedit.
//
// libedit is opened when the first line is read, so that other commands do not load it. Where it
// was not there at build time or is not there now, there is no editor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::cli {

class LineEditor {
 public:
  virtual ~LineEditor() = default;
  // False at the end of the input. Ctrl-C forgets the line that is being typed.
  virtual bool read(std::string& line) = 0;
};

// What can stand in place of the last word of a line's beginning.
using Completions = std::function<std::vector<std::string>(const std::string& before)>;

// Null: there is no editor, and lines are read as they come.
std::unique_ptr<LineEditor> open_line_editor(const std::string& prompt, Completions completions);

}  // namespace tilewright::cli
