// SPDX-License-Identifier: Apache-2.0
// Forwards datagrams at a port of 127.0.0.1 to the PBX's port, and those from the PBX to the carrier's; parses nothing.
//
//     relay PORT CARRIER-PORT PBX-PORT
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct sockaddr_in at(const char *port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(port)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

int main(int count, char **arguments) {
    static char datagram[65536];
    if (count != 4) return 2;
    struct sockaddr_in own = at(arguments[1]), carrier = at(arguments[2]), pbx = at(arguments[3]), from;
    int size = 4 << 20, wire = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(wire, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (wire < 0 || bind(wire, (struct sockaddr *)&own, sizeof own) < 0) {
        perror("relay: bind");
        return 1;
    }
    for (;;) {
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(wire, datagram, sizeof datagram, 0, (struct sockaddr *)&from, &length);
        if (got < 0) continue;
        struct sockaddr_in *to = from.sin_port == pbx.sin_port ? &carrier : &pbx;
        sendto(wire, datagram, (size_t)got, 0, (struct sockaddr *)to, sizeof *to);
    }
}
