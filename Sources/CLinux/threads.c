// SPDX-License-Identifier: Apache-2.0
// eventfd, thread names and sched_setattr: Swift's C library module does not offer them.
#define _GNU_SOURCE
#include "herald_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int herald_open_wakeup(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

void herald_clear_wakeup(int wakeup) {
    eventfd_t count;
    (void)!eventfd_read(wakeup, &count);
}

void herald_wake(int wakeup) {
    // A full counter is no failure: the thread wakes anyway.
    (void)!eventfd_write(wakeup, 1);
}

/* Under SCHED_OTHER the thread asks for slices of 0.1 ms, the shortest there are. A waking thread with shorter slices
 * preempts one with longer slices at once. Linux 6.12 and later; older kernels accept the call without effect. The
 * structure is that of sched_setattr(2); glibc 2.36 does not declare it. */
int herald_set_realtime(int enabled, int niceness) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t niceness;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } wanted = {.size = sizeof wanted, .niceness = niceness};
    wanted.policy = enabled ? SCHED_RR : SCHED_OTHER;
    wanted.priority = enabled ? 1 : 0;
    wanted.runtime = enabled ? 0 : 100000;
    return syscall(SYS_sched_setattr, 0, &wanted, 0) == 0 ? 0 : -errno;
}

void herald_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int herald_begin_call_thread(const char *name, int niceness) {
    herald_name_thread(name);
    /* On Linux a niceness belongs to one thread; 0 means the calling thread. The returned niceness shows a refusal. */
    (void)setpriority(PRIO_PROCESS, 0, niceness);
    int granted = getpriority(PRIO_PROCESS, 0);
    (void)herald_set_realtime(0, granted);
    return granted;
}
