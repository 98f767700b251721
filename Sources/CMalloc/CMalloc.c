// SPDX-License-Identifier: Apache-2.0
// mallopt, which Swift's C library module does not offer.
#include "CMalloc.h"

#include <malloc.h>
#include <stdlib.h>

void herald_return_large_blocks(void) {
#ifdef __GLIBC__
    // Left to itself, glibc raises this bound to the size of whatever is freed, 32 MB at most, and keeps the rest of an
    // old index for good: 70 to 100 MB after a sync of a million numbers.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void herald_widen_heap(void) {
#ifdef __GLIBC__
    // Left to itself, glibc asks for a thread's heap page by page (mprotect), and each time waits until the page faults
    // of all other threads are served: milliseconds while a sync builds an index. What was laid out once stays so.
    enum { BLOCK = 1 << 19, BLOCKS = 96 };
    // Volatile, or the compiler leaves out what nobody reads.
    void *volatile blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = malloc(BLOCK);
    for (int i = BLOCKS - 1; i >= 0; i--) free(blocks[i]);
#endif
}
