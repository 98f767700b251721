// SPDX-License-Identifier: Apache-2.0
// mallopt, which Swift's C library module does not offer.
#include "CMalloc.h"

#include <malloc.h>

void herald_return_large_blocks(void) {
#ifdef __GLIBC__
    // Left to itself, glibc raises this bound to the size of whatever is freed, 32 MB at most, and keeps the rest of an
    // old index for good: 70 to 100 MB after a sync of a million numbers.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}
