// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CUNICODE_H
#define HERALD_CUNICODE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the NFKC_Casefold form of a text (Unicode, UAX #31 and #44): compatibility forms and case are folded, and invisible
 * characters removed.
 *
 * Both texts are UTF-16, with lengths in units. Returns the length of the result, or -1 if it exceeds the capacity or the
 * tables of ICU are missing. Thread-safe. */
int32_t herald_unicode_fold(const uint16_t *text, int32_t length, uint16_t *out, int32_t capacity);

/* Transliteration rules of ICU. */
typedef struct herald_unicode_transliterator *herald_unicode_rules;

/* Opens the rules of an identifier such as "Greek-Latin; Latin-ASCII", of UTF-16 with its length in units.
 *
 * They are never closed. Reads tables of ICU, which takes some 50 ms. Returns NULL if ICU lacks them. */
herald_unicode_rules herald_unicode_open(const uint16_t *identifier, int32_t length);

/* Writes a text in the letters of the rules; other characters stay.
 *
 * Both texts are UTF-16, with lengths in units. Returns the length of the result, or -1 if it exceeds the capacity or rules
 * is NULL. One thread at a time for the same rules. */
int32_t herald_unicode_apply(herald_unicode_rules rules, const uint16_t *text, int32_t length, uint16_t *out,
                             int32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
