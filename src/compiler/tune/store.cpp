// SPDX-License-Identifier: Apache-2.0
// compiler/tune/store.cpp — records as lines of fields between tabs.
#include "compiler/tune/store.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/settings.h"
#include "runtime/compile.h"

namespace tilewright {
namespace {

constexpr std::string_view heading = "tilewright tuning 1";

// A field is one line without tabs.
std::string field(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return piece;
}

template <class T>
T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

StoredConfig read_config(std::string_view line) {
  StoredConfig config;
  config.config = take_until(line, '\t');
  config.code = take_until(line, '\t');
  config.timing.median = number<double>(take_until(line, '\t'));
  config.timing.low = number<double>(take_until(line, '\t'));
  config.timing.high = number<double>(take_until(line, '\t'));
  config.timing.samples = number<int>(take_until(line, '\t'));
  config.problem = take_until(line, '\t');
  return config;
}

// What makes times of one machine differ from those of another.
std::string machine_text(Device device) {
  const DeviceProperties& p = device.properties();
  return fmt::format("{} {} {} {} {} {}", p.name, p.target.name, p.target.processors, p.clock_khz,
                     p.memory_clock_khz, device.is_cpu() ? settings().threads : 0);
}

}  // namespace

const StoredConfig* TuneRecord::find(std::string_view config) const {
  for (const StoredConfig& stored : configs)
    if (stored.config == config) return &stored;
  return nullptr;
}

std::string record_text(const TuneRecord& record) {
  std::string text =
      fmt::format("{}\nkernel\t{}\ndevice\t{}\nkey\t{}\ngiven\t{}\n", heading, field(record.kernel),
                  field(record.device), field(record.key), field(record.given));
  for (const StoredConfig& c : record.configs)
    text += fmt::format("config\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", field(c.config), c.code,
                        c.timing.median, c.timing.low, c.timing.high, c.timing.samples,
                        field(c.problem));
  if (!record.winner.empty()) text += fmt::format("winner\t{}\n", field(record.winner));
  if (record.is_finished) text += "finished\n";
  return text;
}

std::optional<TuneRecord> parse_record(std::string_view text) {
  if (take_until(text, '\n') != heading) return std::nullopt;
  TuneRecord record;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view kind = take_until(line, '\t');
    if (kind == "kernel") record.kernel = line;
    else if (kind == "device") record.device = line;
    else if (kind == "key") record.key = line;
    else if (kind == "given") record.given = line;
    else if (kind == "winner") record.winner = line;
    else if (kind == "finished") record.is_finished = true;
    else if (kind == "config") record.configs.push_back(read_config(line));
    else return std::nullopt;
  }
  return record;
}

TuneStore::TuneStore(DiskCache& cache, const TunePlace& place) : cache_(cache) {
  Hasher source;
  source.add(place.source);
  // The key of a compilation holds our version, the library's own file and the target.
  const KernelSource about{.language = Language::Cpp,
                           .name = "tuning of " + place.kernel,
                           .text = fmt::format("{} {}", source.finish().hex(), place.key)};
  key_ = compile_key(about, place.device.target(), machine_text(place.device));
}

std::optional<TuneRecord> TuneStore::find() {
  const std::optional<Binary> entry = cache_.find(key_);
  if (!entry) return std::nullopt;
  return parse_record({reinterpret_cast<const char*>(entry->bytes.data()), entry->bytes.size()});
}

void TuneStore::store(const TuneRecord& record) {
  const std::string text = record_text(record);
  Binary entry;
  entry.bytes.resize(text.size());
  std::memcpy(entry.bytes.data(), text.data(), text.size());
  cache_.store(key_, entry);
}

}  // namespace tilewright
