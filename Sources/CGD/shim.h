// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CGD_SHIM_H
#define HERALD_CGD_SHIM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <gd.h>

static inline void herald_gd_ignore(int priority, const char *format, va_list arguments) {
    (void)priority; (void)format; (void)arguments;
}

/* libgd prints what it dislikes to stderr, with texts a picture chose. */
static inline void herald_gd_silence(void) { gdSetErrorMethod(herald_gd_ignore); }

/* Copies pixels of red, green, blue and alpha (255 is opaque) into a picture. NULL if there is no memory for it. */
static inline gdImagePtr herald_gd_picture(const uint8_t *pixels, size_t stride, int width, int height) {
    gdImagePtr picture = gdImageCreateTrueColor(width, height);
    if (picture == NULL) return NULL;
    for (int y = 0; y < height; y++) {
        const uint8_t *pixel = pixels + stride * (size_t)y;
        int *row = picture->tpixels[y];
        for (int x = 0; x < width; x++, pixel += 4) {
            row[x] = (127 - pixel[3] / 2) << 24 | pixel[0] << 16 | pixel[1] << 8 | pixel[2];
        }
    }
    return picture;
}

/* True if a picture of true colours has a pixel that is not opaque. */
static inline int herald_gd_has_transparency(gdImagePtr picture) {
    for (int y = 0; y < picture->sy; y++) {
        for (int x = 0; x < picture->sx; x++) {
            if (gdTrueColorGetAlpha(picture->tpixels[y][x]) != gdAlphaOpaque) return 1;
        }
    }
    return 0;
}

/* Copies a picture of true colours the way Exif's orientation (2 to 8) shows it upright: Exif 2.3 §4.6.4 A. NULL if there
 * is no memory for it. */
static inline gdImagePtr herald_gd_upright(gdImagePtr source, int orientation) {
    const int is_on_its_side = orientation >= 5;
    const int width = is_on_its_side ? source->sy : source->sx, height = is_on_its_side ? source->sx : source->sy;
    gdImagePtr upright = gdImageCreateTrueColor(width, height);
    if (upright == NULL) return NULL;
    for (int y = 0; y < source->sy; y++) {
        const int down = source->sy - 1 - y;
        for (int x = 0; x < source->sx; x++) {
            const int right = source->sx - 1 - x;
            int to_x = x, to_y = y;
            switch (orientation) {
            case 2: to_x = right; break;
            case 3: to_x = right; to_y = down; break;
            case 4: to_y = down; break;
            case 5: to_x = y; to_y = x; break;
            case 6: to_x = down; to_y = x; break;
            case 7: to_x = down; to_y = right; break;
            case 8: to_x = y; to_y = right; break;
            default: break;
            }
            upright->tpixels[to_y][to_x] = source->tpixels[y][x];
        }
    }
    return upright;
}

#endif
