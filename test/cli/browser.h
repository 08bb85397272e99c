// SPDX-License-Identifier: Apache-2.0
// cli/browser.h — a page in headless Chromium, with real key presses and what a screen reader is
// told.
//
// The browser is spoken to as its developer tools do, over two pipes (--remote-debugging-pipe): one
// JSON object per message, a zero byte behind each.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewright::cli {

// What a screen reader is told of an element.
struct Spoken {
  std::string role;
  std::string name;
  int level = 0;  // of a heading
};

class Browser {
 public:
  // `program` is Chromium; `folder` becomes its profile. Throws std::runtime_error here and in all
  // functions when the browser is gone, refuses something or takes longer than 30 s.
  Browser(const std::string& program, const std::string& folder);
  ~Browser();  // ends it
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void open(const std::string& url);  // and waits until it is loaded
  void resize(int width, int height);
  void prefer_dark(bool dark);
  // "Tab", "Enter", "Space", "Escape", "Home", "End", "ArrowRight", ...: down and up again.
  void press(const std::string& key, bool shift = false);
  nlohmann::json evaluate(const std::string& expression);  // its value in the page
  std::vector<Spoken> spoken();                            // in the page's order

 private:
  nlohmann::json call(const std::string& method, nlohmann::json parameters = {});
  nlohmann::json next_message();
  void end();

  int child_ = -1;
  int to_ = -1;
  int from_ = -1;
  int calls_ = 0;
  std::string session_;
  std::string buffer_;
};

}  // namespace tilewright::cli
