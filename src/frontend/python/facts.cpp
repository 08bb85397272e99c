// SPDX-License-Identifier: Apache-2.0
// frontend/python/facts.cpp — values of outside names: constants that hold everywhere, and answers
// of a machine with a GPU.
#include <limits>
#include <map>

#include "frontend/python/interpreter.h"

namespace tilewright::python {

const Value* find_constant(std::string_view name) {
  static const std::map<std::string_view, Value> known = {
      {"torch.__version__", "2.11.0"},
      {"triton.__version__", "3.6.0"},
      {"sys.version_info", make_tuple({3, 12, 0})},
      {"math.e", 2.718281828459045},
      {"math.inf", std::numeric_limits<double>::infinity()},
      {"math.nan", std::numeric_limits<double>::quiet_NaN()},
      {"math.pi", 3.141592653589793},
      {"torch.finfo(torch.bfloat16).eps", 0.0078125},
      {"torch.finfo(torch.bfloat16).max", 3.3895313892515355e38},
      {"torch.finfo(torch.bfloat16).min", -3.3895313892515355e38},
      {"torch.finfo(torch.float16).eps", 0.0009765625},
      {"torch.finfo(torch.float16).max", 65504.0},
      {"torch.finfo(torch.float16).min", -65504.0},
      {"torch.finfo(torch.float32).eps", 1.1920928955078125e-07},
      {"torch.finfo(torch.float32).max", 3.4028234663852886e38},
      {"torch.finfo(torch.float32).min", -3.4028234663852886e38},
      {"torch.finfo(torch.float64).eps", 2.220446049250313e-16},
      {"torch.finfo(torch.float64).max", 1.7976931348623157e308},
      {"torch.finfo(torch.float64).min", -1.7976931348623157e308},
      {"torch.finfo(torch.float8_e4m3fn).max", 448.0},
      {"torch.finfo(torch.float8_e4m3fn).min", -448.0},
      {"torch.finfo(torch.float8_e5m2).max", 57344.0},
      {"torch.finfo(torch.float8_e5m2).min", -57344.0},
      {"torch.iinfo(torch.int16).max", 32767},
      {"torch.iinfo(torch.int16).min", -32768},
      {"torch.iinfo(torch.int32).max", 2147483647},
      {"torch.iinfo(torch.int32).min", std::int64_t{-2147483647} - 1},
      {"torch.iinfo(torch.int64).max", std::numeric_limits<std::int64_t>::max()},
      {"torch.iinfo(torch.int64).min", std::numeric_limits<std::int64_t>::min()},
      {"torch.iinfo(torch.int8).max", 127},
      {"torch.iinfo(torch.int8).min", -128},
      {"torch.iinfo(torch.uint8).max", 255},
      {"torch.iinfo(torch.uint8).min", 0},
      {"typing.TYPE_CHECKING", false},
  };
  const auto found = known.find(name);
  return found == known.end() ? nullptr : &found->second;
}

Facts nvidia_facts(int major, int minor) {
  const Value capability = make_tuple({major, minor});
  const std::string target = "triton.runtime.driver.active.get_current_target()";
  return {
      {"check_shared_mem()",
       major >= 8},  // the usual name for "has this device a large shared memory?"
      {"torch.cuda.is_available()", true},
      {"torch.cuda.device_count()", 1},
      {"torch.cuda.current_device()", 0},
      {"torch.cuda.get_device_capability()", capability},
      {"torch.cuda.get_device_name()", major >= 9 ? "NVIDIA H100" : "NVIDIA A100"},
      {"torch.cuda.get_device_properties().major", major},
      {"torch.cuda.get_device_properties().minor", minor},
      {"torch.version.hip", Value()},
      {"torch.version.cuda", "12.8"},
      {target + ".backend", "cuda"},
      {target + ".arch", major * 10 + minor},
      {target + ".warp_size", 32},
  };
}

}  // namespace tilewright::python
