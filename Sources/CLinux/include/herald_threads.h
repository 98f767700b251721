// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_THREADS_H
#define HERALD_THREADS_H

/* Opens a descriptor (eventfd) that wakes a thread waiting in poll. Returns it, or -errno. Close it with close(2). */
int herald_open_wakeup(void);

/* Resets the descriptor, so that the thread can wait again. */
void herald_clear_wakeup(int wakeup);

/* Wakes the thread that waits on the descriptor. Any thread. */
void herald_wake(int wakeup);

/* Names the calling thread for ps and top; at most 15 bytes, else nothing happens. */
void herald_name_thread(const char *name);

/* Names the calling thread, and requests a niceness and the shortest time slices. A niceness below 0
 * needs CAP_SYS_NICE or RLIMIT_NICE. Returns the granted niceness. */
int herald_begin_call_thread(const char *name, int niceness);

/* Switches the calling thread to real-time scheduling (SCHED_RR, lowest priority), or back to SCHED_OTHER with the
 * given niceness and the shortest time slices. Real time needs CAP_SYS_NICE or RLIMIT_RTPRIO. Returns 0 or -errno. */
int herald_set_realtime(int enabled, int niceness);

/* Returns 1 if a time server keeps the kernel's clock in step (adjtimex(2)), 0 if not, or a negative error number. */
int herald_clock_is_synchronised(void);

#endif
