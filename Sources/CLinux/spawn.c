// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "herald_confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>

int herald_memory_file(void) { return memfd_create("herald", MFD_CLOEXEC); }

int herald_spawn(const char *executable, char *const arguments[], int input, int output, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *const environment[] = {NULL};
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawn_file_actions_init(&files);
    if (code != 0) return code;
    if ((code = posix_spawnattr_init(&attributes)) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return code;
    }
    if ((code = posix_spawn_file_actions_adddup2(&files, input, 0)) == 0
        && (code = posix_spawn_file_actions_adddup2(&files, output, 1)) == 0
        && (code = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0)) == 0
        && (code = posix_spawn_file_actions_addclosefrom_np(&files, 3)) == 0
        && (code = posix_spawnattr_setsigmask(&attributes, &none)) == 0
        && (code = posix_spawnattr_setsigdefault(&attributes, &all)) == 0
        && (code = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)) == 0)
        code = posix_spawn(child, executable, &files, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return code;
}
