// SPDX-License-Identifier: Apache-2.0
// conformance/conformance_test.cpp — the body: the cases of a family, at one place, against the
// interpreter.
#include "conformance.h"

#include <map>

namespace tilewright::conformance {
namespace {

// What a kernel is compiled for, as far as its types go.
using Typed = std::pair<std::string, DType>;

Typed typed(const Case& one) {
  for (const CaseArgument& argument : one.arguments)
    if (const auto* spec = std::get_if<BufferSpec>(&argument)) return {one.kernel, spec->dtype};
  return {one.kernel, f32};
}

// The CPU and the GPU run everything. Where that would only cost compile time, each kernel is seen
// with every size of its first type and one size of the others (emulated), with one size of every
// type (sm_90a), or once (sm_80, the wide machine).
std::vector<const Case*> cases_for(const Family& family, Place place) {
  std::map<std::string, const Case*> first;
  std::map<Typed, const Case*> last;
  for (const Case& one : family.cases) {
    if ((place == Place::Emulated || place == Place::Wide) && !one.emulated) continue;
    first.try_emplace(one.kernel, &one);
    last[typed(one)] = &one;
  }
  std::vector<const Case*> out;
  for (const Case& one : family.cases) {
    const bool is_last = last[typed(one)] == &one;
    const bool is_first_type = first[one.kernel] && typed(one) == typed(*first[one.kernel]);
    bool wanted = true;
    if (place == Place::Emulated) wanted = one.emulated && (is_first_type || is_last);
    if (place == Place::Sm90a) wanted = is_last;
    if (place == Place::Sm80) wanted = is_last && is_first_type;
    if (place == Place::Wide) wanted = one.emulated && is_last && is_first_type;
    if (wanted) out.push_back(&one);
  }
  return out;
}

}  // namespace

TEST_P(Conformance, AgreesWithTheInterpreter) {
  const auto& [family, place] = GetParam();
  if (const std::string reason = why_not(place); !reason.empty()) GTEST_SKIP() << reason;
  for (const Case* one : cases_for(family, place))
    for (const std::string& complaint : run_case(family, *one, place))
      ADD_FAILURE() << one->kernel << ", " << one->what << ": " << complaint;
}

}  // namespace tilewright::conformance
