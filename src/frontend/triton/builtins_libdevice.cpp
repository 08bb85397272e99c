#include "frontend/triton/builtin_tables.h"
namespace tilewright::triton { std::span<const BuiltinRow> libdevice_builtins() { return {}; } }
