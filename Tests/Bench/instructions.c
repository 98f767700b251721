// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU's user mode (API 1): counts the runs of each block of code by thread, in the file that
// BENCH_INSTRUCTIONS names. The file is a `struct table`; executed.py reads it.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// From qemu-plugin.h, which Debian does not package.
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
typedef void translated(uint64_t, struct qemu_plugin_tb *);
typedef void executed(unsigned, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, translated *);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed *, int, void *);
int qemu_plugin_version = 1;

// Threads beyond these share the counts of earlier ones.
enum { THREADS = 32, BLOCKS = 1 << 18, PLACES = 1 << 20 };

struct block {
    uint64_t start, instructions, bytes, runs[THREADS];
};

static struct table {
    uint64_t count;
    struct block blocks[BLOCKS];
} *table;

// Blocks by their start: 0 for none, else the position plus 1. QEMU forgets blocks and translates them again.
static uint32_t places[PLACES];

static void ran(unsigned thread, void *block) { ((struct block *)block)->runs[thread % THREADS]++; }

// QEMU calls it from one thread at a time.
static struct block *known(uint64_t start, uint64_t instructions, uint64_t bytes) {
    uint32_t place = (start * 0x9E3779B97F4A7C15u) >> 44;
    for (; places[place] != 0; place = (place + 1) % PLACES) {
        struct block *block = &table->blocks[places[place] - 1];
        if (block->start == start && block->bytes == bytes) return block;
    }
    if (table->count == BLOCKS) {
        static const char full[] = "instructions: there is more code than the table holds; raise BLOCKS\n";
        (void)!write(STDERR_FILENO, full, sizeof full - 1);
        _exit(1);
    }
    struct block *block = &table->blocks[table->count];
    *block = (struct block){.start = start, .instructions = instructions, .bytes = bytes};
    places[place] = ++table->count;
    return block;
}

static void met(uint64_t plugin, struct qemu_plugin_tb *code) {
    (void)plugin;
    size_t instructions = qemu_plugin_tb_n_insns(code), bytes = 0;
    for (size_t i = 0; i < instructions; i++) bytes += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(code, i));
    qemu_plugin_register_vcpu_tb_exec_cb(code, ran, 0, known(qemu_plugin_tb_vaddr(code), instructions, bytes));
}

int qemu_plugin_install(uint64_t plugin, const struct qemu_info_t *about, int count, char **arguments) {
    (void)about, (void)count, (void)arguments;
    const char *path = getenv("BENCH_INSTRUCTIONS");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0 || ftruncate(file, sizeof *table) != 0) return 1;
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (table == MAP_FAILED) return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, met);
    return 0;
}
