// SPDX-License-Identifier: Apache-2.0
// Any DNS response: reading it touches no byte outside it, and every record that comes out is usable.
// The first byte chooses the record type, the rest is the response. Its own question gives the name, as a server repeats it.
#include "CResolver.h"
#include "DNSParts.h"

#include <arpa/nameser.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int types[] = {HERALD_RECORD_A, HERALD_RECORD_AAAA, HERALD_RECORD_SRV, HERALD_RECORD_NAPTR};
    if (size < 1 || size > 65536) return 0;
    const int type = types[data[0] % 4];
    const int length = (int)size - 1;
    // Bytes of its own: a read beyond them is one beyond an allocation.
    uint8_t *response = malloc((size_t)length + (length == 0));
    memcpy(response, data + 1, (size_t)length);

    char name[NS_MAXDNAME] = "sip.example.net";
    if (length > NS_HFIXEDSZ)
        (void)ns_name_uncompress(response, response + length, response + NS_HFIXEDSZ, name, sizeof name);
    if (!dns_is_name(name)) strcpy(name, "sip.example.net");

    struct herald_name_record *records = malloc(sizeof *records * HERALD_RECORDS);
    // A small capacity too: it must hold.
    const int capacity = data[0] & 0x80 ? 1 : HERALD_RECORDS;
    const int count = dns_read_response(response, length, name, type, records, capacity);
    require(count <= capacity && count >= HERALD_RESOLVE_OTHER);
    for (int i = 0; i < count; i++) {
        const struct herald_name_record *record = &records[i];
        require(record->type == type && record->ttl <= INT32_MAX);
        require(memchr(record->service, 0, sizeof record->service) != NULL);
        require(memchr(record->flags, 0, sizeof record->flags) != NULL);
        require(memchr(record->target, 0, sizeof record->target) != NULL);
        if (type == HERALD_RECORD_SRV || type == HERALD_RECORD_NAPTR)
            require(strcmp(record->target, ".") == 0 || dns_is_name(record->target));
        else
            require(record->target[0] == 0);
    }
    free(records);
    free(response);
    return 0;
}
