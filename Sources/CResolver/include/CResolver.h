// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CRESOLVER_H
#define HERALD_CRESOLVER_H

#include <stdint.h>

/* The kinds of records that can be asked for, by their numbers in DNS. */
enum herald_record_type {
    HERALD_RECORD_A = 1,
    HERALD_RECORD_AAAA = 28,
    HERALD_RECORD_SRV = 33,
    HERALD_RECORD_NAPTR = 35,
};

/* Why there are no records. */
enum herald_resolve_failure {
    HERALD_RESOLVE_NOT_FOUND = -1,      /* the name does not exist */
    HERALD_RESOLVE_NO_DATA = -2,        /* it exists and has no records of this type */
    HERALD_RESOLVE_SERVER_FAILURE = -3, /* SERVFAIL, REFUSED or another error code */
    HERALD_RESOLVE_TIMEOUT = -4,        /* no server answered in time */
    HERALD_RESOLVE_MALFORMED = -5,      /* what came is no answer to the question, or broken */
    HERALD_RESOLVE_UNREACHABLE = -6,    /* the system could not send there, or nothing listens */
    HERALD_RESOLVE_BAD_NAME = -7,       /* not a name that can be asked for */
    HERALD_RESOLVE_OTHER = -8,          /* no memory, no descriptors */
};

/* Bounds: servers asked at most, bytes of a name with its closing NUL, records read of one answer. */
enum { HERALD_NAME_SERVERS = 8, HERALD_NAME_ROOM = 256, HERALD_RECORDS = 64 };

/* A name server to ask. An IPv4 address sits in the first four bytes, in network order. */
struct herald_name_server {
    uint8_t address[16];
    uint16_t port; /* host order */
    uint8_t is_ipv6;
};

/* One record of an answer; what its type does not have is zero. */
struct herald_name_record {
    uint32_t ttl;                  /* seconds: the smallest of the record and the aliases that led to it */
    uint16_t type;
    uint16_t priority;             /* SRV; NAPTR: order */
    uint16_t weight;               /* SRV; NAPTR: preference */
    uint16_t port;                 /* SRV, host order */
    uint8_t address[16];           /* A (four bytes) and AAAA, in network order */
    char target[HERALD_NAME_ROOM]; /* SRV; NAPTR: replacement; "." for the root */
    char service[32];              /* NAPTR */
    char flags[8];                 /* NAPTR */
};

/* Asks for the records of a complete name (no search list) and follows aliases in the answer.
 *
 * Servers are asked in order, those of /etc/resolv.conf when server_count is 0, and all of them again up to attempts
 * times; each may take timeout_ms. Blocks the calling thread for at most servers * attempts * timeout_ms. Any thread;
 * nothing is shared between calls. Returns how many records were written, never more than room or HERALD_RECORDS, or
 * one of herald_resolve_failure. */
int herald_resolve(const char *name, int type, const struct herald_name_server *servers, int server_count,
                   int timeout_ms, int attempts, struct herald_name_record *records, int room);

#endif
