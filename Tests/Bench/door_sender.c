// SPDX-License-Identifier: Apache-2.0
// Sends prepared requests to a door on 127.0.0.1, and prints one line of JSON with the responses.
//
//     door_sender stream|datagram PORT REQUESTS CONNECTIONS RATE SECONDS MARK
//
// REQUESTS is a file of requests in turn, each behind its length in four bytes, lowest first. Each connection has one request
// at a time. With a RATE, requests are due at fixed times, and latency counts from the due time: a stall shows in each request
// behind it. RATE times SECONDS requests are sent, after a stall up to 3 s late. With RATE 0 a connection sends its next
// request as soon as it has a response. MARK is counted in the responses.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SPACE = 16384, LONGEST_US = 4000000, PATIENCE_US = 3000000, LATE_US = 3000000, LOOK_US = 100000, STATUSES = 1000 };

struct connection {
    int descriptor;
    bool busy;
    int64_t due, sent;
    size_t length;
    char input[SPACE];
};

static struct sockaddr_in door;
static bool is_stream;
static const char *mark;
static char *requests;
static size_t requests_length, cursor;
static struct connection *connections;
// The idle connections in turn, so that each of them is used.
static unsigned *idle, idle_first, idle_count, connection_count;
static int poll_descriptor;
// Latencies by the microsecond; the last one counts longer ones too.
static uint32_t latencies[LONGEST_US + 1];
static uint64_t statuses[STATUSES], sent, responses, marked, lost;

static int64_t microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static void fail(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void read_requests(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("the file of requests cannot be read");
    requests_length = (size_t)ftell(file);
    rewind(file);
    requests = malloc(requests_length + 1);
    if (!requests || !requests_length || fread(requests, 1, requests_length, file) != requests_length)
        fail("the file of requests is empty or cannot be read");
    fclose(file);
}

static void open_connection(unsigned place) {
    struct connection *c = &connections[place];
    int one = 1;
    c->descriptor = socket(AF_INET, (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
    if (c->descriptor < 0 || connect(c->descriptor, (struct sockaddr *)&door, sizeof door))
        fail("the door takes no connection");
    if (is_stream) setsockopt(c->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event want = {.events = EPOLLIN, .data.u32 = place};
    epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, c->descriptor, &want);
    c->busy = false;
    idle[(idle_first + idle_count++) % connection_count] = place;
}

static void send_next(int64_t due, int64_t now) {
    struct connection *c = &connections[idle[idle_first]];
    uint32_t length;
    memcpy(&length, requests + cursor, sizeof length);
    const char *request = requests + cursor + sizeof length;
    cursor += sizeof length + length;
    if (cursor > requests_length) fail("the file of requests is cut");
    if (cursor == requests_length) cursor = 0;
    idle_first = (idle_first + 1) % connection_count;
    idle_count--;
    (c->busy = true, c->due = due, c->sent = now, c->length = 0);
    if (send(c->descriptor, request, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
        fail("the door does not take a whole request");
    sent++;
}

// The status of a response, by its start: HTTP, SIP, or the code of a DNS message.
static int status_of(const struct connection *c) {
    const char *blank = memchr(c->input, ' ', c->length < 12 ? c->length : 12);
    bool is_text = !strncmp(c->input, "HTTP/", 5) || !strncmp(c->input, "SIP/", 4);
    int status = is_text && blank ? atoi(blank + 1) : c->length > 3 ? c->input[3] & 15 : STATUSES - 1;
    return status >= 0 && status < STATUSES ? status : STATUSES - 1;
}

static bool is_whole(const struct connection *c) {
    if (!is_stream) return true;
    const char *end = memmem(c->input, c->length, "\r\n\r\n", 4);
    if (!end) return false;
    const char *length = memmem(c->input, (size_t)(end - c->input), "\r\nContent-Length:", 17);
    if (!length) fail("a response has no Content-Length");
    return c->length >= (size_t)(end + 4 - c->input) + strtoul(length + 17, NULL, 10);
}

static void give_up(unsigned place) {
    struct connection *c = &connections[place];
    close(c->descriptor);
    lost += c->busy;
    // An idle one that the door has closed is in the queue of idle ones already.
    if (!c->busy) fail("the door has closed an idle connection");
    open_connection(place);
}

static void receive(unsigned place) {
    struct connection *c = &connections[place];
    ssize_t count = recv(c->descriptor, c->input + c->length, SPACE - 1 - c->length, MSG_DONTWAIT);
    if (count <= 0) {
        give_up(place);
        return;
    }
    if (!c->busy) fail("a response has no request");
    c->length += (size_t)count;
    c->input[c->length] = 0;
    if (!is_whole(c)) {
        if (c->length == SPACE - 1) fail("a response has more than 16 kB");
        return;
    }
    int64_t took = microseconds() - c->due;
    latencies[took < 0 ? 0 : took < LONGEST_US ? took : LONGEST_US]++;
    responses++;
    statuses[status_of(c)]++;
    marked += memmem(c->input, c->length, mark, strlen(mark)) != NULL;
    c->busy = false;
    idle[(idle_first + idle_count++) % connection_count] = place;
}

static void wait_for_responses(int64_t wait_us) {
    struct timespec timeout = {wait_us / 1000000, wait_us % 1000000 * 1000};
    struct epoll_event ready[64];
    int count = epoll_pwait2(poll_descriptor, ready, 64, &timeout, NULL);
    for (int place = 0; place < count; place++) receive(ready[place].data.u32);
}

static void drop_late(int64_t now) {
    for (unsigned place = 0; place < connection_count; place++)
        if (connections[place].busy && now - connections[place].sent > PATIENCE_US) give_up(place);
}

static int64_t quantile(double share) {
    uint64_t wanted = (uint64_t)(share * (double)responses), seen = 0;
    for (int64_t place = 0; place <= LONGEST_US; place++)
        if ((seen += latencies[place]) > wanted || seen == responses) return place;
    return 0;
}

static void report(int64_t took) {
    printf("{\"sent\": %lu, \"responses\": %lu, \"marked\": %lu, \"lost\": %lu, \"seconds\": %.3f, \"p50_us\": %ld, "
           "\"p99_us\": %ld, \"p999_us\": %ld, \"max_us\": %ld, \"statuses\": {",
           sent, responses, marked, lost, (double)took / 1e6, quantile(0.5), quantile(0.99), quantile(0.999), quantile(1));
    const char *comma = "";
    for (int status = 0; status < STATUSES; status++) {
        if (!statuses[status]) continue;
        printf("%s\"%d\": %lu", comma, status, statuses[status]);
        comma = ", ";
    }
    printf("}}\n");
}

static bool has_more(uint64_t total, int64_t now, int64_t end) {
    return total ? sent < total && now < end + LATE_US : now < end;
}

int main(int count, char **words) {
    if (count != 8) fail("usage: see the top of door_sender.c");
    is_stream = !strcmp(words[1], "stream");
    door = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[2])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    read_requests(words[3]);
    connection_count = (unsigned)atoi(words[4]);
    double rate = atof(words[5]), seconds = atof(words[6]);
    mark = words[7];
    connections = calloc(connection_count, sizeof *connections);
    idle = calloc(connection_count, sizeof *idle);
    if (!connection_count || !connections || !idle) fail("there are no connections");
    // Timers of the kernel come up to 50 us late by default.
    prctl(PR_SET_TIMERSLACK, 1);
    poll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned place = 0; place < connection_count; place++) open_connection(place);
    int64_t begin = microseconds(), end = begin + (int64_t)(seconds * 1e6), now = begin, looked = begin;
    // 0 without a rate.
    uint64_t total = (uint64_t)(rate * seconds);
    for (; has_more(total, now, end) || idle_count < connection_count; now = microseconds()) {
        int64_t due = begin + (rate > 0 ? (int64_t)((double)sent / rate * 1e6) : 0);
        while (idle_count && has_more(total, now, end) && due <= now) {
            send_next(rate > 0 ? due : now, now);
            if (rate > 0) due = begin + (int64_t)((double)sent / rate * 1e6);
        }
        int64_t wait = rate > 0 && idle_count && sent < total && due > now ? due - now : LOOK_US;
        wait_for_responses(wait < LOOK_US ? wait : LOOK_US);
        if (now - looked > LOOK_US) {
            looked = now;
            drop_late(now);
        }
    }
    report(microseconds() - begin);
    return 0;
}
