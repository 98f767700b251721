// SPDX-License-Identifier: Apache-2.0
// The SIP messages of offer.c: writes requests and responses, and reads header values.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SPACE = 4096 };

static const char sdp[] = "v=0\r\no=border 4711 4711 IN IP4 203.0.113.17\r\ns=-\r\nc=IN IP4 203.0.113.18\r\nt=0 0\r\n"
                          "m=audio 30412 RTP/AVP 8 0 101\r\na=rtpmap:8 PCMA/8000\r\na=rtpmap:0 PCMU/8000\r\n"
                          "a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\na=ptime:20\r\na=sendrecv\r\n";

// The carrier in requests: its transport and its address.
static const char *carrier_transport = "UDP", *carrier_place = "127.0.0.1:5060";

static void carrier_is(const char *transport, const char *place) {
    carrier_transport = transport;
    carrier_place = place;
}

#define CONTACT "Contact: <sip:office@127.0.0.1:5080>\r\n"

// Writes a request of call number `call` and returns its length; `route` is empty outside a dialog, `tag` ends To.
static int write_request(
    char text[SPACE], const char *method, const char *uri, int cseq, unsigned call, const char *caller,
    const char *route, const char *tag) {
    int invite = !strcmp(method, "INVITE"), run = getpid();
    const char *branch = invite || !route ? "i" : method;
    int length = snprintf(
        text, SPACE,
        "%s %s SIP/2.0\r\nVia: SIP/2.0/%s %s;branch=z9hG4bKo%u-%d%s\r\n%sMax-Forwards: 69\r\n"
        "From: \"WIRELESS CALLER\" <sip:%s@carrier.example;user=phone>;tag=f%u\r\n"
        "To: <sip:+12025550142@office.example;user=phone>%s\r\nCall-ID: o%u-%d\r\nCSeq: %d %s\r\n",
        method, uri, carrier_transport, carrier_place, call, run, branch, route ? route : "", caller, call, tag, call, run, cseq, method);
    if (invite)
        length += snprintf(
            text + length, SPACE - (size_t)length,
            "Contact: <sip:%s@%s;transport=%s>\r\n"
            "P-Asserted-Identity: \"WIRELESS CALLER\" <sip:%s@carrier.example;user=phone>\r\n"
            "P-Charging-Vector: icid-value=c41b07%ue9d2;icid-generated-at=203.0.113.17;orig-ioi=carrier.example\r\n"
            "Privacy: none\r\nAllow: INVITE, ACK, CANCEL, BYE, OPTIONS, PRACK, UPDATE, INFO, NOTIFY, REFER\r\n"
            "Supported: replaces, timer\r\nUser-Agent: Carrier border 4.2\r\nContent-Type: application/sdp\r\n"
            "Content-Length: %zu\r\n\r\n%s", caller, carrier_place, carrier_transport, caller, call, sizeof sdp - 1, sdp);
    else
        length += snprintf(text + length, SPACE - (size_t)length, "Content-Length: 0\r\n\r\n");
    return length;
}

// The first value of a header, not ended by a zero.
static const char *header(const char *message, const char *name) {
    const char *place = strcasestr(message, name);
    return place ? place + strlen(name) : NULL;
}

// The parameters of a response's To, which the ACK of a rejection repeats (RFC 3261 17.1.1.3).
static void tag_of(const char *message, char tag[80]) {
    const char *line = header(message, "\r\nTo:");
    const char *place = line ? memchr(line, '>', strcspn(line, "\r")) : NULL;
    snprintf(tag, 80, "%.*s", place ? (int)strcspn(place + 1, "\r") : 0, place ? place + 1 : "");
}

// The head of a response: the headers that it copies from the request.
static size_t reply(char *text, const char *status, const char *message, int tagged, const char *rest) {
    static const char *const kept[] = {"Via:", "Record-Route:", "From:", "To:", "Call-ID:", "CSeq:"};
    size_t length = (size_t)sprintf(text, "SIP/2.0 %s\r\n", status);
    const char *line = strstr(message, "\r\n") + 2, *end;
    for (; (end = strstr(line, "\r\n")) && end > line; line = end + 2)
        for (size_t place = 0; place < sizeof kept / sizeof *kept; place++)
            if (!strncasecmp(line, kept[place], strlen(kept[place])) && length + (size_t)(end - line) < SPACE - 1024) {
                memcpy(text + length, line, (size_t)(end - line));
                length += (size_t)(end - line);
                length += (size_t)sprintf(text + length, "%s\r\n", place == 3 && !tagged ? ";tag=p" : "");
            }
    return length + (size_t)sprintf(text + length, "%s", rest);
}

// Turns the Record-Route of a response into the Route of later requests, in reverse order.
static char *route_of(const char *message) {
    char text[SPACE] = "", longer[SPACE + 16];
    for (const char *line = message, *end; (line = header(line, "\r\nRecord-Route:")); line = end) {
        end = strstr(line, "\r\n");
        for (const char *one = line; (one = memchr(one, '<', (size_t)(end - one)));) {
            const char *close = memchr(one, '>', (size_t)(end - one));
            if (!close) break;
            snprintf(longer, sizeof longer, "Route: %.*s\r\n%s", (int)(close + 1 - one), one, text);
            snprintf(text, sizeof text, "%.*s", SPACE - 1, longer);
            one = close;
        }
    }
    return strdup(text);
}
