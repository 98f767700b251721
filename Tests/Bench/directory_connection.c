// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "directory_connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool connection_open(struct connection *c, const char *host, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || inet_pton(AF_INET, host, &address.sin_addr) != 1
        || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        c->busy = false;
        return false;
    }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    c->busy = false;
    return true;
}

static void make_room(char **buffer, size_t *room, size_t wanted) {
    if (*room >= wanted) return;
    while (*room < wanted) *room = *room ? *room * 2 : 4096;
    *buffer = realloc(*buffer, *room);
    if (!*buffer) {
        fprintf(stderr, "error: no memory for %zu bytes\n", *room);
        exit(1);
    }
}

char *connection_request(struct connection *c, size_t room) {
    make_room(&c->request, &c->request_room, room);
    c->sent = c->input_length = c->body_start = c->body_length = c->cursor = 0;
    c->status = 0;
    return c->request;
}

bool connection_send(struct connection *c) {
    while (c->sent < c->request_length) {
        ssize_t n = send(c->fd, c->request + c->sent, c->request_length - c->sent, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        c->sent += (size_t)n;
    }
    return true;
}

bool connection_header(const struct connection *c, const char *name, char *value, size_t room) {
    size_t length = strlen(name);
    for (const char *line = c->input; line && line < c->input + c->body_start; line = strstr(line, "\r\n")) {
        line += line == c->input ? 0 : 2;
        if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
        const char *start = line + length + 1 + strspn(line + length + 1, " ");
        size_t size = strcspn(start, "\r");
        if (size >= room) return false;
        memcpy(value, start, size);
        value[size] = 0;
        return true;
    }
    return false;
}

static bool read_head(struct connection *c) {
    char *end = memmem(c->input, c->input_length, "\r\n\r\n", 4);
    char value[64];
    if (!end) return false;
    c->body_start = c->cursor = (size_t)(end - c->input) + 4;
    c->status = atoi(c->input + 9);
    c->announced = -1;
    if (c->status == 304 || c->status == 204) c->announced = 0;
    else if (connection_header(c, "Content-Length", value, sizeof value)) c->announced = atol(value);
    return true;
}

// Joins complete chunks behind the head; true once the last one has come.
static bool join_chunks(struct connection *c) {
    for (;;) {
        char *line = c->input + c->cursor, *end = memmem(line, c->input_length - c->cursor, "\r\n", 2);
        if (!end) return false;
        size_t size = strtoul(line, NULL, 16), start = (size_t)(end - c->input) + 2;
        if (c->input_length < start + size + 2) return false;
        if (size == 0) return true;
        memmove(c->input + c->body_start + c->body_length, c->input + start, size);
        c->body_length += size;
        c->cursor = start + size + 2;
    }
}

int connection_receive(struct connection *c) {
    for (;;) {
        make_room(&c->input, &c->input_room, c->input_length + 65536);
        // One byte stays for the NUL that ends the text.
        ssize_t n = recv(c->fd, c->input + c->input_length, c->input_room - c->input_length - 1, 0);
        if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
        if (n == 0) return -1;
        c->input_length += (size_t)n;
        c->input[c->input_length] = 0;
        if (c->status == 0 && !read_head(c)) continue;
        if (c->announced < 0) {
            if (!join_chunks(c)) continue;
        } else if (c->input_length < c->body_start + (size_t)c->announced) {
            continue;
        } else {
            c->body_length = (size_t)c->announced;
        }
        c->input[c->body_start + c->body_length] = 0;
        return 1;
    }
}

const char *connection_body(const struct connection *c) { return c->input + c->body_start; }
