// SPDX-License-Identifier: Apache-2.0
// Internal functions of this target.
#ifndef HERALD_DNSPARTS_H
#define HERALD_DNSPARTS_H

#include <stdint.h>
#include <sys/socket.h>

/* A query. */
struct dns_question {
    uint8_t bytes[512];
    int length;       /* with the OPT record */
    int plain_length; /* header and question section */
};

/* True for a name of letters, digits, '-' and '_': labels of 1 to 63 bytes, 253 bytes in all, no final dot. */
int dns_is_name(const char *name);

/* Returns milliseconds of the monotonic clock. */
int64_t dns_now(void);

/* Sends a query to one server and waits for its response until the deadline. A truncated response is requested again
 * over TCP. Returns the response's length, at most capacity, or a herald_resolve_failure. */
int dns_exchange(const struct sockaddr *server, socklen_t server_length, const struct dns_question *question,
                 uint8_t *response, int capacity, int64_t deadline);

struct herald_name_record;

/* Reads a name's records of a type out of a response, through aliases.
 * Returns the number of written records, or a herald_resolve_failure. */
int dns_read_response(const uint8_t *response, int length, const char *name, int type,
                      struct herald_name_record *records, int capacity);

#endif
