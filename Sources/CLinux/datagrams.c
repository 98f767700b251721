// SPDX-License-Identifier: Apache-2.0
// recvmmsg and sendmmsg: Swift's C library module does not offer them.
#define _GNU_SOURCE
#include "herald_datagrams.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static socklen_t fill_address(struct sockaddr_storage *storage, const uint8_t address[16], int is_ipv6, uint16_t port) {
    memset(storage, 0, sizeof *storage);
    if (is_ipv6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        memcpy(&six->sin6_addr, address, 16);
        return sizeof *six;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)storage;
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    memcpy(&four->sin_addr, address, 4);
    return sizeof *four;
}

static void read_address(struct herald_datagram *datagram, const struct sockaddr_storage *storage) {
    memset(datagram->address, 0, sizeof datagram->address);
    if (storage->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)storage;
        memcpy(datagram->address, &six->sin6_addr, 16);
        datagram->port = ntohs(six->sin6_port);
        datagram->is_ipv6 = 1;
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)storage;
        memcpy(datagram->address, &four->sin_addr, 4);
        datagram->port = ntohs(four->sin_port);
        datagram->is_ipv6 = 0;
    }
}

struct herald_inbox {
    struct mmsghdr messages[HERALD_DATAGRAM_BATCH];
    struct iovec vectors[HERALD_DATAGRAM_BATCH];
    struct sockaddr_storage addresses[HERALD_DATAGRAM_BATCH];
    uint8_t *buffer;
};

struct herald_inbox *herald_make_inbox(size_t capacity) {
    struct herald_inbox *inbox = calloc(1, sizeof *inbox);
    if (inbox == NULL) return NULL;
    inbox->buffer = malloc(capacity * HERALD_DATAGRAM_BATCH);
    if (inbox->buffer == NULL) {
        free(inbox);
        return NULL;
    }
    for (int i = 0; i < HERALD_DATAGRAM_BATCH; i++) {
        inbox->vectors[i] = (struct iovec){.iov_base = inbox->buffer + (size_t)i * capacity, .iov_len = capacity};
        inbox->messages[i].msg_hdr = (struct msghdr){
            .msg_name = &inbox->addresses[i],
            .msg_namelen = sizeof inbox->addresses[i],
            .msg_iov = &inbox->vectors[i],
            .msg_iovlen = 1,
        };
    }
    return inbox;
}

void herald_free_inbox(struct herald_inbox *inbox) {
    free(inbox->buffer);
    free(inbox);
}

int herald_receive_datagrams(int socket, struct herald_inbox *inbox) {
    int received = recvmmsg(socket, inbox->messages, HERALD_DATAGRAM_BATCH, MSG_DONTWAIT, NULL);
    if (received < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
    // The kernel has written the length of each address. The next address may be longer.
    for (int i = 0; i < received; i++) inbox->messages[i].msg_hdr.msg_namelen = sizeof inbox->addresses[i];
    return received;
}

struct herald_datagram herald_received(const struct herald_inbox *inbox, int index) {
    struct herald_datagram datagram = {
        .data = inbox->vectors[index].iov_base,
        .length = inbox->messages[index].msg_len,
        .truncated = (inbox->messages[index].msg_hdr.msg_flags & MSG_TRUNC) != 0,
    };
    read_address(&datagram, &inbox->addresses[index]);
    return datagram;
}

/* An ICMP message about an earlier datagram makes the next call on its socket fail once, whatever its destination. */
static int is_about_another(int sent) { return sent < 0 && (errno == ECONNREFUSED || errno == EPROTO); }

static int send_once(int socket, const struct herald_datagram *datagrams, int count) {
    struct mmsghdr messages[HERALD_DATAGRAM_BATCH];
    struct iovec vectors[HERALD_DATAGRAM_BATCH];
    struct sockaddr_storage addresses[HERALD_DATAGRAM_BATCH];
    if (count == 1) {
        // The usual case. sendmmsg costs a tenth more for one datagram.
        socklen_t length = fill_address(&addresses[0], datagrams->address, datagrams->is_ipv6, datagrams->port);
        ssize_t sent = sendto(socket, datagrams->data, datagrams->length, MSG_DONTWAIT,
                              (struct sockaddr *)&addresses[0], length);
        return sent < 0 ? -1 : 1;
    }
    if (count > HERALD_DATAGRAM_BATCH) count = HERALD_DATAGRAM_BATCH;
    memset(messages, 0, sizeof messages[0] * (size_t)count);
    for (int i = 0; i < count; i++) {
        vectors[i].iov_base = datagrams[i].data;
        vectors[i].iov_len = datagrams[i].length;
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_name = &addresses[i];
        messages[i].msg_hdr.msg_namelen =
            fill_address(&addresses[i], datagrams[i].address, datagrams[i].is_ipv6, datagrams[i].port);
    }
    return sendmmsg(socket, messages, (unsigned)count, MSG_DONTWAIT);
}

int herald_send_datagrams(int socket, const struct herald_datagram *datagrams, int count) {
    int sent = send_once(socket, datagrams, count);
    for (int again = 0; again < 3 && is_about_another(sent); again++) sent = send_once(socket, datagrams, count);
    if (is_about_another(sent)) return -EAGAIN;
    return sent < 0 ? -errno : sent;
}

int herald_receive_returned(int socket, uint8_t *buffer, size_t capacity) {
    struct iovec vector = {.iov_base = buffer, .iov_len = capacity};
    struct sockaddr_storage destination;
    union {
        struct cmsghdr header;
        char bytes[512];
    } control;
    struct msghdr message = {
        .msg_name = &destination,
        .msg_namelen = sizeof destination,
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t length = recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (length < 0) return -EAGAIN;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        int is_four = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
        int is_six = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR;
        if (!is_four && !is_six) continue;
        struct sock_extended_err error;
        memcpy(&error, CMSG_DATA(part), sizeof error);
        /* "Fragmentation needed" and "TTL exceeded" are no failures here: the kernel fragments the next datagram. */
        int is_gone = (error.ee_origin == SO_EE_ORIGIN_ICMP && error.ee_type == ICMP_DEST_UNREACH
                       && error.ee_code != ICMP_FRAG_NEEDED)
                      || (error.ee_origin == SO_EE_ORIGIN_ICMP6 && error.ee_type == ICMPV6_DEST_UNREACH);
        return is_gone ? (int)length : 0;
    }
    return 0;
}

int herald_open_datagram_socket(const uint8_t address[16], int is_ipv6, uint16_t port, int shares_port,
                                int may_be_absent, int buffer_bytes) {
    int descriptor = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    // Best effort: without CAP_NET_ADMIN the kernel limits both to net.core.rmem_max and wmem_max.
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    int on = 1;
    if (shares_port) setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (is_ipv6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (may_be_absent)
        setsockopt(descriptor, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_FREEBIND : IP_FREEBIND, &on,
                   sizeof on);
    // ICMP errors: an unconnected socket receives them only through its error queue.
    if (is_ipv6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    else
        setsockopt(descriptor, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    struct sockaddr_storage storage;
    socklen_t length = fill_address(&storage, address, is_ipv6, port);
    if (bind(descriptor, (struct sockaddr *)&storage, length) != 0) {
        int reason = errno;
        close(descriptor);
        return -reason;
    }
    return descriptor;
}

int herald_receive_buffer(int socket) {
    int granted = 0;
    socklen_t length = sizeof granted;
    if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &granted, &length) != 0) return -errno;
    return granted / 2;  // the kernel doubles the requested size for its own overhead
}

int herald_receive_filling(int socket) {
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof memory;
    if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory, &length) != 0) return 0;
    uint32_t capacity = memory[SK_MEMINFO_RCVBUF];
    return capacity == 0 ? 0 : (int)((uint64_t)memory[SK_MEMINFO_RMEM_ALLOC] * 1000 / capacity);
}

int herald_bound_port(int socket) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    if (getsockname(socket, (struct sockaddr *)&storage, &length) != 0) return -errno;
    return storage.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&storage)->sin6_port)
                                         : ntohs(((struct sockaddr_in *)&storage)->sin_port);
}
