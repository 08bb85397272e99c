// SPDX-License-Identifier: Apache-2.0
// profile/chrome_trace.cpp — the trace as JSON in the trace event format: threads and streams as
// lanes, an arrow from each launch to its kernel, memory in use as a counter.
#include <map>
#include <set>
#include <unordered_set>

#include "profile/output_file.h"
#include "profile/trace.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

constexpr std::size_t flush_bytes = 4 << 20;

// As a JSON string, quotes included. Bytes that are no ASCII pass as they are (names are UTF-8).
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", c);
    else out += c;
  }
  return out + '"';
}

// The host is process 0, device d is process d + 1.
int process_of(const TraceEvent& event) { return event.device + 1; }

class Writer {
 public:
  Writer(const Trace& trace, fmt::memory_buffer& text, const std::function<void()>& flush)
      : trace_(trace), text_(text), flush_(flush), begin_(trace.begin()) {
    for (const std::string& name : trace.texts) quoted_.push_back(quoted(name));
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
    put("{}\n", is_first_ ? "" : ",");
    is_first_ = false;
  }
  // Microseconds from the beginning, to the nanosecond.
  double time(std::int64_t nanoseconds) const {
    return static_cast<double>(nanoseconds - begin_) * 1e-3;
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
          quoted(name));
    }
    for (const auto& [process, thread] : lanes) {
      separate();
      put(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{} {}"}}}})",
          process, thread, process == 0 ? "thread" : "stream", thread);
    }
  }

  void duration(const TraceEvent& event) {
    separate();
    put(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f})",
        quoted_[event.name], name_of(event.kind), process_of(event), event.thread,
        time(event.start), static_cast<double>(event.end - event.start) * 1e-3);
    arguments(event);
    put("}}");
    const bool starts = event.kind == TraceKind::Call && started_.contains(event.correlation);
    if (starts) flow(event, "s", event.start);
    if (is_on_device(event.kind) && event.correlation != 0) flow(event, "f", event.start);
  }

  void arguments(const TraceEvent& event) {
    put(R"(,"args":{{)");
    if (event.kind == TraceKind::Kernel)
      put(R"("grid":"{} {} {}","block":"{} {} {}","registers per thread":{},"shared memory":{},)",
          event.grid[0], event.grid[1], event.grid[2], event.block[0], event.block[1],
          event.block[2], event.registers, event.shared_bytes);
    if (event.bytes != 0) put(R"("bytes":{},)", event.bytes);
    if (event.detail != 0) put(R"("detail":{},)", quoted_[event.detail]);
    put(R"("correlation":{}}})", event.correlation);
  }

  // An arrow by number: "s" where it starts, "f" where it ends.
  void flow(const TraceEvent& event, const char* phase, std::int64_t at) {
    separate();
    put(R"({{"ph":"{}","id":{},"name":"launch","cat":"launch","pid":{},"tid":{},"ts":{:.3f}{}}})",
        phase, event.correlation, process_of(event), event.thread, time(at),
        *phase == 'f' ? R"(,"bp":"e")" : "");
  }

  void memory(const TraceEvent& event) {
    std::int64_t& total = in_use_[event.device];
    total += event.bytes;
    separate();
    put(R"({{"ph":"C","name":"memory in use","pid":{},"ts":{:.3f},"args":{{"bytes":{}}}}})",
        process_of(event), time(event.start), total);
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
