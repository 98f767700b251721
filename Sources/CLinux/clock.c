// SPDX-License-Identifier: Apache-2.0
#include "herald_threads.h"

#include <errno.h>
#include <string.h>
#include <sys/timex.h>

int herald_clock_is_synchronised(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    int result = adjtimex(&state);
    if (result < 0) return -errno;
    return result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}
