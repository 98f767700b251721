// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_MEMORY_H
#define HERALD_MEMORY_H

/* Gives every large block pages of its own, which free returns to the system. Call once, at start. */
void herald_return_large_blocks(void);

/* Reserves 48 MB of address space for small blocks of the calling thread, without committing memory. Call before other
 * threads are busy. Takes some microseconds. */
void herald_preallocate_heap(void);

/* Opens a file in memory, closed on exec. Returns -1 with errno on failure. Close it with close(2). */
int herald_memory_file(const char *name);

#endif
