// SPDX-License-Identifier: Apache-2.0

#include "CUnicode.h"

#include <string.h>
#include <unicode/unorm2.h>
#include <unicode/utrans.h>

int32_t herald_unicode_fold(const uint16_t *text, int32_t length, uint16_t *out, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *folding = unorm2_getNFKCCasefoldInstance(&status);
    if (U_FAILURE(status)) return -1;
    int32_t written =
        unorm2_normalize(folding, (const UChar *)text, length, (UChar *)out, capacity, &status);
    return U_FAILURE(status) ? -1 : written;
}

herald_unicode_rules herald_unicode_open(const uint16_t *identifier, int32_t length) {
    UErrorCode status = U_ZERO_ERROR;
    UTransliterator *rules =
        utrans_openU((const UChar *)identifier, length, UTRANS_FORWARD, NULL, 0, NULL, &status);
    return U_FAILURE(status) ? NULL : (herald_unicode_rules)rules;
}

int32_t herald_unicode_apply(herald_unicode_rules rules, const uint16_t *text, int32_t length, uint16_t *out,
                             int32_t capacity) {
    if (rules == NULL || length < 0 || length > capacity) return -1;
    memcpy(out, text, (size_t)length * sizeof(uint16_t));
    UErrorCode status = U_ZERO_ERROR;
    int32_t written = length, limit = length;
    utrans_transUChars((const UTransliterator *)rules, (UChar *)out, &written, capacity, 0, &limit, &status);
    return U_FAILURE(status) || written > capacity ? -1 : written;
}
