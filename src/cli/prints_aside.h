// SPDX-License-Identifier: Apache-2.0
// cli/prints_aside.h — what kernels and programs print while a result is made that is JSON.
#pragma once

namespace tilewright::cli {

// While one lives, all that goes to stdout, also by processes started meanwhile, goes to stderr:
// JSON is alone on stdout.
class PrintsAside {
 public:
  PrintsAside();
  ~PrintsAside();
  PrintsAside(const PrintsAside&) = delete;
  PrintsAside& operator=(const PrintsAside&) = delete;

 private:
  int stdout_ = -1;
};

}  // namespace tilewright::cli
