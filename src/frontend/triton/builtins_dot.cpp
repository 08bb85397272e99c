#include "frontend/triton/builtin_tables.h"
namespace tilewright::triton { std::span<const BuiltinRow> dot_builtins() { return {}; } }
