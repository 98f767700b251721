// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CONFINEMENT_H
#define HERALD_CONFINEMENT_H

#include <sys/types.h>

/* Confines the process for good to reading, computing and writing (seccomp). It can open no file, socket or program
 * afterwards. Limits: `memory` bytes beyond the present address space, `seconds` of CPU time and twice that of wall
 * time, and files of `output` bytes. All threads are bound.
 * Returns 0, or the errno of the failed step; the caller must end then. */
int herald_confine(unsigned long memory, unsigned int seconds, unsigned long output);

/* Opens a file in memory, closed on exec. Returns -1 with errno on failure. Close it with close(2). */
int herald_memory_file(void);

/* Starts a program with two open files as its standard input and output and nothing else: no other descriptor, no
 * environment, every signal as usual. Returns 0 and the child's id, or an errno. */
int herald_spawn(const char *executable, char *const arguments[], int input, int output, pid_t *child);

#endif
