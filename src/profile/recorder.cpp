// SPDX-License-Identifier: Apache-2.0
// profile/recorder.cpp — lists per thread, joined when they are taken.
#include "profile/recorder.h"

#include <algorithm>

#include "tilewright/error.h"

namespace tilewright {
namespace {

std::atomic<std::uint64_t> next_number{1};

TraceEvent moved(const TraceEvent& event, const Trace& from, Trace& to) {
  TraceEvent out = event;
  out.name = to.number_of(from.text(event.name));
  out.detail = to.number_of(from.text(event.detail));
  return out;
}

}  // namespace

struct Recorder::List {
  std::mutex mutex;  // only taken by its thread, and by take()
  Trace trace;
};

Recorder::Recorder() : number_(next_number++) {}

Recorder::~Recorder() { stop(); }

void Recorder::start() {
  EventListener* nobody = nullptr;
  if (!event_listener.compare_exchange_strong(nobody, this))
    throw ArgumentError("this process is being profiled already; end that profile first");
  is_listening_ = true;
}

void Recorder::stop() {
  if (is_listening_) event_listener.store(nullptr);
  is_listening_ = false;
}

Recorder::List& Recorder::list_of_thread() {
  thread_local std::uint64_t owner = 0;
  thread_local List* list = nullptr;
  if (owner != number_) {
    const std::lock_guard lock(mutex_);
    lists_.push_back(std::make_unique<List>());
    list = lists_.back().get();
    owner = number_;
  }
  return *list;
}

void Recorder::on_event(const HostEvent& event) {
  TraceEvent out;
  out.kind = static_cast<TraceKind>(event.kind);
  out.start = event.start;
  out.end = event.end;
  out.bytes = event.bytes;
  out.thread = event_thread();
  add(out, event.name, event.detail);
}

void Recorder::on_memory(int device, std::int64_t bytes) {
  TraceEvent out;
  out.kind = TraceKind::Memory;
  out.start = out.end = event_clock();
  out.bytes = bytes;
  out.device = device;
  out.thread = event_thread();
  add(out, "memory");
}

void Recorder::add(TraceEvent event, std::string_view name, std::string_view detail) {
  List& list = list_of_thread();
  const std::lock_guard lock(list.mutex);
  event.name = list.trace.number_of(name);
  event.detail = list.trace.number_of(detail);
  list.trace.events.push_back(event);
}

void Recorder::note(std::string sentence) {
  const std::lock_guard lock(mutex_);
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end())
    notes_.push_back(std::move(sentence));
}

void Recorder::add_device(TraceDevice device) {
  const std::lock_guard lock(mutex_);
  devices_.push_back(std::move(device));
}

Trace Recorder::take() {
  Trace out;
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<List>& list : lists_) {
    const std::lock_guard inner(list->mutex);
    for (const TraceEvent& event : list->trace.events)
      out.events.push_back(moved(event, list->trace, out));
    list->trace.events.clear();
  }
  out.notes = std::move(notes_);
  out.devices = std::move(devices_);
  notes_.clear();
  devices_.clear();
  return out;
}

}  // namespace tilewright
