// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CGD_SHIM_H
#define HERALD_CGD_SHIM_H

#include <stdarg.h>
#include <stdio.h>
#include <gd.h>

static inline void herald_gd_ignore(int priority, const char *format, va_list arguments) {
    (void)priority; (void)format; (void)arguments;
}

/* libgd prints what it dislikes to stderr, with texts a picture chose. */
static inline void herald_gd_silence(void) { gdSetErrorMethod(herald_gd_ignore); }

#endif
