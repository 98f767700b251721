// SPDX-License-Identifier: Apache-2.0
// One query to one server. The C library's exchange has timeouts in whole seconds and none over TCP: a server that
// accepts a connection and sends nothing would block a thread for ever.
#define _GNU_SOURCE
#include "CResolver.h"
#include "DNSParts.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* Foreign datagrams before a server is given up. */
enum { FOREIGN_RESPONSES = 64 };

int64_t dns_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Waits until a descriptor is ready. Returns 0, or a herald_resolve_failure. */
static int wait_for(int descriptor, short events, int64_t deadline) {
    for (;;) {
        int64_t left = deadline - dns_now();
        if (left <= 0) return HERALD_RESOLVE_TIMEOUT;
        struct pollfd one = {.fd = descriptor, .events = events};
        int ready = poll(&one, 1, left > INT32_MAX ? INT32_MAX : (int)left);
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return HERALD_RESOLVE_OTHER;
    }
}

/* True if a response repeats the query's id and question, in either case of letters. */
static int repeats_query(const uint8_t *response, ssize_t length, const struct dns_question *question) {
    if (length < NS_HFIXEDSZ) return 0;
    int is_response = (response[2] & 0x80) != 0 && (response[2] & 0x78) == 0;
    if (!is_response || response[0] != question->bytes[0] || response[1] != question->bytes[1]) return 0;
    int questions = response[4] << 8 | response[5], code = response[3] & 0x0f;
    // A server that cannot read the query, or refuses it, may omit the question.
    if (questions == 0) return code != ns_r_noerror && code != ns_r_nxdomain;
    if (questions != 1 || length < question->plain_length) return 0;
    for (int i = NS_HFIXEDSZ; i < question->plain_length; i++) {
        if (tolower(response[i]) != tolower(question->bytes[i])) return 0;
    }
    return 1;
}

static int exchange_datagrams(int descriptor, const struct dns_question *question, uint8_t *response, int capacity,
                              int64_t deadline) {
    if (send(descriptor, question->bytes, (size_t)question->length, MSG_NOSIGNAL) < 0)
        return HERALD_RESOLVE_UNREACHABLE;
    for (int foreign = 0; foreign < FOREIGN_RESPONSES;) {
        int failure = wait_for(descriptor, POLLIN, deadline);
        if (failure == HERALD_RESOLVE_TIMEOUT && foreign > 0) return HERALD_RESOLVE_MALFORMED;
        if (failure != 0) return failure;
        ssize_t length = recv(descriptor, response, (size_t)capacity, 0);
        if (length < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (length < 0) return HERALD_RESOLVE_UNREACHABLE;
        if (repeats_query(response, length, question)) return (int)length;
        foreign++;
    }
    return HERALD_RESOLVE_MALFORMED;
}

static int send_all(int descriptor, const uint8_t *bytes, size_t length, int64_t deadline) {
    while (length > 0) {
        int failure = wait_for(descriptor, POLLOUT, deadline);
        if (failure != 0) return failure;
        ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent < 0) return HERALD_RESOLVE_UNREACHABLE;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

static int receive_all(int descriptor, uint8_t *bytes, size_t length, int64_t deadline) {
    while (length > 0) {
        int failure = wait_for(descriptor, POLLIN, deadline);
        if (failure != 0) return failure;
        ssize_t received = recv(descriptor, bytes, length, 0);
        if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (received < 0) return HERALD_RESOLVE_UNREACHABLE;
        if (received == 0) return HERALD_RESOLVE_MALFORMED;
        bytes += received;
        length -= (size_t)received;
    }
    return 0;
}

/* RFC 1035 section 4.2.2: two bytes of length before each message. */
static int exchange_stream(int descriptor, const struct dns_question *question, uint8_t *response, int capacity,
                           int64_t deadline) {
    const uint8_t prefix[2] = {(uint8_t)(question->length >> 8), (uint8_t)question->length};
    uint8_t response_prefix[2];
    int failure = send_all(descriptor, prefix, sizeof prefix, deadline);
    if (failure == 0) failure = send_all(descriptor, question->bytes, (size_t)question->length, deadline);
    if (failure == 0) failure = receive_all(descriptor, response_prefix, sizeof response_prefix, deadline);
    if (failure != 0) return failure;
    int length = response_prefix[0] << 8 | response_prefix[1];
    if (length > capacity) return HERALD_RESOLVE_MALFORMED;
    failure = receive_all(descriptor, response, (size_t)length, deadline);
    if (failure != 0) return failure;
    return repeats_query(response, length, question) ? length : HERALD_RESOLVE_MALFORMED;
}

/* Opens a connected socket, so that the kernel drops datagrams of other hosts.
 * Returns it, or a herald_resolve_failure. */
static int open_connected(const struct sockaddr *server, socklen_t server_length, int kind, int64_t deadline) {
    int descriptor = socket(server->sa_family, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno == EAFNOSUPPORT ? HERALD_RESOLVE_UNREACHABLE : HERALD_RESOLVE_OTHER;
    if (connect(descriptor, server, server_length) == 0) return descriptor;
    int failure = errno == EINPROGRESS ? wait_for(descriptor, POLLOUT, deadline) : HERALD_RESOLVE_UNREACHABLE;
    int reason = 0;
    socklen_t length = sizeof reason;
    if (failure == 0 && (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &reason, &length) != 0 || reason != 0)) {
        failure = HERALD_RESOLVE_UNREACHABLE;
    }
    if (failure == 0) return descriptor;
    close(descriptor);
    return failure;
}

int dns_exchange(const struct sockaddr *server, socklen_t server_length, const struct dns_question *question,
                 uint8_t *response, int capacity, int64_t deadline) {
    int descriptor = open_connected(server, server_length, SOCK_DGRAM, deadline);
    if (descriptor < 0) return descriptor;
    int length = exchange_datagrams(descriptor, question, response, capacity, deadline);
    close(descriptor);
    int is_truncated = length > 0 && (response[2] & 0x02) != 0;
    if (!is_truncated) return length;
    descriptor = open_connected(server, server_length, SOCK_STREAM, deadline);
    if (descriptor < 0) return descriptor;
    length = exchange_stream(descriptor, question, response, capacity, deadline);
    close(descriptor);
    return length;
}
