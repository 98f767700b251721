// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CPHONENUMBER_H
#define HERALD_CPHONENUMBER_H

#include <stddef.h>
#include <stdint.h>

/* C interface to libphonenumber. All functions are thread-safe, throw no exception, print nothing and keep no pointer.
 * The first call loads the library's metadata (about 5 ms); later calls only compute. */

#ifdef __cplusplus
extern "C" {
#endif

/* The largest accepted text in bytes. Longer text is rejected. */
enum { HERALD_PHONE_MAX_TEXT = 64 };

/* Results of herald_phone_normalise. */
enum {
    HERALD_PHONE_OK = 0,
    HERALD_PHONE_NOT_A_NUMBER = 1,  /* unreadable, or with an extension */
    HERALD_PHONE_NOT_POSSIBLE = 2,  /* no number of the plan has this length, or only local numbers have it; also fewer
                                       than eight digits without a plus sign, outside every allocated range */
    HERALD_PHONE_REFUSED = 3,       /* too long, unknown region, or an exception in the library */
};

/* Converts a number in international or national form to E.164.
 *
 * region is two upper-case letters (ISO 3166-1), or NULL to accept only text that starts with a plus sign.
 * On HERALD_PHONE_OK, digits holds the E.164 number without the plus sign; otherwise it is unchanged. */
int herald_phone_normalise(const char *text, size_t length, const char *region, uint64_t *digits);

/* Returns 1 if a number (E.164 without the plus sign) is in an allocated range, otherwise 0.
 *
 * The library's tables date from 2022, so a number in a newer range returns 0. */
int herald_phone_is_allocated(uint64_t digits);

/* Returns 1 if the library knows the region, otherwise 0. region is two letters. */
int herald_phone_region_known(const char *region);

/* Returns the calling code of a region (61 for AU), or 0 if the region is unknown. */
int herald_phone_calling_code(const char *region);

/* Writes up to capacity emergency numbers of a region and returns the number of all.
 *
 * Each number has a leading 1, which preserves leading zeros: 000 is 1000, 112 is 1112. Takes about 30 ms. */
int herald_phone_emergency_numbers(const char *region, uint32_t *out, int capacity);

/* Writes all known regions in alphabetical order, two letters each, without separators.
 *
 * Returns their number. Writes nothing if capacity (in bytes) is less than twice that number. */
int herald_phone_regions(char *out, size_t capacity);

/* The numbering plan of one calling code. */
struct herald_calling_code {
    uint16_t code;             /* 1 to 999 */
    uint16_t possible_lengths; /* bit n: national numbers of n digits are possible, n from 1 to 15 */
    char national_prefix[4];   /* digits dialled before a national number ("0", "06"), NUL padded; "?" if longer */
};

/* Writes up to capacity plans in ascending order of calling codes and returns the number of all. */
int herald_phone_calling_codes(struct herald_calling_code *out, int capacity);

/* Returns an example number of a region, for tests.
 *
 * type counts from 0 (fixed line) in the library's order. Returns 1 with an example, 0 without, -1 for no such type.
 * With 1, digits holds the E.164 number, and national the digits as dialled within the country, NUL terminated. */
int herald_phone_example(const char *region, int type, uint64_t *digits, char national[24]);

#ifdef __cplusplus
}
#endif

#endif
