// SPDX-License-Identifier: Apache-2.0
// The transports of offer.c: a UDP port, or one TCP connection, on which a subject that does not read blocks the sender.
#include "offer_messages.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { BATCH = 64, STREAM_ROOM = 1 << 20 };

struct wire {
    int descriptor, is_stream;
    char *received, *waiting; // of a stream: what is no whole message yet, and what the system has not taken
    size_t received_length, waiting_start, waiting_end, waiting_room;
};

static void stop(const char *what) {
    perror(what);
    exit(1);
}

static struct sockaddr_in loopback(int last, int port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl((127u << 24) + (uint32_t)last),
                                .sin_port = htons((uint16_t)port)};
}

static struct wire datagrams(int port) {
    struct sockaddr_in own = loopback(1, port);
    int wire = socket(AF_INET, SOCK_DGRAM, 0), size = 8 << 20;
    if (setsockopt(wire, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
        setsockopt(wire, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (wire < 0 || bind(wire, (struct sockaddr *)&own, sizeof own) < 0) stop("offer: bind");
    return (struct wire){.descriptor = wire};
}

// The carrier has an address of its own, since its TCP port is the system's choice.
static struct wire stream(const struct sockaddr_in *subject) {
    struct sockaddr_in own = loopback(2, 0);
    int wire = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (wire < 0 || bind(wire, (struct sockaddr *)&own, sizeof own) < 0) stop("offer: bind");
    if (connect(wire, (const struct sockaddr *)subject, sizeof *subject) < 0) stop("offer: connect");
    setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(wire, F_SETFL, O_NONBLOCK);
    return (struct wire){.descriptor = wire, .is_stream = 1, .received = malloc(STREAM_ROOM + 1)};
}

// Writes the waiting bytes of a stream as far as the system takes them.
static void write_waiting(struct wire *wire) {
    while (wire->waiting_start < wire->waiting_end) {
        ssize_t count = send(wire->descriptor, wire->waiting + wire->waiting_start,
                             wire->waiting_end - wire->waiting_start, MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) stop("offer: send");
        wire->waiting_start += (size_t)count;
    }
    wire->waiting_start = wire->waiting_end = 0;
}

static void say(struct wire *wire, const struct sockaddr_in *subject, const char *text, size_t length) {
    if (!wire->is_stream) {
        sendto(wire->descriptor, text, length, 0, (const struct sockaddr *)subject, sizeof *subject);
        return;
    }
    if (wire->waiting_end + length > wire->waiting_room) {
        memmove(wire->waiting, wire->waiting + wire->waiting_start, wire->waiting_end - wire->waiting_start);
        wire->waiting_end -= wire->waiting_start;
        wire->waiting_start = 0;
        while (wire->waiting_end + length > wire->waiting_room) wire->waiting_room += STREAM_ROOM + wire->waiting_room;
        wire->waiting = realloc(wire->waiting, wire->waiting_room);
    }
    memcpy(wire->waiting + wire->waiting_end, text, length);
    wire->waiting_end += length;
}

static int take_stream(struct wire *wire, void (*handle)(const char *)) {
    ssize_t count = recv(wire->descriptor, wire->received + wire->received_length,
                         STREAM_ROOM - wire->received_length, 0);
    if (count == 0) exit((fputs("offer: the subject closed the connection\n", stderr), 1));
    if (count < 0) return 0;
    wire->received_length += (size_t)count;
    char *one = wire->received, *end = one + wire->received_length, *head_end;
    *end = 0;
    while ((head_end = strstr(one, "\r\n\r\n"))) {
        const char *length = header(one, "\r\nContent-Length:");
        char *next = head_end + 4 + (length && length < head_end ? atoi(length) : 0);
        if (next > end) break;
        char kept = *next;
        *next = 0;
        handle(one);
        *next = kept;
        one = next;
    }
    wire->received_length = (size_t)(end - one);
    memmove(wire->received, one, wire->received_length);
    return 1;
}

// Passes received messages to `handle`, each ended by a zero; returns whether there were any.
static int take(struct wire *wire, void (*handle)(const char *)) {
    if (wire->is_stream) return take_stream(wire, handle);
    static char space[BATCH][SPACE];
    struct mmsghdr heads[BATCH];
    struct iovec parts[BATCH];
    memset(heads, 0, sizeof heads);
    for (int place = 0; place < BATCH; place++) {
        parts[place] = (struct iovec){space[place], SPACE - 1};
        heads[place].msg_hdr.msg_iov = &parts[place];
        heads[place].msg_hdr.msg_iovlen = 1;
    }
    int count = recvmmsg(wire->descriptor, heads, BATCH, MSG_DONTWAIT, NULL);
    for (int place = 0; place < count; place++) {
        space[place][heads[place].msg_len] = 0;
        handle(space[place]);
    }
    return count > 0;
}
