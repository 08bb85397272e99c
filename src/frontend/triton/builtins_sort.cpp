#include "frontend/triton/builtin_tables.h"
namespace tilewright::triton { std::span<const BuiltinRow> sort_builtins() { return {}; } }
