// SPDX-License-Identifier: Apache-2.0

#include "CUnicode.h"

#include <unicode/unorm2.h>

int32_t herald_unicode_fold(const uint16_t *text, int32_t length, uint16_t *out, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *folding = unorm2_getNFKCCasefoldInstance(&status);
    if (U_FAILURE(status)) return -1;
    int32_t written =
        unorm2_normalize(folding, (const UChar *)text, length, (UChar *)out, capacity, &status);
    return U_FAILURE(status) ? -1 : written;
}
