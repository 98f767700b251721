// SPDX-License-Identifier: Apache-2.0
// Tells the thread sanitizer about a Swift Mutex for which a thread has waited.
//
// The program's own code takes a free Mutex, and the sanitizer sees that. The library takes one that is held, unseen: without
// this file, two accesses under one contended lock are reported as a race. Preload it into programs that were built with
// -sanitize=thread. The names are those of stdlib/public/Synchronization/Mutex/LinuxImpl.swift in Swift 6.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define MUTEX __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Not there in child programs that were built without the sanitizer.
extern __attribute__((weak)) void __tsan_acquire(void *address);
extern __attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock(uint32_t thread, MUTEX) __asm__(LOCK);
SWIFT bool try_lock(MUTEX) __asm__(TRY_LOCK);
SWIFT void unlock(MUTEX) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, MUTEX) {
    SWIFT void (*wait)(uint32_t, MUTEX) = dlsym(RTLD_NEXT, LOCK);
    wait(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock(MUTEX) {
    SWIFT bool (*try)(MUTEX) = dlsym(RTLD_NEXT, TRY_LOCK);
    bool taken = try(mutex);
    if (taken && __tsan_acquire) __tsan_acquire(mutex);
    return taken;
}

SWIFT void unlock(MUTEX) {
    SWIFT void (*wake)(MUTEX) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    wake(mutex);
}
