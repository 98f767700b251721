// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CMALLOC_H
#define HERALD_CMALLOC_H

/* Lets large blocks always be pages of their own, which go back to the system when they are freed. Once, at start. */
void herald_return_large_blocks(void);

#endif
