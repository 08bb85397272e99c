// SPDX-License-Identifier: Apache-2.0
// profile/chrome_trace.cpp — the trace as JSON in the trace event format: threads and streams as
// lanes, an arrow from each launch to its kernel, memory in use as a counter.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/output_file.h"
#include "base/quote.h"
#include "profile/trace.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

constexpr std::size_t flush_bytes = 4 << 20;

// The host is process 0, device d is process d + 1.
int process_of(const TraceEvent& event) { return event.device + 1; }

class Writer {
 public:
  Writer(const Trace& trace, fmt::memory_buffer& text, const std::function<void()>& flush)
      : trace_(trace), text_(text), flush_(flush), begin_(trace.begin()) {
    for (const std::string& name : trace.texts) quoted_.push_back(json_string(name));
    for (const TraceEvent& event : trace.events)
      if (is_on_device(event.kind) && event.correlation != 0) started_.insert(event.correlation);
  }

  void run() {
    put(R"({{"displayTimeUnit":"ns","traceEvents":[)");
    lanes();
    for (const TraceEvent& event : trace_.events) {
      if (event.kind == TraceKind::Memory) memory(event);
      else duration(event);
      if (text_.size() > flush_bytes) flush_();
    }
    put("\n]}}\n");
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }
  void separate() {
    add(is_first_ ? "\n" : ",\n");
    is_first_ = false;
  }
  // The hot part appends pieces: a trace has millions of events.
  void add(std::string_view piece) { text_.append(piece.data(), piece.data() + piece.size()); }
  void add(std::uint64_t number) {
    const fmt::format_int digits(number);
    text_.append(digits.data(), digits.data() + digits.size());
  }
  // Microseconds with three digits behind the point.
  void add_time(std::int64_t nanoseconds) {
    const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
    add(whole / 1000);
    const auto rest = static_cast<unsigned>(whole % 1000);
    const char digits[4] = {'.', static_cast<char>('0' + rest / 100),
                            static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
    text_.append(digits, digits + 4);
  }
  // The lane and the time that every event has.
  void add_place(const TraceEvent& event) {
    add(R"(,"pid":)");
    add(static_cast<std::uint64_t>(process_of(event)));
    add(R"(,"tid":)");
    add(event.thread);
    add(R"(,"ts":)");
    add_time(event.start - begin_);
  }

  void lanes() {
    std::set<std::pair<int, std::uint32_t>> lanes;
    std::set<int> processes;
    for (const TraceEvent& event : trace_.events) {
      if (event.kind == TraceKind::Memory) continue;
      processes.insert(process_of(event));
      lanes.insert({process_of(event), event.thread});
    }
    for (int process : processes) {
      const TraceDevice* device = trace_.find_device(process - 1);
      std::string name = trace_.process;
      if (process > 0) name = fmt::format("GPU {}", process - 1);
      if (device) name += " " + device->name;
      separate();
      put(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process,
          json_string(name));
    }
    for (const auto& [process, thread] : lanes) {
      separate();
      put(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{} {}"}}}})",
          process, thread, process == 0 ? "thread" : "stream", thread);
    }
  }

  void duration(const TraceEvent& event) {
    separate();
    add(R"({"ph":"X","name":)");
    add(quoted_[event.name]);
    add(R"(,"cat":")");
    add(name_of(event.kind));
    add("\"");
    add_place(event);
    add(R"(,"dur":)");
    add_time(event.end - event.start);
    arguments(event);
    add("}");
    const bool starts = event.kind == TraceKind::Call && started_.contains(event.correlation);
    if (starts) flow(event, 's');
    if (is_on_device(event.kind) && event.correlation != 0) flow(event, 'f');
  }

  void arguments(const TraceEvent& event) {
    if (event.kind == TraceKind::Kernel)
      put(R"(,"args":{{"grid":"{} {} {}","block":"{} {} {}","registers per thread":{},)"
          R"("shared memory":{}}})",
          event.grid[0], event.grid[1], event.grid[2], event.block[0], event.block[1],
          event.block[2], event.registers, event.shared_bytes);
    else if (event.bytes != 0) put(R"(,"args":{{"bytes":{}}})", event.bytes);
    else if (event.detail != 0) put(R"(,"args":{{"detail":{}}})", quoted_[event.detail]);
  }

  // An arrow by number: 's' where it starts, 'f' where it ends.
  void flow(const TraceEvent& event, char phase) {
    separate();
    add(phase == 's' ? R"({"ph":"s","id":)" : R"({"ph":"f","bp":"e","id":)");
    add(event.correlation);
    add(R"(,"name":"launch","cat":"launch")");
    add_place(event);
    add("}");
  }

  void memory(const TraceEvent& event) {
    std::int64_t& total = in_use_[event.device];
    total += event.bytes;
    separate();
    add(R"({"ph":"C","name":"memory in use")");
    add_place(event);
    put(R"(,"args":{{"bytes":{}}}}})", total);
  }

  const Trace& trace_;
  fmt::memory_buffer& text_;
  const std::function<void()>& flush_;
  const std::int64_t begin_;
  std::vector<std::string> quoted_;
  std::unordered_set<std::uint32_t> started_;
  std::map<int, std::int64_t> in_use_;
  bool is_first_ = true;
};

}  // namespace

void Profile::chrome_trace(const std::string& path) const {
  write_output(path, [&](fmt::memory_buffer& text, const std::function<void()>& flush) {
    Writer(trace(), text, flush).run();
  });
}

}  // namespace tilewright
