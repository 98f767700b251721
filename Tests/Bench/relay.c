// SPDX-License-Identifier: Apache-2.0
// Forwards datagrams at a port of 127.0.0.1 to the PBX's port, and those from the PBX to the carrier's; parses nothing.
//
//     relay WAY PORT CARRIER-PORT PBX-PORT
//
// WAY is how it waits, reads and writes:
//     single     recvfrom, sendto
//     poll       poll, recvmmsg, sendto: as the gateway does
//     vector     poll, recvmmsg, sendmmsg
//     epoll      epoll_wait, recvmmsg, sendto
//     connected  as poll, with two more sockets, connected to the carrier and to the PBX
//     gathered   as poll, but after each round it sleeps a millisecond, so that more datagrams share a wake-up
//     ring       io_uring: one receive for all datagrams, sendto
//     ring-both  io_uring: one receive for all datagrams, and each is sent by the ring
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

enum { BATCH = 32, CAPACITY = 65536 };

static struct sockaddr_in own, carrier, pbx;
static char datagrams[BATCH][CAPACITY];
static struct iovec vectors[BATCH];
static struct sockaddr_in senders[BATCH];
static struct mmsghdr received[BATCH];

static struct sockaddr_in at(const char *port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(port)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static void check(int result, const char *what) {
    if (result >= 0) return;
    perror(what);
    exit(1);
}

static int open_wire(const struct sockaddr_in *peer, int shares_port) {
    int size = 4 << 20, on = 1, wire = socket(AF_INET, SOCK_DGRAM, 0);
    check(wire, "relay: socket");
    setsockopt(wire, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (shares_port) setsockopt(wire, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    // A ring gives its socket back some time after the end of its process.
    const struct timespec pause = {.tv_nsec = 10000000};
    int failed = bind(wire, (struct sockaddr *)&own, sizeof own);
    for (int again = 0; failed && again < 200; again++) {
        nanosleep(&pause, NULL);
        failed = bind(wire, (struct sockaddr *)&own, sizeof own);
    }
    check(failed, "relay: bind");
    if (peer != NULL) check(connect(wire, (const struct sockaddr *)peer, sizeof *peer), "relay: connect");
    return wire;
}

static struct sockaddr_in *beyond(const struct sockaddr_in *from) {
    return from->sin_port == pbx.sin_port ? &carrier : &pbx;
}

static void forward(int wire, const char *bytes, size_t length, const struct sockaddr_in *from) {
    sendto(wire, bytes, length, MSG_DONTWAIT, (struct sockaddr *)beyond(from), sizeof *from);
}

static void single(int wire) {
    for (;;) {
        socklen_t length = sizeof senders[0];
        ssize_t got = recvfrom(wire, datagrams[0], CAPACITY, 0, (struct sockaddr *)&senders[0], &length);
        if (got >= 0) forward(wire, datagrams[0], (size_t)got, &senders[0]);
    }
}

static int read_batch(int wire) {
    for (int i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){datagrams[i], CAPACITY};
        received[i].msg_hdr = (struct msghdr){
            .msg_name = &senders[i], .msg_namelen = sizeof senders[i], .msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    return recvmmsg(wire, received, BATCH, MSG_DONTWAIT, NULL);
}

static void forward_batch(int wire) {
    int count = read_batch(wire);
    for (int i = 0; i < count; i++) forward(wire, datagrams[i], received[i].msg_len, &senders[i]);
}

static void forward_vector(int wire) {
    int count = read_batch(wire);
    for (int i = 0; i < count; i++) {
        vectors[i].iov_len = received[i].msg_len;
        received[i].msg_hdr.msg_name = beyond(&senders[i]);
    }
    if (count > 0) sendmmsg(wire, received, (unsigned)count, MSG_DONTWAIT);
}

static void polled(int wire, int is_vector, long pause) {
    // The gateway waits for its wake-ups too.
    struct pollfd waiting[2] = {{wire, POLLIN, 0}, {eventfd(0, EFD_NONBLOCK), POLLIN, 0}};
    const struct timespec rest = {.tv_nsec = pause};
    for (;;) {
        poll(waiting, 2, 1000);
        (is_vector ? forward_vector : forward_batch)(wire);
        if (pause > 0) nanosleep(&rest, NULL);
    }
}

static void connected(int wire) {
    int to_carrier = open_wire(&carrier, 1), to_pbx = open_wire(&pbx, 1);
    struct pollfd waiting[4] = {
        {wire, POLLIN, 0}, {eventfd(0, EFD_NONBLOCK), POLLIN, 0}, {to_carrier, POLLIN, 0}, {to_pbx, POLLIN, 0}};
    for (;;) {
        poll(waiting, 4, 1000);
        if (waiting[0].revents) forward_batch(wire);
        for (int side = 2; side < 4; side++) {
            if (!waiting[side].revents) continue;
            int count = read_batch(waiting[side].fd), other = side == 2 ? to_pbx : to_carrier;
            for (int i = 0; i < count; i++) send(other, datagrams[i], received[i].msg_len, MSG_DONTWAIT);
        }
    }
}

static void epolled(int wire) {
    int set = epoll_create1(0), wakeup = eventfd(0, EFD_NONBLOCK);
    struct epoll_event one = {EPOLLIN, {.fd = wire}}, other = {EPOLLIN, {.fd = wakeup}}, ready[2];
    check(epoll_ctl(set, EPOLL_CTL_ADD, wire, &one), "relay: epoll");
    check(epoll_ctl(set, EPOLL_CTL_ADD, wakeup, &other), "relay: epoll");
    for (;;) {
        epoll_wait(set, ready, 2, 1000);
        forward_batch(wire);
    }
}

// A receive that stays; its datagrams lie in buffers that the ring takes from a list.
enum { BUFFERS = 64, ROOM = CAPACITY + 512, RECEIVED = BUFFERS };

static struct io_uring_buf_ring *give_buffers(struct io_uring *ring, char (*buffers)[ROOM]) {
    struct io_uring_buf_ring *list = aligned_alloc(4096, BUFFERS * sizeof(struct io_uring_buf));
    struct io_uring_buf_reg registration = {.ring_addr = (unsigned long)list, .ring_entries = BUFFERS};
    check(io_uring_register_buf_ring(ring, &registration, 0), "relay: io_uring buffers");
    io_uring_buf_ring_init(list);
    for (int i = 0; i < BUFFERS; i++)
        io_uring_buf_ring_add(list, buffers[i], ROOM, (unsigned short)i, BUFFERS - 1, i);
    io_uring_buf_ring_advance(list, BUFFERS);
    return list;
}

static void receive_all(struct io_uring *ring, int wire, struct msghdr *shape) {
    struct io_uring_sqe *entry = io_uring_get_sqe(ring);
    io_uring_prep_recvmsg_multishot(entry, wire, shape, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->user_data = RECEIVED;
}

static void give_back(struct io_uring_buf_ring *list, char *buffer, int index) {
    io_uring_buf_ring_add(list, buffer, ROOM, (unsigned short)index, BUFFERS - 1, 0);
    io_uring_buf_ring_advance(list, 1);
}

static void ringed(int wire, int sends) {
    static char buffers[BUFFERS][ROOM];
    static struct msghdr sent[BUFFERS];
    static struct iovec parts[BUFFERS];
    struct io_uring ring;
    struct io_uring_params settings = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE, .cq_entries = 1024};
    check(io_uring_queue_init_params(256, &ring, &settings), "relay: io_uring");
    struct io_uring_buf_ring *list = give_buffers(&ring, buffers);
    struct msghdr shape = {.msg_namelen = sizeof(struct sockaddr_in)};
    receive_all(&ring, wire, &shape);
    for (;;) {
        io_uring_submit_and_wait(&ring, 1);
        struct io_uring_cqe *result;
        unsigned head, count = 0;
        io_uring_for_each_cqe(&ring, head, result) {
            count++;
            if (result->user_data != RECEIVED) {
                give_back(list, buffers[result->user_data], (int)result->user_data);
                continue;
            }
            if (!(result->flags & IORING_CQE_F_MORE)) receive_all(&ring, wire, &shape);
            if (result->res < 0 || !(result->flags & IORING_CQE_F_BUFFER)) continue;
            int index = (int)(result->flags >> IORING_CQE_BUFFER_SHIFT);
            struct io_uring_recvmsg_out *out = io_uring_recvmsg_validate(buffers[index], result->res, &shape);
            if (out == NULL) continue;
            parts[index] = (struct iovec){
                io_uring_recvmsg_payload(out, &shape), io_uring_recvmsg_payload_length(out, result->res, &shape)};
            struct sockaddr_in *from = io_uring_recvmsg_name(out);
            if (!sends) {
                forward(wire, parts[index].iov_base, parts[index].iov_len, from);
                give_back(list, buffers[index], index);
                continue;
            }
            sent[index] = (struct msghdr){
                .msg_name = beyond(from), .msg_namelen = sizeof *from, .msg_iov = &parts[index], .msg_iovlen = 1};
            struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
            io_uring_prep_sendmsg(entry, wire, &sent[index], MSG_DONTWAIT);
            entry->user_data = (unsigned long long)index;
        }
        io_uring_cq_advance(&ring, count);
    }
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    const char *way = arguments[1];
    own = at(arguments[2]), carrier = at(arguments[3]), pbx = at(arguments[4]);
    int wire = open_wire(NULL, strcmp(way, "connected") == 0);
    if (strcmp(way, "single") == 0) single(wire);
    if (strcmp(way, "poll") == 0) polled(wire, 0, 0);
    if (strcmp(way, "vector") == 0) polled(wire, 1, 0);
    if (strcmp(way, "gathered") == 0) polled(wire, 0, 1000000);
    if (strcmp(way, "epoll") == 0) epolled(wire);
    if (strcmp(way, "connected") == 0) connected(wire);
    if (strcmp(way, "ring") == 0) ringed(wire, 0);
    if (strcmp(way, "ring-both") == 0) ringed(wire, 1);
    fprintf(stderr, "relay: there is no way %s\n", way);
    return 2;
}
