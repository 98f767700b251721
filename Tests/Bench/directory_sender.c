// SPDX-License-Identifier: Apache-2.0
// Sends events or polls to a directory at a fixed rate, and prints one line of JSON with the responses.
//
//     directory_sender events HOST PORT KEYS SECONDS CONNECTIONS RATE BATCH REPEAT PREFIX ACCEPTED
//     directory_sender polls  HOST PORT KEYS SECONDS CLIENTS INTERVAL CURSOR
//
// KEYS is a file with an API key a line. Requests are due at fixed times, also while responses are missing. Latency counts
// from the due time, so that a server that stalls cannot hide it. Events: every REPEAT-th request repeats an earlier one
// with the same event key. The keys of events with a 200 are written to the file ACCEPTED, one a line. Polls: as with a
// gateway, an empty response leaves the cursor as it is, and the next request repeats it with the entity tag.
#define _GNU_SOURCE
#include "directory_connection.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

struct client {
    char cursor[64], tag[80];
};

static const char *host;
static int port;
static char (*keys)[80];
static size_t key_count, connection_count, batch, repeat;
static double seconds, rate, interval;
static const char *prefix, *accepted_path;

static struct connection *connections;
static struct client *clients;
// True once the server is gone.
static bool is_over;
// A hash of the event_id in the response to each event key, 0 without a response.
static uint64_t *accepted;
static double *latencies;
static size_t latency_count, statuses[600], lost, repeats, contradictions, stored, entries;

static void fail(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void read_keys(const char *path) {
    char line[80];
    FILE *file = fopen(path, "r");
    if (!file) fail("the file of keys cannot be read");
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        keys = realloc(keys, (key_count + 1) * sizeof *keys);
        strcpy(keys[key_count++], line);
    }
    fclose(file);
    if (!key_count) fail("the file of keys is empty");
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t hash(const char *text, size_t length) {
    uint64_t h = 14695981039346656037u;
    while (length--) h = (h ^ (unsigned char)*text++) * 1099511628211u;
    return h | 1;
}

static const char *event_key(size_t number) {
    static char key[64];
    snprintf(key, sizeof key, "%s-%016llx%016llx", prefix, (unsigned long long)mixed(number * 2 + 77),
             (unsigned long long)number);
    return key;
}

// An event as a gateway reports it: nine in ten of a listed number.
static int write_event(char *to, size_t number) {
    uint64_t chance = mixed(number + 1);
    char day[32];
    time_t t = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
    return sprintf(
        to,
        "{\"phone_number_e164\":\"+44%010llu\",\"outcome\":\"%s\",\"surface\":\"sip_gateway\",\"device_id\":\"bench-%zu\","
        "\"displayed_at\":\"%s\",\"event_key\":\"%s\",\"meta\":{\"call_event_id\":\"%016llx\","
        "\"destination_number_e164\":\"+4930%07llu\",\"branding_applied\":true,\"identity_type\":\"branded\","
        "\"observed_at\":\"%s\",\"trunk\":\"carrier\",\"sip_status\":200}}",
        7000000000ull + chance % 1111111, chance % 4 ? "displayed" : "call_seen", number % 200, day,
        event_key(number), (unsigned long long)chance, (unsigned long long)(chance >> 40), day);
}

static void write_request(struct connection *c, const char *method, const char *path, size_t key, const char *more) {
    c->request_length = (size_t)sprintf(
        c->request, "%s %s HTTP/1.1\r\nHost: %s:%d\r\nX-API-Key: %s\r\nX-Client-Type: herald\r\n%s\r\n", method, path,
        host, port, keys[key % key_count], more);
}

static void send_events(struct connection *c, size_t number) {
    static char body[1 << 20];
    char more[96];
    size_t length = 0;
    // Old enough to have a response, new enough to be a retry.
    if (repeat && number % repeat == repeat - 1 && number > 100) number -= 50 + number % 49;
    c->number = number;
    if (batch == 1) {
        length = (size_t)write_event(body, number);
    } else {
        length += (size_t)sprintf(body, "{\"operations\":[");
        for (size_t i = 0; i < batch; i++) {
            length += (size_t)sprintf(body + length, "%s{\"type\":\"create\",\"resource\":\"event\",\"data\":",
                                      i ? "," : "");
            length += (size_t)write_event(body + length, number * batch + i);
            body[length++] = '}';
        }
        length += (size_t)sprintf(body + length, "]}");
    }
    sprintf(more, "Content-Type: application/json\r\nContent-Length: %zu\r\n", length);
    connection_request(c, length + 1024);
    write_request(c, "POST", batch == 1 ? "/mobile/branding/event" : "/mobile/sync/batch", c->owner, more);
    memcpy(c->request + c->request_length, body, length);
    c->request_length += length;
}

static void send_poll(struct connection *c) {
    struct client *client = &clients[c->owner];
    char path[256], more[160] = "Accept-Encoding: identity\r\n";
    snprintf(path, sizeof path, "/mobile/branding/sync?since=%s&device_id=bench-%zu", client->cursor, c->owner);
    if (*client->tag) snprintf(more, sizeof more, "If-None-Match: %s\r\n", client->tag);
    connection_request(c, 2048);
    write_request(c, "GET", path, c->owner, more);
}

static size_t occurrences(const char *text, const char *word) {
    size_t count = 0;
    for (text = strstr(text, word); text; text = strstr(text + 1, word)) count++;
    return count;
}

static void read_events(struct connection *c) {
    const char *text = connection_body(c);
    for (size_t i = 0; i < batch; i++) {
        text = strstr(text, "\"event_id\":\"");
        if (!text) return;
        text += 12;
        uint64_t id = hash(text, strcspn(text, "\"")), *known = &accepted[c->number * batch + i];
        repeats += *known != 0;
        stored += *known == 0;
        contradictions += *known != 0 && *known != id;
        *known = id;
    }
}

static void read_poll(struct connection *c) {
    struct client *client = &clients[c->owner];
    const char *text = connection_body(c), *cursor = strstr(text, "\"synced_at\":\"");
    size_t count = occurrences(text, "\"phone_number_e164\"");
    entries += count;
    if (count && cursor) {
        snprintf(client->cursor, sizeof client->cursor, "%.*s", (int)strcspn(cursor + 13, "\""), cursor + 13);
        *client->tag = 0;
    } else if (!connection_header(c, "ETag", client->tag, sizeof client->tag)) {
        *client->tag = 0;
    }
}

static void finish(struct connection *c, bool is_polling) {
    latencies[latency_count++] = now() - c->due;
    statuses[c->status > 0 && c->status < 600 ? c->status : 0]++;
    if (c->status == 200) is_polling ? read_poll(c) : read_events(c);
    c->busy = false;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double q) {
    return latency_count ? latencies[(size_t)(q * (double)(latency_count - 1))] * 1000 : 0;
}

static void report(double took, size_t asked) {
    qsort(latencies, latency_count, sizeof *latencies, by_size);
    printf("{\"asked\": %zu, \"responses\": %zu, \"lost\": %zu, \"seconds\": %.3f, \"statuses\": {", asked, latency_count,
           lost, took);
    const char *comma = "";
    for (int i = 0; i < 600; i++) {
        if (!statuses[i]) continue;
        printf("%s\"%d\": %zu", comma, i, statuses[i]);
        comma = ", ";
    }
    printf("}, \"p50_ms\": %.2f, \"p90_ms\": %.2f, \"p99_ms\": %.2f, \"p999_ms\": %.2f, \"max_ms\": %.2f, ",
           quantile(0.5), quantile(0.9), quantile(0.99), quantile(0.999), quantile(1));
    printf("\"stored\": %zu, \"repeated\": %zu, \"contradictions\": %zu, \"entries\": %zu}\n", stored, repeats,
           contradictions, entries);
}

static void write_accepted(size_t events) {
    FILE *file = fopen(accepted_path, "w");
    if (!file) fail("the file of accepted keys cannot be written");
    for (size_t number = 0; number < events; number++) {
        if (accepted[number]) fprintf(file, "%s\n", event_key(number));
    }
    if (fclose(file)) fail("the file of accepted keys was not written to its end");
}

static void start(int poll, size_t index, double due, size_t number, bool is_polling) {
    struct connection *c = &connections[index];
    (c->busy = true, c->due = due, c->owner = index);
    is_polling ? send_poll(c) : send_events(c, number);
    struct epoll_event want = {.events = EPOLLIN, .data.u64 = index};
    if (!connection_send(c) || c->sent < c->request_length) want.events |= EPOLLOUT;
    epoll_ctl(poll, EPOLL_CTL_MOD, c->fd, &want);
}

static void reopen(int poll, size_t index) {
    struct connection *c = &connections[index];
    lost += c->busy;
    close(c->fd);
    if (!connection_open(c, host, port)) {
        is_over = true;
        return;
    }
    struct epoll_event want = {.events = EPOLLIN, .data.u64 = index};
    epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &want);
}

static void drive(bool is_polling) {
    double period = is_polling ? interval / (double)connection_count : 1 / rate;
    size_t total = (size_t)(seconds / period), asked = 0, idle_hint = 0;
    latencies = malloc((total + 1) * sizeof *latencies);
    accepted = calloc(total * (batch ? batch : 1) + 1, sizeof *accepted);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < connection_count; i++) {
        if (!connection_open(&connections[i], host, port)) fail("the directory takes no connection");
        struct epoll_event want = {.events = EPOLLIN, .data.u64 = i};
        epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &want);
    }
    double begin = now(), patience = begin + seconds + 30;
    while (!is_over && latency_count + lost < total && now() < patience) {
        double due = begin + (double)asked * period;
        bool is_stuck = false;
        while (asked < total && due <= now()) {
            // A poll goes to its gateway's connection, an event to any idle one.
            size_t index = is_polling ? asked % connection_count : idle_hint, tried = 0;
            while (!is_polling && connections[index].busy && tried++ < connection_count)
                index = (index + 1) % connection_count;
            if ((is_stuck = connections[index].busy)) break;
            idle_hint = (index + 1) % connection_count;
            start(poll, index, due, asked, is_polling);
            due = begin + (double)++asked * period;
        }
        double wait = asked < total && !is_stuck ? due - now() : 0.2;
        if (wait < 0) wait = 0;
        struct timespec timeout = {.tv_sec = (time_t)wait, .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)};
        struct epoll_event ready[64];
        int count = epoll_pwait2(poll, ready, 64, &timeout, NULL);
        for (int i = 0; i < count && !is_over; i++) {
            struct connection *c = &connections[ready[i].data.u64];
            if (ready[i].events & EPOLLOUT) {
                connection_send(c);
                struct epoll_event want = {.events = EPOLLIN, .data.u64 = ready[i].data.u64};
                if (c->sent == c->request_length) epoll_ctl(poll, EPOLL_CTL_MOD, c->fd, &want);
            }
            if (!(ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) continue;
            int received = connection_receive(c);
            if (received > 0 && c->busy) finish(c, is_polling);
            else if (received < 0) reopen(poll, ready[i].data.u64);
        }
    }
    report(now() - begin, asked);
    if (!is_polling) write_accepted(total * batch);
}

int main(int count, char **words) {
    bool is_polling = count == 9 && strcmp(words[1], "polls") == 0;
    if (!is_polling && (count != 12 || strcmp(words[1], "events") != 0)) fail("usage: see the top of directory_sender.c");
    (host = words[2], port = atoi(words[3]), seconds = atof(words[5]), connection_count = (size_t)atol(words[6]));
    read_keys(words[4]);
    connections = calloc(connection_count, sizeof *connections);
    clients = calloc(connection_count, sizeof *clients);
    if (is_polling) {
        interval = atof(words[7]);
        for (size_t i = 0; i < connection_count; i++)
            snprintf(clients[i].cursor, sizeof clients[i].cursor, "%s", words[8]);
    } else {
        (rate = atof(words[7]), batch = (size_t)atol(words[8]), repeat = (size_t)atol(words[9]));
        (prefix = words[10], accepted_path = words[11]);
        rate /= (double)batch;
    }
    drive(is_polling);
    return 0;
}
