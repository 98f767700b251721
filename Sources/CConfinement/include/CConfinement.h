// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CCONFINEMENT_H
#define HERALD_CCONFINEMENT_H

#include <sys/types.h>

/* Gives up, for good, everything this process does not need to turn bytes it has into bytes it writes: it can open no
 * file, no socket and no program any more, take no more than `memory` bytes beyond what it holds, no more than
 * `seconds` of time, and write no file longer than `output` bytes. All threads are bound.
 * Returns 0, or the errno of the step that failed; the caller must end then. */
int herald_confine(unsigned long memory, unsigned int seconds, unsigned long output);

/* A file in memory, closed on exec; -1 with errno when there is none. Close it with close(2). */
int herald_memory_file(void);

/* Starts a program with two open files as its standard input and output and nothing else: no other descriptor, no
 * environment, every signal as usual. Returns 0 and the child's id, or an errno. */
int herald_spawn(const char *executable, char *const arguments[], int input, int output, pid_t *child);

#endif
