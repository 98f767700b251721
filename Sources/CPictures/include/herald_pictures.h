// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_PICTURES_H
#define HERALD_PICTURES_H

#include <stddef.h>
#include <stdint.h>

/* A decoded picture. Rows begin at the top; a pixel has four bytes: red, green, blue and alpha (255 is opaque), not
 * premultiplied. */
typedef struct {
    uint32_t width, height;
    /* Bytes between two rows. */
    size_t stride;
    const uint8_t *pixels;
    /* How to show the picture upright: 1 to 8, as in Exif 2.3 §4.6.4 A. */
    int orientation;
    /* The memory behind `pixels`. */
    void *owner;
    void (*release)(void *owner);
} herald_picture;

/* The values equal the exit codes of herald-scale-logo. */
enum {
    HERALD_PICTURE_READ = 0,
    /* More pixels than allowed. */
    HERALD_PICTURE_TOO_LARGE = 65,
    HERALD_PICTURE_UNDECODABLE = 66,
    HERALD_PICTURE_OUT_OF_MEMORY = 67,
};

/* Each reader decodes one picture on the calling thread, and starts no other. The first frame of an animation counts.
 * Profiles of colours, Exif and XMP are ignored, except for the orientation inside AVIF and HEIC containers. The caller
 * ends with herald_picture_free, after HERALD_PICTURE_READ only. */

/* WebP, still or animated (RFC 9649). */
int herald_read_webp(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture);
/* AVIF by dav1d (AV1 Image File Format 1.1). */
int herald_read_avif(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture);
/* HEIC by libde265 (ISO/IEC 23008-12 annex B). */
int herald_read_heic(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture);

void herald_picture_free(herald_picture *picture);

#endif
