// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CRESOLVER_H
#define HERALD_CRESOLVER_H

#include <stdint.h>

/* Record types by their numbers in DNS. */
enum herald_record_type {
    HERALD_RECORD_A = 1,
    HERALD_RECORD_AAAA = 28,
    HERALD_RECORD_SRV = 33,
    HERALD_RECORD_NAPTR = 35,
};

/* Failures of a query. */
enum herald_resolve_failure {
    HERALD_RESOLVE_NOT_FOUND = -1,      /* the name does not exist */
    HERALD_RESOLVE_NO_DATA = -2,        /* the name has no records of this type */
    HERALD_RESOLVE_SERVER_FAILURE = -3, /* SERVFAIL, REFUSED or another error code */
    HERALD_RESOLVE_TIMEOUT = -4,        /* no server responded in time */
    HERALD_RESOLVE_MALFORMED = -5,      /* the response is broken or does not match the query */
    HERALD_RESOLVE_UNREACHABLE = -6,    /* the servers cannot be reached, or no server listens there */
    HERALD_RESOLVE_BAD_NAME = -7,       /* not a valid name for a query */
    HERALD_RESOLVE_OTHER = -8,          /* no memory, no descriptors */
};

/* Limits: servers of a query, bytes of a name with its NUL, records of a response. */
enum { HERALD_NAME_SERVERS = 8, HERALD_NAME_BYTES = 256, HERALD_RECORDS = 64 };

/* A name server. An IPv4 address takes the first four bytes, in network order. */
struct herald_name_server {
    uint8_t address[16];
    uint16_t port; /* host order */
    uint8_t is_ipv6;
};

/* One record of a response. Fields outside its type are zero. */
struct herald_name_record {
    uint32_t ttl;                  /* seconds: the smallest of the record and its aliases */
    uint16_t type;
    uint16_t priority;             /* SRV; NAPTR: order */
    uint16_t weight;               /* SRV; NAPTR: preference */
    uint16_t port;                 /* SRV, host order */
    uint8_t address[16];           /* A (four bytes) and AAAA, in network order */
    char target[HERALD_NAME_BYTES]; /* SRV; NAPTR: replacement; "." for the root */
    char service[32];              /* NAPTR */
    char flags[8];                 /* NAPTR */
};

/* Queries the records of a complete name (no search list) and follows aliases in the response.
 *
 * Servers are queried in order (those of /etc/resolv.conf if server_count is 0), in up to attempts rounds. Each may
 * take timeout_ms. Blocks the calling thread for at most servers * attempts * timeout_ms. Any thread; calls share nothing.
 * Returns the number of written records, at most capacity and HERALD_RECORDS, or a herald_resolve_failure. */
int herald_resolve(const char *name, int type, const struct herald_name_server *servers, int server_count,
                   int timeout_ms, int attempts, struct herald_name_record *records, int capacity);

#endif
