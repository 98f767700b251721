// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CONFINEMENT_H
#define HERALD_CONFINEMENT_H

/* Confines the process for good to reading, computing and writing (seccomp). It can open no file, socket or program
 * afterwards. Limits: `memory` bytes beyond the present address space, `seconds` of CPU time and twice that of wall
 * time, and files of `output` bytes. All threads are bound. The kernel ends the process first when memory runs out.
 * Returns 0, or the errno of the failed step; the caller must end then. */
int herald_confine(unsigned long memory, unsigned int seconds, unsigned long output);

#endif
