// SPDX-License-Identifier: Apache-2.0
// machine/target.cpp — targets by name.
#include "tilewright/target.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "machine/cpu.h"
#include "machine/cuda.h"
#include "tilewright/error.h"

namespace tilewright {

const Target& Target::host() {
  static const Target target = detect_cpu();
  return target;
}

Target Target::parse(std::string_view name) {
  if (name == "cpu") return host();
  if (name == "avx2") return cpu_target(false);
  if (name == "avx512") return cpu_target(true);
  std::vector<std::string> known = {"cpu", "avx2", "avx512"};
  for (Target& target : cuda_targets()) {
    if (name == target.name) return std::move(target);
    known.push_back(target.name);
  }
  throw ArgumentError(fmt::format("unknown target '{}'{}", name, suggest_names(name, known)));
}

}  // namespace tilewright
