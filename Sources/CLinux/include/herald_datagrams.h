// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_DATAGRAMS_H
#define HERALD_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>

/* Datagrams per system call at most. */
enum { HERALD_DATAGRAM_BATCH = 32 };

/* One datagram and its far end. An IPv4 address takes the first four bytes, in network order. */
struct herald_datagram {
    uint8_t *data;
    uint32_t length;    /* bytes received, or to be sent */
    uint8_t address[16];
    uint16_t port;      /* host order */
    uint8_t is_ipv6;
    uint8_t truncated;  /* received: the datagram was larger than its buffer */
};

/* Buffers for HERALD_DATAGRAM_BATCH received datagrams, with the vectors that recvmmsg reads. They are laid out once,
 * because laying them out for each read takes longer than the read. */
struct herald_inbox;

/* Allocates an inbox for datagrams of capacity bytes each. Pages are committed at first use. NULL without memory. */
struct herald_inbox *herald_make_inbox(size_t capacity);

void herald_free_inbox(struct herald_inbox *inbox);

/* Receives waiting datagrams, at most HERALD_DATAGRAM_BATCH, without blocking.
 * Returns their number, 0 without any, or -errno. */
int herald_receive_datagrams(int socket, struct herald_inbox *inbox);

/* Returns a datagram of the last read. Its bytes are valid until the next read. */
struct herald_datagram herald_received(const struct herald_inbox *inbox, int index);

/* Sends at most count (and at most HERALD_DATAGRAM_BATCH) datagrams, without blocking.
 * Returns the number that the kernel accepted, or -errno when it accepted none. */
int herald_send_datagrams(int socket, const struct herald_datagram *datagrams, int count);

/* Takes one undeliverable datagram from the error queue (ICMP destination unreachable, RFC 3261 §18.4) and copies its
 * returned bytes, at most capacity, to buffer. Returns their number, 0 for an error of another kind, or -EAGAIN when
 * the queue is empty. */
int herald_receive_returned(int socket, uint8_t *buffer, size_t capacity);

/* Opens a non-blocking UDP socket bound to an address, with receive and send buffers of buffer_bytes if the kernel
 * permits. With shares_port other sockets of this user can bind the same port (SO_REUSEPORT). With may_be_absent the
 * machine need not have the address (IP_FREEBIND).
 * Returns the descriptor, or -errno. */
int herald_open_datagram_socket(const uint8_t address[16], int is_ipv6, uint16_t port, int shares_port,
                                int may_be_absent, int buffer_bytes);

/* Returns the granted receive buffer, in the unit of buffer_bytes, or -errno. */
int herald_receive_buffer(int socket);

/* Returns the fill level of the receive queue in thousandths; 0 if the system does not report it. */
int herald_receive_filling(int socket);

/* Returns the port of a bound socket, or -errno. */
int herald_bound_port(int socket);

#endif
