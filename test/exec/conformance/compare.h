// SPDX-License-Identifier: Apache-2.0
// conformance/compare.h — when a buffer counts as equal to what the interpreter computed.
#pragma once

#include <span>
#include <string>

#include "case.h"

namespace tilewright::conformance {

using Bytes = std::span<const unsigned char>;

struct Judged {
  const BufferSpec& spec;
  Bytes initial;    // before the launch
  Bytes plain;      // after it, by the interpreter
  Bytes reference;  // by the interpreter in float64; empty when `exact`
};

// Empty when equal, else what differs first. Elements of an output that the interpreter leaves
// alone must hold the same bits as before; NaN stands for any NaN.
std::string difference(const Judged& judged, Bytes got, double ulps, double magnitude);

}  // namespace tilewright::conformance
