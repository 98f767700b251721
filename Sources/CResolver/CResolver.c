// SPDX-License-Identifier: Apache-2.0
// DNS queries with the C library's resolver: its server list, its query builder and its response parser.
#define _GNU_SOURCE
#include "CResolver.h"
#include "DNSParts.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Announced datagram size: no fragments on any usual path. */
enum { DATAGRAM_BYTES = 1232 };

union server_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static socklen_t address_length(const union server_address *server) {
    return server->any.sa_family == AF_INET6 ? sizeof server->six : sizeof server->four;
}

static int given_servers(const struct herald_name_server *servers, int count,
                         union server_address addresses[HERALD_NAME_SERVERS]) {
    if (count > HERALD_NAME_SERVERS) count = HERALD_NAME_SERVERS;
    for (int i = 0; i < count; i++) {
        memset(&addresses[i], 0, sizeof addresses[i]);
        if (servers[i].is_ipv6) {
            addresses[i].six.sin6_family = AF_INET6;
            addresses[i].six.sin6_port = htons(servers[i].port);
            memcpy(&addresses[i].six.sin6_addr, servers[i].address, 16);
        } else {
            addresses[i].four.sin_family = AF_INET;
            addresses[i].four.sin_port = htons(servers[i].port);
            memcpy(&addresses[i].four.sin_addr, servers[i].address, 4);
        }
    }
    return count;
}

/* Reads the servers of /etc/resolv.conf. The C library keeps IPv6 servers in a list of their own. */
static int system_servers(const struct __res_state *state, union server_address addresses[HERALD_NAME_SERVERS]) {
    int count = 0;
    for (int i = 0; i < state->nscount && i < MAXNS && count < HERALD_NAME_SERVERS; i++) {
        if (state->nsaddr_list[i].sin_family == AF_INET) {
            addresses[count++].four = state->nsaddr_list[i];
        } else if (state->_u._ext.nsaddrs[i] != NULL) {
            addresses[count++].six = *state->_u._ext.nsaddrs[i];
        }
    }
    return count;
}

/* Writes the query with an OPT record (RFC 6891 section 6.1.2), which permits larger datagrams. */
static int write_question(struct __res_state *state, const char *name, int type, struct dns_question *question) {
    static const uint8_t opt[] = {0, 0, ns_t_opt, DATAGRAM_BYTES >> 8, DATAGRAM_BYTES & 255, 0, 0, 0, 0, 0, 0};
    uint8_t *bytes = question->bytes;
    int length = res_nmkquery(state, ns_o_query, name, ns_c_in, type, NULL, 0, NULL, bytes,
                              (int)(sizeof question->bytes - sizeof opt));
    if (length < NS_HFIXEDSZ) return HERALD_RESOLVE_BAD_NAME;
    memcpy(bytes + length, opt, sizeof opt);
    bytes[10] = 0;
    bytes[11] = 1;
    question->plain_length = length;
    question->length = length + (int)sizeof opt;
    return 0;
}

/* Gives a query an unpredictable id. The C library's id comes from the clock. */
static int renew_number(struct dns_question *question) {
    return getrandom(question->bytes, 2, 0) == 2 ? 0 : HERALD_RESOLVE_OTHER;
}

/* Queries one server, and again without OPT if the server cannot read it. */
static int ask(const union server_address *server, struct dns_question *question, uint8_t *response, int capacity,
               int64_t deadline) {
    int failure = renew_number(question);
    if (failure != 0) return failure;
    int length = dns_exchange(&server->any, address_length(server), question, response, capacity, deadline);
    if (length < 0) return length;
    int code = response[3] & 0x0f;
    if (code != ns_r_formerr && code != ns_r_notimpl) return length;
    struct dns_question plain = *question;
    plain.length = plain.plain_length;
    plain.bytes[11] = 0;
    failure = renew_number(&plain);
    if (failure != 0) return failure;
    return dns_exchange(&server->any, address_length(server), &plain, response, capacity, deadline);
}

/* Queries all servers until one has a definite result. Otherwise returns the last failure, and a timeout only if all
 * queries timed out. */
static int ask_all(const union server_address *servers, int server_count, const char *name, int type,
                   struct dns_question *question, int timeout_ms, int attempts, struct herald_name_record *records,
                   int capacity) {
    uint8_t *response = malloc(NS_MAXMSG);
    if (!response) return HERALD_RESOLVE_OTHER;
    int result = HERALD_RESOLVE_TIMEOUT;
    for (int i = 0; i < attempts * server_count; i++) {
        int outcome =
            ask(&servers[i % server_count], question, response, NS_MAXMSG, dns_now() + timeout_ms);
        if (outcome > 0) outcome = dns_read_response(response, outcome, name, type, records, capacity);
        int is_known = outcome > 0 || outcome == HERALD_RESOLVE_NOT_FOUND || outcome == HERALD_RESOLVE_NO_DATA;
        if (is_known || outcome != HERALD_RESOLVE_TIMEOUT) result = outcome;
        if (is_known) break;
    }
    free(response);
    return result;
}

int herald_resolve(const char *name, int type, const struct herald_name_server *servers, int server_count,
                   int timeout_ms, int attempts, struct herald_name_record *records, int capacity) {
    if (!dns_is_name(name)) return HERALD_RESOLVE_BAD_NAME;
    if (capacity > HERALD_RECORDS) capacity = HERALD_RECORDS;
    if (capacity < 1) return HERALD_RESOLVE_OTHER;
    if (timeout_ms < 1) timeout_ms = 1;
    if (attempts < 1) attempts = 1;
    if (attempts > 8) attempts = 8;

    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return HERALD_RESOLVE_OTHER;
    union server_address addresses[HERALD_NAME_SERVERS];
    int count = server_count > 0 ? given_servers(servers, server_count, addresses) : system_servers(&state, addresses);
    struct dns_question question;
    int failure = write_question(&state, name, type, &question);
    res_nclose(&state);
    if (failure != 0) return failure;
    if (count == 0) return HERALD_RESOLVE_UNREACHABLE;
    return ask_all(addresses, count, name, type, &question, timeout_ms, attempts, records, capacity);
}
