// SPDX-License-Identifier: Apache-2.0
// Any WebP, AVIF or HEIC: a picture that is decoded has every pixel that it announces, and no more than allowed.
// A HEIC is decoded in a child, as in herald-scale-logo: libheif 1.15.1 follows references in a circle until its stack is used
// up. The child may end by that alone, and must end in time: any other report of the sanitizer fails the target.
#include "herald_pictures.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

// The exit code of a child with a fault that is not the known one.
enum { FOUND = 3 };

// Of the address sanitizer, where the target is built with it.
void __asan_set_error_report_callback(void (*callback)(const char *report)) __attribute__((weak));

typedef int reader(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture);

static void decode(reader *read, const uint8_t *bytes, size_t size) {
    herald_picture picture;
    if (read(bytes, size, MOST, &picture) != HERALD_PICTURE_READ) return;
    if (picture.width == 0 || picture.height == 0 || picture.stride < (size_t)picture.width * 4) abort();
    if (picture.orientation < 1 || picture.orientation > 8) abort();
    volatile uint8_t sum = 0;
    for (uint32_t y = 0; y < picture.height; y++) {
        for (size_t x = 0; x < (size_t)picture.width * 4; x++) sum ^= picture.pixels[picture.stride * y + x];
    }
    herald_picture_free(&picture);
}

static void end_with_report(const char *report) { _exit(strstr(report, "stack-overflow") != NULL ? 0 : FOUND); }

static void end_with_abort(int number) {
    (void)number;
    _exit(FOUND);
}

static void decode_in_child(reader *read, const uint8_t *bytes, size_t size) {
    const pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGALRM, SIG_DFL);
        signal(SIGABRT, end_with_abort);
        if (__asan_set_error_report_callback != NULL) __asan_set_error_report_callback(end_with_report);
        alarm(10);
        decode(read, bytes, size);
        _exit(0);
    }
    int status = 0;
    // The timer of libFuzzer interrupts the wait.
    while (waitpid(child, &status, 0) != child) {
        if (errno != EINTR) abort();
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) abort();
    // FOUND, or the code of another sanitizer.
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 16) return 0;
    // Bytes of its own: a read beyond them is one beyond an allocation.
    uint8_t *bytes = malloc(size);
    memcpy(bytes, data, size);
    if (memcmp(bytes, "RIFF", 4) == 0) {
        decode(herald_read_webp, bytes, size);
    } else if (memcmp(bytes + 8, "avi", 3) == 0) {
        decode(herald_read_avif, bytes, size);
    } else {
        decode_in_child(herald_read_heic, bytes, size);
    }
    free(bytes);
    return 0;
}
