// SPDX-License-Identifier: Apache-2.0
// One keep-alive HTTP/1.1 connection with one request at a time; never blocks after it is open.
#ifndef DIRECTORY_CONNECTION_H
#define DIRECTORY_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

struct connection {
    int fd;
    bool busy;
    // The request, and how many of its bytes are sent.
    char *request;
    size_t request_length, request_room, sent;
    // The response as received; `body` is its content without chunk sizes.
    char *input;
    size_t input_length, input_room;
    size_t body_start, body_length, cursor;
    // -1 while the content is chunked; 0 status means the head is not read yet.
    long announced;
    int status;
    // Client, request and due time, for the caller's own use.
    size_t owner, number;
    double due;
};

// Seconds of the monotonic clock.
double now(void);
// False if no connection can be made.
bool connection_open(struct connection *c, const char *host, int port);
// A buffer for a request of so many bytes; write into it and set request_length.
char *connection_request(struct connection *c, size_t room);
// Sends what can be sent; false when the other end is gone.
bool connection_send(struct connection *c);
// Reads all that is there: 1 if a response is complete, 0 if not yet, -1 if the other end is gone.
int connection_receive(struct connection *c);
// The value of a header of a complete response; nothing if it is missing or too long.
bool connection_header(const struct connection *c, const char *name, char *value, size_t room);
// The content of a complete response, with a NUL behind it.
const char *connection_body(const struct connection *c);

#endif
