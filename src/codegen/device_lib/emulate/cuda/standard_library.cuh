// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/standard_library.cuh — in place of standard.cuh when the source includes
// more of the standard library.
#define TW_EMULATE_STD 1
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#undef M_PI
#undef M_PI_2
#undef M_PI_4
#undef M_1_PI
#undef M_2_PI
#undef M_2_SQRTPI
#undef M_SQRT2
#undef M_SQRT1_2
#undef M_E
#undef M_LOG2E
#undef M_LOG10E
#undef M_LN2
#undef M_LN10

// The C library declares CUDA's fast functions for itself; ours get names of their own.
#define __expf tw_emulate_expf
#define __exp10f tw_emulate_exp10f
#define __logf tw_emulate_logf
#define __log2f tw_emulate_log2f
#define __log10f tw_emulate_log10f
#define __powf tw_emulate_powf
#define __sinf tw_emulate_sinf
#define __cosf tw_emulate_cosf
#define __tanf tw_emulate_tanf
#define __tanhf tw_emulate_tanhf
#define __sincosf tw_emulate_sincosf
// So do newer ones with these (glibc 2.41, 2.42).
#define sinpi tw_emulate_sinpi
#define cospi tw_emulate_cospi
#define sinpif tw_emulate_sinpif
#define cospif tw_emulate_cospif
#define rsqrt tw_emulate_rsqrt
#define rsqrtf tw_emulate_rsqrtf

using uchar = unsigned char;
