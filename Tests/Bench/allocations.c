// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of a program, by thread, in a file that other programs can read meanwhile.
//
// Loaded with LD_PRELOAD; BENCH_ALLOCATIONS names the file. allocations.py reads it. It sets `every` in it to N,
// and the call stack of each Nth allocation is counted too.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 511, STACKS = 65536, FRAMES = 30 };

struct thread {
    uint64_t id, allocations, frees, bytes, resized, since, padding[2];
};

struct stack {
    _Atomic uint64_t hash, count, bytes;
    uint64_t thread, depth, frames[FRAMES];
};

struct table {
    _Atomic uint64_t used;   // of threads; may pass THREADS, whose last entry then stands for all further ones
    volatile uint64_t every; // 0: no call stacks
    uint64_t padding[6];
    struct thread threads[THREADS];
    struct stack stacks[STACKS];
};

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static struct table *table;
static struct thread before_start;
static __thread struct thread *mine __attribute__((tls_model("initial-exec")));
static __thread int inside __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BENCH_ALLOCATIONS");
    void *frames[2];
    inside = 1;
    backtrace(frames, 2); // loads what it needs before anything is counted
    inside = 0;
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *space = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (space != MAP_FAILED) table = space;
    mine = NULL;
}

static struct thread *counters(void) {
    if (mine) return mine;
    if (!table) return &before_start;
    uint64_t place = atomic_fetch_add(&table->used, 1);
    mine = &table->threads[place < THREADS ? place : THREADS - 1];
    mine->id = (uint64_t)gettid();
    return mine;
}

static void note_stack(size_t bytes) {
    void *frames[FRAMES + 3];
    inside = 1;
    int depth = backtrace(frames, FRAMES + 3) - 3; // this function, counted, malloc
    inside = 0;
    if (depth <= 0) return;
    uint64_t hash = 14695981039346656037u ^ mine->id;
    for (int i = 0; i < depth; i++) hash = (hash ^ (uint64_t)frames[i + 3]) * 1099511628211u;
    if (!hash) hash = 1;
    for (uint64_t step = 0; step < 64; step++) {
        struct stack *entry = &table->stacks[(hash + step) % STACKS];
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong(&entry->hash, &empty, hash)) {
            for (int i = 0; i < depth; i++) entry->frames[i] = (uint64_t)frames[i + 3];
            entry->thread = mine->id;
            entry->depth = (uint64_t)depth;
        } else if (empty != hash) {
            continue;
        }
        atomic_fetch_add(&entry->count, 1);
        atomic_fetch_add(&entry->bytes, bytes);
        return;
    }
}

__attribute__((noinline)) static void counted(size_t bytes) {
    if (inside) return;
    struct thread *own = counters();
    own->allocations++;
    own->bytes += bytes;
    if (table && table->every && ++own->since >= table->every) {
        own->since = 0;
        note_stack(bytes);
    }
    __asm__ volatile(""); // no tail call: note_stack leaves out three frames
}

void *malloc(size_t size) {
    counted(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    counted(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    if (!inside && old) counters()->resized++;
    counted(size);
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    counted(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    counted(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size) {
    counted(size);
    void *space = __libc_memalign(alignment, size);
    if (!space) return ENOMEM;
    *place = space;
    return 0;
}

void free(void *space) {
    if (space && !inside) counters()->frees++;
    __libc_free(space);
}
