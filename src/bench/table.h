// SPDX-License-Identifier: Apache-2.0
// bench/table.h — the table of base/table.h under its former name.
#pragma once

#include "base/table.h"
