// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CVECTOR_H
#define HERALD_CVECTOR_H

#include <stdint.h>

/* Sixteen bytes, as Swift's SIMD16 has them. */
typedef int8_t herald_sixteen __attribute__((ext_vector_type(16)));
typedef _Bool herald_sixteen_bits __attribute__((ext_vector_type(16)));

/* The highest bit of each byte, that of the first lowest: one instruction on x86, which Swift has no name for. */
static inline uint16_t herald_high_bits(herald_sixteen bytes) {
    herald_sixteen_bits negative = __builtin_convertvector(bytes < 0, herald_sixteen_bits);
    return __builtin_bit_cast(uint16_t, negative);
}

#endif
