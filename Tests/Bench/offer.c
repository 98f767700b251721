// SPDX-License-Identifier: Apache-2.0
// Carrier and PBX of calls in one light process, for more calls than SIPp can make on one core.
//
//     offer CALLERS-FILE udp|tcp SUBJECT-PORT CARRIER-PORT PBX-PORT RATE:SECONDS:TALK-MS...
//
// One step after the other: RATE calls a second that ring at once, are answered after 100 ms and end TALK-MS later. Over
// UDP, messages are retransmitted by RFC 3261. Each tenth of a second prints a line of JSON with its counts. A last line,
// 5 s after the last step, counts the calls that are still open.
#define _GNU_SOURCE
#include "offer_wires.h"
#include <poll.h>
#include <stdint.h>
#include <time.h>

enum { SLOTS = 1 << 18, RING_MS = 100, T1 = 500, T2 = 4000, LAST_MS = 5000, TRIES = 7 };
enum kind { ASK_AGAIN, ANSWER, HANG_UP, HANG_UP_AGAIN };
enum state { UNSENT, ASKED, RINGING, TALKING, ENDING, ENDED, REFUSED };

struct call {
    uint8_t state, asked, hung_up, answered, confirmed;
    uint32_t talk;
    int64_t bye;
    char *route, *response;
};
struct timer {
    enum kind kind;
    uint32_t call, next;
};
struct span {
    uint64_t offered, answered, refused, ended, resent, other, byes_us, slowest_bye_us;
};

static struct call *calls;
static struct timer *timers;
static uint32_t wheel[SLOTS], free_timer, timer_count;
static int64_t ticked;
static struct span span;
static struct sockaddr_in subject;
static struct wire carrier, pbx;
static char (*callers)[20];
static uint32_t caller_count, call_count;
static uint64_t strayed; // ACKs of refused calls that came to the PBX

static int64_t microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static void after(int64_t milliseconds, enum kind kind, uint32_t call) {
    uint32_t place = free_timer;
    if (place) {
        free_timer = timers[place].next;
    } else {
        if ((timer_count & (timer_count - 1)) == 0) timers = realloc(timers, 2 * timer_count * sizeof *timers);
        place = timer_count++;
    }
    uint32_t *slot = &wheel[(ticked + (milliseconds ? milliseconds : 1)) % SLOTS];
    timers[place] = (struct timer){kind, call, *slot};
    *slot = place;
}

static void request(
    const char *method, const char *uri, int cseq, uint32_t call, const char *route, const char *tag) {
    static char text[SPACE];
    const char *caller = callers[call % caller_count];
    say(&carrier, &subject, text, (size_t)write_request(text, method, uri, cseq, call, caller, route, tag));
}

static void ask(uint32_t number) {
    request("INVITE", "sip:+12025550142@127.0.0.1:5070;user=phone", 1, number, NULL, "");
    if (!carrier.is_stream) after(T1 << calls[number].asked++, ASK_AGAIN, number);
}

static void hang_up(uint32_t number) {
    struct call *call = &calls[number];
    int64_t wait = T1 << call->hung_up++;
    request("BYE", "sip:office@127.0.0.1:5080", 2, number, call->route, ";tag=p");
    if (!carrier.is_stream) after(wait < T2 ? wait : T2, HANG_UP_AGAIN, number);
}

static void fire(struct timer timer) {
    struct call *call = &calls[timer.call];
    switch (timer.kind) {
    case ASK_AGAIN:
        if (call->state != ASKED || call->asked >= TRIES) return;
        span.resent++;
        ask(timer.call);
        return;
    case ANSWER:
        if (call->confirmed || !call->response || call->answered >= TRIES) return;
        if (call->answered) span.resent++;
        say(&pbx, &subject, call->response, strlen(call->response));
        after(T1 << call->answered++, ANSWER, timer.call);
        return;
    case HANG_UP:
        call->state = ENDING;
        call->bye = microseconds();
        hang_up(timer.call);
        return;
    case HANG_UP_AGAIN:
        if (call->state != ENDING || call->hung_up >= TRIES + 4) return;
        span.resent++;
        hang_up(timer.call);
        return;
    }
}

static void tick(int64_t now) {
    while (ticked < now) {
        uint32_t place = wheel[++ticked % SLOTS];
        wheel[ticked % SLOTS] = 0;
        while (place) {
            struct timer timer = timers[place];
            timers[place].next = free_timer;
            free_timer = place;
            fire(timer);
            place = timer.next;
        }
    }
}

static struct call *call_of(const char *message, uint32_t *number) {
    const char *value = header(message, "\r\nCall-ID: o");
    if (!value) return NULL;
    *number = (uint32_t)strtoul(value, NULL, 10);
    return *number < call_count ? &calls[*number] : NULL;
}

static void at_pbx(const char *message) {
    static char text[SPACE];
    uint32_t number;
    struct call *call = call_of(message, &number);
    if (!call) return;
    if (!strncmp(message, "INVITE ", 7)) {
        say(&pbx, &subject, text, reply(text, "180 Ringing", message, 0, CONTACT "Content-Length: 0\r\n\r\n"));
        if (call->response || call->confirmed) return;
        char rest[1024];
        snprintf(rest, sizeof rest, CONTACT "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS\r\n"
                 "Content-Type: application/sdp\r\nContent-Length: %zu\r\n\r\n%s", sizeof sdp - 1, sdp);
        reply(text, "200 OK", message, 0, rest);
        call->response = strdup(text);
        after(RING_MS, ANSWER, number);
    } else if (!strncmp(message, "ACK ", 4)) {
        if (call->state == REFUSED) strayed++;
        call->confirmed = 1;
        free(call->response);
        call->response = NULL;
    } else if (!strncmp(message, "BYE ", 4)) {
        say(&pbx, &subject, text, reply(text, "200 OK", message, 1, "Content-Length: 0\r\n\r\n"));
    }
}

static void at_carrier(const char *message) {
    uint32_t number;
    struct call *call = call_of(message, &number);
    const char *cseq = header(message, "\r\nCSeq:");
    int status = atoi(message + 8);
    if (!call || !cseq || strncmp(message, "SIP/2.0 ", 8)) return;
    if (*(cseq + strspn(cseq, " ")) == '2') {
        if (call->state != ENDING || status < 200) return;
        uint64_t took = (uint64_t)(microseconds() - call->bye);
        if (status == 200) {
            span.ended++;
            span.byes_us += took;
            if (took > span.slowest_bye_us) span.slowest_bye_us = took;
        } else span.other++;
        call->state = ENDED;
        free(call->route);
        call->route = NULL;
    } else if (status < 200) {
        if (call->state == ASKED) call->state = RINGING;
    } else if (status < 300) {
        if (call->state == ASKED || call->state == RINGING) {
            call->state = TALKING;
            call->route = route_of(message);
            span.answered++;
            after(call->talk, HANG_UP, number);
        }
        if (call->route) request("ACK", "sip:office@127.0.0.1:5080", 1, number, call->route, ";tag=p");
    } else {
        char tag[80];
        tag_of(message, tag);
        request("ACK", "sip:+12025550142@127.0.0.1:5070;user=phone", 1, number, NULL, tag);
        if (call->state != ASKED && call->state != RINGING) return;
        call->state = REFUSED;
        *(status == 503 ? &span.refused : &span.other) += 1;
    }
}

static void read_callers(const char *path) {
    FILE *file = fopen(path, "r");
    char line[64];
    if (!file || !fgets(line, sizeof line, file)) exit((perror(path), 1));
    while (fgets(line, sizeof line, file)) {
        if ((caller_count & (caller_count - 1)) == 0)
            callers = realloc(callers, (caller_count ? 2 * caller_count : 1) * sizeof *callers);
        line[strcspn(line, "\r\n")] = 0;
        snprintf(callers[caller_count++], sizeof *callers, "%.19s", line);
    }
    fclose(file);
}

static void tell(double second, int step) {
    printf("{\"second\": %.1f, \"step\": %d, \"offered\": %lu, \"answered\": %lu, \"refused\": %lu, \"ended\": %lu, "
           "\"resent\": %lu, \"other\": %lu, \"bye_us\": %.0f, \"slowest_bye_us\": %lu}\n",
           second, step, span.offered, span.answered, span.refused, span.ended, span.resent, span.other,
           span.ended ? (double)span.byes_us / (double)span.ended : 0.0, span.slowest_bye_us);
    fflush(stdout);
    memset(&span, 0, sizeof span);
}

int main(int count, char **arguments) {
    if (count < 7) return 2;
    int steps = count - 6, step = 0;
    double rate[steps], seconds[steps], total = 0;
    uint32_t talk[steps], next = 0;
    for (int place = 0; place < steps; place++) {
        if (sscanf(arguments[6 + place], "%lf:%lf:%u", &rate[place], &seconds[place], &talk[place]) != 3) return 2;
        total += rate[place] * seconds[place] + 1;
    }
    read_callers(arguments[1]);
    subject = loopback(1, atoi(arguments[3]));
    int is_stream = !strcmp(arguments[2], "tcp");
    if (is_stream) carrier_is("TCP", "127.0.0.2:5060");
    carrier = is_stream ? stream(&subject) : datagrams(atoi(arguments[4]));
    pbx = datagrams(atoi(arguments[5]));
    call_count = (uint32_t)total;
    calls = calloc(call_count, sizeof *calls);
    timers = calloc(2, sizeof *timers);
    timer_count = 1; // 0 stands for none

    int64_t start = microseconds(), step_start = start, told = start;
    double sent = 0;
    ticked = start / 1000;
    for (;;) {
        int64_t now = microseconds();
        tick(now / 1000);
        if (now - told >= 100000) tell((double)((told += 100000) - start) / 1e6, step);
        if (step < steps && (double)(now - step_start) / 1e6 >= seconds[step]) {
            step_start += (int64_t)(seconds[step++] * 1e6);
            sent = 0;
            continue;
        }
        if (step == steps && now - step_start >= LAST_MS * 1000) break;
        double due = step < steps ? (double)(now - step_start) / 1e6 * rate[step] : 0;
        for (int burst = 0; burst < 16 && sent < due && next < call_count; burst++, sent++) {
            calls[next].state = ASKED;
            calls[next].talk = talk[step];
            span.offered++;
            ask(next++);
        }
        if (carrier.is_stream) write_waiting(&carrier);
        if (take(&carrier, at_carrier) + take(&pbx, at_pbx) == 0) {
            struct pollfd both[] = {{carrier.descriptor, POLLIN, 0}, {pbx.descriptor, POLLIN, 0}};
            struct timespec wait = {0, 200000};
            ppoll(both, 2, &wait, NULL);
        }
    }
    uint64_t left[REFUSED + 1] = {0};
    for (uint32_t place = 0; place < next; place++) left[calls[place].state]++;
    printf("{\"unanswered\": %lu, \"talking\": %lu, \"byes_open\": %lu, \"ended\": %lu, \"refused\": %lu, "
           "\"strayed\": %lu}\n",
           left[ASKED] + left[RINGING], left[TALKING], left[ENDING], left[ENDED], left[REFUSED], strayed);
}
