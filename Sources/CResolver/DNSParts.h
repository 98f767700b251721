// SPDX-License-Identifier: Apache-2.0
// What the parts of the door know of each other.
#ifndef HERALD_DNSPARTS_H
#define HERALD_DNSPARTS_H

#include <stdint.h>
#include <sys/socket.h>

/* A question as it goes out. */
struct dns_question {
    uint8_t bytes[512];
    int length;       /* with what follows the question section */
    int plain_length; /* header and question section */
};

/* True for letters, digits, '-' and '_' in labels of 1 to 63, 253 in all, without a dot at the end. */
int dns_is_name(const char *name);

/* Milliseconds of the monotonic clock. */
int64_t dns_now(void);

/* Sends a question to one server, over TCP when the answer did not fit a datagram, and waits for its answer until the
 * deadline. Returns the answer's length, at most room, or a herald_resolve_failure. */
int dns_exchange(const struct sockaddr *server, socklen_t server_length, const struct dns_question *question,
                 uint8_t *answer, int room, int64_t deadline);

struct herald_name_record;

/* Reads the records of a type that a name has, through aliases, out of an answer.
 * Returns how many were written, or a herald_resolve_failure. */
int dns_read_answer(const uint8_t *answer, int length, const char *name, int type, struct herald_name_record *records,
                    int room);

#endif
