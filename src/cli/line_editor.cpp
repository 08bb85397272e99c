// SPDX-License-Identifier: Apache-2.0
// cli/line_editor.cpp — libedit by its own interface (histedit.h).
#include "cli/line_editor.h"

#include <histedit.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/dynamic_library.h"

namespace tilewright::cli {
namespace {

// Never unloaded: what it keeps of the terminal belongs to the process.
DynamicLibrary& edit_library() {
  static auto* const library = new DynamicLibrary;
  return *library;
}

struct EditFunctions {
  decltype(el_init)* init = nullptr;
  decltype(el_end)* end = nullptr;
  decltype(el_set)* set = nullptr;
  decltype(el_gets)* gets = nullptr;
  decltype(el_line)* line = nullptr;
  decltype(el_insertstr)* insert = nullptr;
  decltype(history_init)* new_history = nullptr;
  decltype(history_end)* end_history = nullptr;
  decltype(history)* keep = nullptr;

  bool open() {
    DynamicLibrary& library = edit_library();
    for (const char* name : {"libedit.so.2", "libedit.so.0", "libedit.so"})
      if (!library) library = DynamicLibrary::open(name);
    if (!library) return false;
    std::string missing;
    library.look_up("el_init", init, missing);
    library.look_up("el_end", end, missing);
    library.look_up("el_set", set, missing);
    library.look_up("el_gets", gets, missing);
    library.look_up("el_line", line, missing);
    library.look_up("el_insertstr", insert, missing);
    library.look_up("history_init", new_history, missing);
    library.look_up("history_end", end_history, missing);
    library.look_up("history", keep, missing);
    return missing.empty();
  }
};

// What all of them begin with.
std::string common_begin(const std::vector<std::string>& words) {
  std::string begin = words.front();
  for (const std::string& word : words) {
    const auto [a, b] = std::mismatch(begin.begin(), begin.end(), word.begin(), word.end());
    begin.erase(a, begin.end());
  }
  return begin;
}

class EditLineEditor final : public LineEditor {
 public:
  EditLineEditor(EditFunctions functions, std::string prompt, Completions completions)
      : edit_(std::move(functions)),
        prompt_(std::move(prompt)),
        completions_(std::move(completions)),
        history_(edit_.new_history()),
        line_(edit_.init("tilewright", stdin, stdout, stderr)) {
    HistEvent event;
    edit_.keep(history_, &event, H_SETSIZE, 500);
    edit_.keep(history_, &event, H_SETUNIQUE, 1);
    edit_.set(line_, EL_PROMPT, &EditLineEditor::prompt_now);
    edit_.set(line_, EL_EDITOR, "emacs");
    edit_.set(line_, EL_HIST, edit_.keep, history_);
    // Ctrl-C is a key while a line is typed: as a signal it would interrupt the kernel.
    edit_.set(line_, EL_SETTY, "-d", "-isig", nullptr);
    edit_.set(line_, EL_ADDFN, "tw-complete", "Complete a word", &EditLineEditor::complete);
    edit_.set(line_, EL_BIND, "^I", "tw-complete", nullptr);
    edit_.set(line_, EL_ADDFN, "tw-forget", "Forget the line", &EditLineEditor::forget);
    edit_.set(line_, EL_BIND, "^C", "tw-forget", nullptr);
    edit_.set(line_, EL_ADDFN, "tw-suspend", "Suspend the process", &EditLineEditor::suspend);
    edit_.set(line_, EL_BIND, "^Z", "tw-suspend", nullptr);
    edit_.set(line_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  }
  ~EditLineEditor() override {
    edit_.end(line_);
    edit_.end_history(history_);
  }
  EditLineEditor(const EditLineEditor&) = delete;
  EditLineEditor& operator=(const EditLineEditor&) = delete;

  bool read(std::string& line) override {
    std::fflush(stdout);
    reading_ = this;
    do {
      is_forgotten_ = false;
      // Before the prompt: keys that are typed as soon as it is there are the editor's.
      edit_.set(line_, EL_PREP_TERM, 1);
      int count = 0;
      const char* const typed = edit_.gets(line_, &count);
      if (is_forgotten_) continue;
      if (typed == nullptr || count <= 0) return false;
      line.assign(typed, static_cast<std::size_t>(count));
    } while (is_forgotten_);
    while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
    HistEvent event;
    if (!line.empty()) edit_.keep(history_, &event, H_ENTER, line.c_str());
    return true;
  }

 private:
  static char* prompt_now(EditLine*) { return reading_->prompt_.data(); }

  static unsigned char forget(EditLine*, int) {
    reading_->is_forgotten_ = true;
    std::fputs("^C\n", stdout);
    return CC_NEWLINE;
  }

  static unsigned char suspend(EditLine* line, int) {
    reading_->edit_.set(line, EL_PREP_TERM, 0);
    std::raise(SIGTSTP);
    reading_->edit_.set(line, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
  }

  static unsigned char complete(EditLine* line, int) {
    EditLineEditor& self = *reading_;
    const LineInfo* const info = self.edit_.line(line);
    const std::string before(info->buffer, info->cursor);
    const std::vector<std::string> all = self.completions_(before);
    if (all.empty()) return CC_ERROR;
    const std::size_t typed = before.size() - (before.find_last_of(" \t()[]+-*/%<>=,.:&|!") + 1);
    std::string more = common_begin(all).substr(std::min(typed, common_begin(all).size()));
    if (all.size() == 1) more += ' ';
    if (!more.empty()) {
      self.edit_.insert(line, more.c_str());
      return CC_REFRESH;
    }
    fmt::print("\n{}\n", fmt::join(all, "  "));
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  // The one whose line is being typed: libedit's callbacks know no other way to it.
  static inline EditLineEditor* reading_ = nullptr;

  EditFunctions edit_;
  std::string prompt_;
  Completions completions_;
  History* history_;
  EditLine* line_;
  bool is_forgotten_ = false;
};

}  // namespace

std::unique_ptr<LineEditor> open_line_editor(const std::string& prompt, Completions completions) {
  EditFunctions functions;
  if (!functions.open()) return nullptr;
  return std::make_unique<EditLineEditor>(std::move(functions), prompt, std::move(completions));
}

}  // namespace tilewright::cli
