// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_families.h — the families of ops of the lowering to threads. Each has its
// own state; what one needs of another it asks for here.
#pragma once

#include "codegen/lower/thread_ahead.h"
#include "codegen/lower/thread_atomics.h"
#include "codegen/lower/thread_copies.h"
#include "codegen/lower/thread_dots.h"
#include "codegen/lower/thread_groups.h"
#include "codegen/lower/thread_loops.h"
#include "codegen/lower/thread_mma.h"
#include "codegen/lower/thread_reductions.h"
#include "codegen/lower/thread_rings.h"
#include "codegen/lower/thread_rows.h"
#include "codegen/lower/thread_scalars.h"
#include "codegen/lower/thread_scans.h"
#include "codegen/lower/thread_sorts.h"
#include "codegen/lower/thread_stores.h"
#include "codegen/lower/thread_tiles.h"
#include "codegen/lower/thread_vectors.h"

namespace tilewright {

class ThreadLowering;

struct ThreadFamilies {
  ThreadLowering& program;  // steps and control flow
  ThreadScalars scalars;
  ThreadLoops loops;
  ThreadVectors vectors;
  ThreadRows rows;
  ThreadTiles tiles;
  ThreadReductions reductions;
  ThreadScans scans;
  ThreadSorts sorts;
  ThreadAtomics atomics;
  ThreadCopies copies;
  ThreadDots dots;
  ThreadMma mma;
  ThreadAhead ahead;
  ThreadGroups groups;
  ThreadRings rings;
  ThreadStores stores;
};

}  // namespace tilewright
