// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CDATAGRAM_H
#define HERALD_CDATAGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The most datagrams moved by one call. */
enum { HERALD_DATAGRAM_BATCH = 32 };

/* One datagram and its far end. For IPv4 the address sits in the first four bytes, in network order. */
struct herald_datagram {
    uint8_t *data;
    uint32_t length;    /* bytes received, or to be sent */
    uint8_t address[16];
    uint16_t port;      /* host order */
    uint8_t is_ipv6;
    uint8_t truncated;  /* received: the datagram was larger than the room for it */
};

/* Room for HERALD_DATAGRAM_BATCH received datagrams, and what the kernel is told about it: laid out once, since writing
 * that for every read takes longer than the read. */
struct herald_inbox;

/* Makes room for datagrams of capacity bytes each; pages are touched as they are needed. NULL without memory. */
struct herald_inbox *herald_make_inbox(size_t capacity);

void herald_free_inbox(struct herald_inbox *inbox);

/* Receives what is there, at most HERALD_DATAGRAM_BATCH datagrams, without waiting.
 * Returns how many, 0 when there are none, or -errno. */
int herald_receive_datagrams(int socket, struct herald_inbox *inbox);

/* A datagram the last call received; its bytes stay until the next. */
struct herald_datagram herald_received(const struct herald_inbox *inbox, int index);

/* Sends at most count (and HERALD_DATAGRAM_BATCH) datagrams, without waiting.
 * Returns how many the kernel took, or -errno when it took none. */
int herald_send_datagrams(int socket, const struct herald_datagram *datagrams, int count);

/* Takes one datagram that came back as undeliverable (ICMP destination unreachable, RFC 3261 §18.4): the bytes of it that
 * came back, at most capacity, go to room. Returns how many, 0 for one that says nothing, or -EAGAIN when there are none. */
int herald_receive_returned(int socket, uint8_t *room, size_t capacity);

/* Opens a non-blocking UDP socket bound to an address, with receive and send buffers of buffer_bytes where the
 * kernel allows it; with shares_port, beside others of this user (SO_REUSEPORT). Returns the descriptor, or -errno. */
int herald_open_datagram_socket(const uint8_t address[16], int is_ipv6, uint16_t port, int shares_port,
                                int buffer_bytes);

/* The receive buffer the kernel granted, in the bytes that were asked for, or -errno. */
int herald_receive_buffer(int socket);

/* How full the receive queue of a socket is, in thousandths; 0 where the system does not say. */
int herald_receive_filling(int socket);

/* The port a socket is bound to, or -errno. */
int herald_bound_port(int socket);

/* A descriptor that a waiting thread can be woken by (eventfd), or -errno. */
int herald_open_wakeup(void);

/* Takes back what woke the thread, so that it can wait again. */
void herald_clear_wakeup(int wakeup);

/* Wakes the thread that waits on it. */
void herald_wake(int wakeup);

/* Names the calling thread, for ps and top, and asks for a niceness (below 0 takes CAP_SYS_NICE or RLIMIT_NICE) and for
 * the shortest slices of a core. Returns the niceness it has then. */
int herald_begin_call_thread(const char *name, int niceness);

/* Puts the calling thread before all ordinary ones (SCHED_RR at its lowest priority; takes CAP_SYS_NICE or RLIMIT_RTPRIO),
 * or beside them again, with a niceness it had before and the shortest slices. Returns 0 or -errno. */
int herald_go_first(int first, int niceness);

#endif
