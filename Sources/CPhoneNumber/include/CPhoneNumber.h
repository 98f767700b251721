// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CPHONENUMBER_H
#define HERALD_CPHONENUMBER_H

#include <stddef.h>
#include <stdint.h>

/* A C door to libphonenumber. Every function may be called from any thread, throws nothing, prints nothing and keeps
 * no pointer it was given. The first call loads the library's metadata (about 5 ms); the others are pure computation. */

#ifdef __cplusplus
extern "C" {
#endif

/* The longest text that is looked at; anything longer is refused. */
enum { HERALD_PHONE_MAX_TEXT = 64 };

/* What became of a text. */
enum {
    HERALD_PHONE_OK = 0,
    HERALD_PHONE_NOT_A_NUMBER = 1,  /* the library cannot read it, or it has an extension */
    HERALD_PHONE_NOT_POSSIBLE = 2,  /* read, but no number of that plan has this length, or only a local one does;
                                       or fewer than eight digits, no plus sign, and in no allocated range */
    HERALD_PHONE_REFUSED = 3,       /* too long, unknown region, or the library threw */
};

/* Reads a number in international or national form.
 *
 * region is two upper-case letters (ISO 3166-1), or NULL to accept only text that starts with a plus sign.
 * On HERALD_PHONE_OK, digits holds the E.164 number without plus sign; otherwise it is not touched. */
int herald_phone_normalise(const char *text, size_t length, const char *region, uint64_t *digits);

/* 1 when a number (E.164 without plus sign) is in a range the library knows to be allocated, otherwise 0.
 *
 * Its tables are of 2022: a number of a newer range gets 0. */
int herald_phone_is_allocated(uint64_t digits);

/* 1 when the library knows the region, otherwise 0. region is two letters. */
int herald_phone_region_known(const char *region);

/* The calling code of a region (61 for AU), or 0 when the region is unknown. */
int herald_phone_calling_code(const char *region);

/* Writes the emergency numbers dialled in a region, at most capacity; returns how many there are.
 *
 * Each is its digits behind a one, read in decimal: 000 is 1000, 112 is 1112. Takes some 30 ms. */
int herald_phone_emergency_numbers(const char *region, uint32_t *out, int capacity);

/* Writes the regions the library knows, two letters each, without separators, in alphabetical order.
 *
 * Returns how many there are; writes none when capacity is smaller than twice that. */
int herald_phone_regions(char *out, size_t capacity);

/* The numbering plan behind one calling code. */
struct herald_calling_code {
    uint16_t code;             /* 1 to 999 */
    uint16_t possible_lengths; /* bit n: a national number of n digits is possible, n from 1 to 15 */
    char national_prefix[4];   /* digits dialled before a national number ("0", "06"), NUL padded; "?" if longer */
};

/* Fills in the plans of all calling codes in ascending order; returns how many there are, writes at most capacity. */
int herald_phone_calling_codes(struct herald_calling_code *out, int capacity);

/* An example number of a region, for tests.
 *
 * type counts from 0 (fixed line) in the library's order while the answer is 0 or 1; -1 means there is no such type.
 * On 1, digits holds the E.164 number and national, NUL terminated, the digits as dialled inside the country. */
int herald_phone_example(const char *region, int type, uint64_t *digits, char national[24]);

#ifdef __cplusplus
}
#endif

#endif
