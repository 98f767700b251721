// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_COSIP2_SHIM_H
#define HERALD_COSIP2_SHIM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <osipparser2/osip_parser.h>
#include <osipparser2/osip_port.h>

static inline void herald_osip_ignore_trace(const char *file, int line, osip_trace_level_t level,
                                            const char *format, va_list arguments) {
    (void)file; (void)line; (void)level; (void)format; (void)arguments;
}

/* Silences libosip2, which prints parse errors to stdout by default, and initialises its parser.
 * Not thread-safe: call it before any thread parses, because it writes libosip2's global trace table. */
static inline void herald_osip_start(void) {
    osip_trace_initialize_func(END_TRACE_LEVEL, herald_osip_ignore_trace);
    parser_init();
}

/* Frees memory that libosip2 allocated. Swift cannot call the macro osip_free. */
static inline void herald_osip_free(void *pointer) { osip_free(pointer); }

#endif
