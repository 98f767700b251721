// SPDX-License-Identifier: Apache-2.0
// Reads responses with the C library's parser. Every length and name in them is foreign.
#include "CResolver.h"
#include "DNSParts.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* No valid response has more records, or a longer chain of aliases. */
enum { RECORDS_READ = 256, ALIASES = 8 };

int dns_is_name(const char *name) {
    size_t length = strnlen(name, HERALD_NAME_BYTES);
    size_t label = 0;
    if (length == 0 || length > 253) return 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)name[i];
        if (byte == '.') {
            if (label == 0) return 0;
            label = 0;
        } else {
            int is_plain = byte < 0x80 && (isalnum(byte) || byte == '-' || byte == '_');
            if (!is_plain || ++label > 63) return 0;
        }
    }
    return label > 0;
}

static uint32_t smaller_ttl(uint32_t ttl, const ns_rr *record) {
    // RFC 2181 section 8: a value with the highest bit set counts as zero.
    uint32_t own = ns_rr_ttl(*record) > INT32_MAX ? 0 : ns_rr_ttl(*record);
    return own < ttl ? own : ttl;
}

/* Reads a name that must end with the record data. Returns 1, 0 for an invalid host name, -1 for broken data. */
static int read_target(ns_msg *message, const uint8_t *data, const uint8_t *end, char target[HERALD_NAME_BYTES]) {
    char text[NS_MAXDNAME];
    int used = ns_name_uncompress(ns_msg_base(*message), ns_msg_end(*message), data, text, sizeof text);
    if (used < 0 || data + used != end) return -1;
    if (strcmp(text, ".") != 0 && !dns_is_name(text)) return 0;
    memcpy(target, text, strlen(text) + 1);
    return 1;
}

/* Reads a character string into a text of capacity bytes. Returns the position after it, or NULL. */
static const uint8_t *read_text(const uint8_t *data, const uint8_t *end, char *text, size_t capacity) {
    if (data >= end || (size_t)(end - data) < 1u + data[0]) return NULL;
    size_t length = data[0];
    if (text && length < capacity) memcpy(text, data + 1, length);
    return data + 1 + length;
}

static int read_service(ns_msg *message, const uint8_t *data, const uint8_t *end, struct herald_name_record *out) {
    if (end - data < 7) return -1;
    out->priority = ns_get16(data);
    out->weight = ns_get16(data + 2);
    out->port = ns_get16(data + 4);
    return read_target(message, data + 6, end, out->target);
}

static int read_pointer(ns_msg *message, const uint8_t *data, const uint8_t *end, struct herald_name_record *out) {
    if (end - data < 8) return -1;
    out->priority = ns_get16(data);
    out->weight = ns_get16(data + 2);
    data = read_text(data + 4, end, out->flags, sizeof out->flags);
    if (data) data = read_text(data, end, out->service, sizeof out->service);
    if (data) data = read_text(data, end, NULL, 0);
    return data ? read_target(message, data, end, out->target) : -1;
}

/* Reads the data of one record. Returns 1, 0 for an unusable record, -1 for broken data. */
static int read_record(ns_msg *message, const ns_rr *record, struct herald_name_record *out) {
    const uint8_t *data = ns_rr_rdata(*record);
    const uint8_t *end = data + ns_rr_rdlen(*record);
    memset(out, 0, sizeof *out);
    out->type = (uint16_t)ns_rr_type(*record);
    switch (out->type) {
    case HERALD_RECORD_A:
    case HERALD_RECORD_AAAA:
        if (end - data != (out->type == HERALD_RECORD_A ? 4 : 16)) return -1;
        memcpy(out->address, data, (size_t)(end - data));
        return 1;
    case HERALD_RECORD_SRV: return read_service(message, data, end, out);
    case HERALD_RECORD_NAPTR: return read_pointer(message, data, end, out);
    default: return 0;
    }
}

/* Reads the owner's records of a type. Returns their number, or HERALD_RESOLVE_MALFORMED. */
static int read_owned(ns_msg *message, const char *owner, int type, uint32_t ttl, struct herald_name_record *records,
                      int capacity) {
    int count = 0, unusable = 0;
    int total = ns_msg_count(*message, ns_s_an);
    for (int i = 0; i < total && i < RECORDS_READ && count < capacity; i++) {
        ns_rr record;
        if (ns_parserr(message, ns_s_an, i, &record) != 0) return HERALD_RESOLVE_MALFORMED;
        if (ns_rr_class(record) != ns_c_in || (int)ns_rr_type(record) != type) continue;
        if (strcasecmp(ns_rr_name(record), owner) != 0) continue;
        int outcome = read_record(message, &record, &records[count]);
        if (outcome < 0) return HERALD_RESOLVE_MALFORMED;
        if (outcome == 0) {
            unusable++;
            continue;
        }
        records[count].ttl = smaller_ttl(ttl, &record);
        count++;
    }
    return count == 0 && unusable > 0 ? HERALD_RESOLVE_MALFORMED : count;
}

/* Replaces an alias by its target. Returns 1, 0 if the owner is no alias, or HERALD_RESOLVE_MALFORMED. */
static int follow_alias(ns_msg *message, char owner[HERALD_NAME_BYTES], uint32_t *ttl) {
    int total = ns_msg_count(*message, ns_s_an);
    for (int i = 0; i < total && i < RECORDS_READ; i++) {
        ns_rr record;
        if (ns_parserr(message, ns_s_an, i, &record) != 0) return HERALD_RESOLVE_MALFORMED;
        if (ns_rr_class(record) != ns_c_in || ns_rr_type(record) != ns_t_cname) continue;
        if (strcasecmp(ns_rr_name(record), owner) != 0) continue;
        const uint8_t *data = ns_rr_rdata(record);
        if (read_target(message, data, data + ns_rr_rdlen(record), owner) != 1) return HERALD_RESOLVE_MALFORMED;
        *ttl = smaller_ttl(*ttl, &record);
        return 1;
    }
    return 0;
}

int dns_read_response(const uint8_t *response, int length, const char *name, int type,
                      struct herald_name_record *records, int capacity) {
    if (length < NS_HFIXEDSZ) return HERALD_RESOLVE_MALFORMED;
    // The code is checked before the parse: the body of an error does not matter.
    int code = response[3] & 0x0f;
    if (code == ns_r_nxdomain) return HERALD_RESOLVE_NOT_FOUND;
    if (code != ns_r_noerror) return HERALD_RESOLVE_SERVER_FAILURE;

    ns_msg message;
    if (ns_initparse(response, length, &message) != 0) return HERALD_RESOLVE_MALFORMED;
    char owner[HERALD_NAME_BYTES];
    size_t name_length = strlen(name);
    if (name_length >= sizeof owner) return HERALD_RESOLVE_BAD_NAME;
    memcpy(owner, name, name_length + 1);
    uint32_t ttl = INT32_MAX;
    for (int step = 0; step <= ALIASES; step++) {
        int count = read_owned(&message, owner, type, ttl, records, capacity);
        if (count != 0) return count;
        int outcome = follow_alias(&message, owner, &ttl);
        if (outcome != 1) return outcome == 0 ? HERALD_RESOLVE_NO_DATA : outcome;
    }
    return HERALD_RESOLVE_MALFORMED;
}
