// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "herald_confinement.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "name the audit architecture of this machine"
#endif

#define ALLOW(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Permits memory, reading and writing of open files, and exiting. Every other call fails with EPERM, so a library that
 * asks for a locale or the time zone continues without it. */
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read), ALLOW(write), ALLOW(lseek), ALLOW(close), ALLOW(fstat),
    ALLOW(brk), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise),
    ALLOW(futex), ALLOW(sched_yield), ALLOW(clock_gettime), ALLOW(getrandom),
    ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(rt_sigaction), ALLOW(sigaltstack), ALLOW(restart_syscall),
    ALLOW(getpid), ALLOW(gettid), ALLOW(tgkill), ALLOW(exit), ALLOW(exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};

static int limit(int resource, unsigned long value) {
    const struct rlimit both = {.rlim_cur = value, .rlim_max = value};
    return setrlimit(resource, &both) == 0 ? 0 : errno;
}

/* Returns the bytes of address space of this process; 0 if the system does not report them. */
static unsigned long address_space(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return 0;
    unsigned long pages = 0;
    if (fscanf(file, "%lu", &pages) != 1) pages = 0;
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* Makes this process the first that the kernel ends when memory runs out, and not its parent: raising needs no right. A
 * system without the file decodes too. */
static void end_first(void) {
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (file == NULL) return;
    (void)fputs("1000", file);
    (void)fclose(file);
}

int herald_confine(unsigned long memory, unsigned int seconds, unsigned long output) {
    const unsigned long held = address_space();
    if (held == 0) return ENOSYS;
    end_first();
    int code;
    if ((code = limit(RLIMIT_CORE, 0)) != 0) return code;
    if ((code = limit(RLIMIT_AS, held + memory)) != 0) return code;
    /* SIGXCPU ends the process, a second before the SIGKILL that also comes when memory runs out. */
    const struct rlimit time = {.rlim_cur = seconds, .rlim_max = seconds + 1};
    if (setrlimit(RLIMIT_CPU, &time) != 0) return errno;
    if ((code = limit(RLIMIT_FSIZE, output)) != 0) return code;
    alarm(seconds * 2); /* SIGALRM ends the process: the limit covers waiting too */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    const struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) return errno;
    return 0;
}
