// SPDX-License-Identifier: Apache-2.0
// Reads and forgets datagrams at an address of IPv4, as a collector of HEP does at its least: sink ADDRESS PORT.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { BATCH = 64, LARGEST = 65536 };

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: sink ADDRESS PORT\n");
        return 2;
    }
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[2]))};
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0), size = 8 << 20;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    if (inet_pton(AF_INET, words[1], &own.sin_addr) != 1 || bind(descriptor, (struct sockaddr *)&own, sizeof own)) {
        perror("sink");
        return 1;
    }
    static char buffers[BATCH][LARGEST];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH] = {0};
    for (int place = 0; place < BATCH; place++) {
        parts[place] = (struct iovec){buffers[place], LARGEST};
        messages[place].msg_hdr = (struct msghdr){.msg_iov = &parts[place], .msg_iovlen = 1};
    }
    while (recvmmsg(descriptor, messages, BATCH, MSG_WAITFORONE, NULL) > 0) {}
    return 1;
}
