// SPDX-License-Identifier: Apache-2.0
// bench/suite/helper_process.h — a program that answers one line for each line it is given; it may
// die or hang without harm.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tilewright::suite {

class HelperProcess {
 public:
  // Throws MissingError when the program cannot be started. The helper is in a process group of its
  // own, so that Ctrl-C does not end it before us.
  explicit HelperProcess(const std::vector<std::string>& arguments);
  ~HelperProcess();  // ends it at once
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  // Throws EnvironmentError when the helper ends or does not answer in time; it is ended then, and
  // is_alive() is false.
  // `is_interrupted` is asked several times a second; when it is true, the helper is ended and
  // Interrupted is thrown.
  std::string ask(const std::string& line, double limit_seconds,
                  const std::function<bool()>& is_interrupted = {});
  bool is_alive() const { return child_ > 0; }

 private:
  std::string read_line(double limit_seconds, const std::function<bool()>& is_interrupted);
  [[noreturn]] void throw_ended();
  int end();  // the wait status

  int child_ = -1;
  int socket_ = -1;
  int errors_ = -1;  // a file without a name that its standard error goes to
  std::string buffer_;
};

}  // namespace tilewright::suite
