// SPDX-License-Identifier: Apache-2.0
/*
 * Gives one process a wall clock that a test can set while it runs; preloaded, see clock.py.
 *
 * The file named by WALL_CLOCK_FILE holds the nanoseconds by which CLOCK_REALTIME is off, as eight bytes in the machine's
 * order. What the kernel does with a clock that is set stays as it is: a wait for an absolute time of day lasts longer when
 * the clock is set back and ends when it is set forward, a wait for a length of time does not notice.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;
/* How often a wait for a time of day looks at the clock again. */
static const int64_t slice = 20000000;

static int64_t none;
static volatile int64_t *offset = &none;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("WALL_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) offset = mapped;
    close(file);
}

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * second + time->tv_nsec; }

static struct timespec timespec_of(int64_t nanoseconds) {
    return (struct timespec){.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
}

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    syscall(SYS_clock_gettime, clock, &time);
    return nanoseconds(&time);
}

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

static int64_t wall(void) { return read_clock(CLOCK_REALTIME) + *offset; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && is_wall(clock)) *time = timespec_of(nanoseconds(time) + *offset);
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    int64_t now = wall();
    time->tv_sec = now / second;
    time->tv_usec = now % second / 1000;
    return 0;
}

time_t time(time_t *result) {
    time_t now = (time_t)(wall() / second);
    if (result) *result = now;
    return now;
}

/* The end of the next slice by the monotonic clock; 0 once the time of day has come. */
static int next_slice(const struct timespec *deadline, struct timespec *end) {
    int64_t left = nanoseconds(deadline) - wall();
    if (left <= 0) return 0;
    *end = timespec_of(read_clock(CLOCK_MONOTONIC) + (left < slice ? left : slice));
    return 1;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
    struct timespec end;
    if (sem_trywait(semaphore) == 0) return 0;
    while (next_slice(deadline, &end)) {
        if (sem_clockwait(semaphore, CLOCK_MONOTONIC, &end) == 0) return 0;
        if (errno != ETIMEDOUT) return -1;
    }
    errno = ETIMEDOUT;
    return -1;
}

/* Conditions that go by the monotonic clock, so that the others are known. */
static _Atomic(pthread_cond_t *) steady[512];

static int is_steady(pthread_cond_t *condition) {
    for (int i = 0; i < 512; i++) if (atomic_load(&steady[i]) == condition) return 1;
    return 0;
}

int pthread_cond_init(pthread_cond_t *restrict condition, const pthread_condattr_t *restrict attributes) {
    static int (*real)(pthread_cond_t *, const pthread_condattr_t *);
    if (!real) real = dlsym(RTLD_NEXT, "pthread_cond_init");
    clockid_t clock = CLOCK_REALTIME;
    if (attributes) pthread_condattr_getclock(attributes, &clock);
    for (int i = 0; i < 512; i++) {
        pthread_cond_t *expected = condition;
        atomic_compare_exchange_strong(&steady[i], &expected, NULL);
    }
    for (int i = 0; clock == CLOCK_MONOTONIC && i < 512; i++) {
        pthread_cond_t *expected = NULL;
        if (atomic_compare_exchange_strong(&steady[i], &expected, condition)) break;
    }
    return real(condition, attributes);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    if (is_steady(condition)) return real(condition, mutex, deadline);
    struct timespec end;
    if (!next_slice(deadline, &end)) return ETIMEDOUT;
    /* A slice that ends is a spurious wake-up, which every caller must expect. */
    int result = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &end);
    return result == ETIMEDOUT ? 0 : result;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
    if (!is_wall(clock) || !(flags & TIMER_ABSTIME)) {
        return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) == 0 ? 0 : errno;
    }
    struct timespec end;
    while (next_slice(wanted, &end)) syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
    return 0;
}
