// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CMALLOC_H
#define HERALD_CMALLOC_H

/* Lets large blocks always be pages of their own, which go back to the system when they are freed. Once, at start. */
void herald_return_large_blocks(void);

/* Lays out 48 MB of address space for small blocks of the calling thread, which takes no memory. Before other threads
 * are busy; some microseconds. */
void herald_widen_heap(void);

#endif
