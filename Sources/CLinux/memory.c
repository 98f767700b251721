// SPDX-License-Identifier: Apache-2.0
// mallopt and memfd_create: Swift's C library module does not offer them.
#define _GNU_SOURCE
#include "herald_memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

void herald_return_large_blocks(void) {
#ifdef __GLIBC__
    // By default glibc raises this threshold to the size of each freed block, up to 32 MB, and keeps the rest of an old
    // index for good: 70 to 100 MB after a sync of a million numbers.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void herald_preallocate_heap(void) {
#ifdef __GLIBC__
    // By default glibc extends a thread's heap page by page (mprotect). Each call waits for the page faults of all other
    // threads: milliseconds while a sync builds an index. A heap laid out once stays so.
    enum { BLOCK = 1 << 19, BLOCKS = 96 };
    // Volatile: the compiler would leave out blocks without a reader.
    void *volatile blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = malloc(BLOCK);
    for (int i = BLOCKS - 1; i >= 0; i--) free(blocks[i]);
#endif
}

int herald_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
