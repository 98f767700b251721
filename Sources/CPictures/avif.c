// SPDX-License-Identifier: Apache-2.0

#include "herald_pictures.h"

#include <avif/avif.h>
#include <stdlib.h>

/* The orientation of Exif for a rotation and a mirror (ISO/IEC 23008-12 §6.5.10 and §6.5.12). The rotation comes first. */
static int orientation(const avifImage *image) {
    static const int turned[4] = {1, 8, 3, 6};
    static const int turned_and_flipped_in_height[4] = {4, 5, 2, 7};
    static const int turned_and_flipped_in_width[4] = {2, 7, 4, 5};
    const int turns = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
    if ((image->transformFlags & AVIF_TRANSFORM_IMIR) == 0) return turned[turns];
    return image->imir.mode == 0 ? turned_and_flipped_in_height[turns] : turned_and_flipped_in_width[turns];
}

static int code(avifResult result) {
    return result == AVIF_RESULT_OUT_OF_MEMORY ? HERALD_PICTURE_OUT_OF_MEMORY : HERALD_PICTURE_UNDECODABLE;
}

static int convert(avifImage *image, herald_picture *picture) {
    avifRGBImage colours;
    avifRGBImageSetDefaults(&colours, image);
    colours.format = AVIF_RGB_FORMAT_RGBA;
    colours.depth = 8;
    colours.rowBytes = image->width * 4;
    colours.pixels = malloc((size_t)colours.rowBytes * image->height);
    if (colours.pixels == NULL) return HERALD_PICTURE_OUT_OF_MEMORY;
    const avifResult result = avifImageYUVToRGB(image, &colours);
    if (result != AVIF_RESULT_OK) {
        free(colours.pixels);
        return code(result);
    }
    picture->width = image->width;
    picture->height = image->height;
    picture->stride = colours.rowBytes;
    picture->orientation = orientation(image);
    picture->pixels = colours.pixels;
    picture->owner = colours.pixels;
    picture->release = free;
    return HERALD_PICTURE_READ;
}

static int read_by(avifDecoder *decoder, const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture) {
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    decoder->maxThreads = 1; /* dav1d then works on the calling thread */
    decoder->ignoreExif = AVIF_TRUE;
    decoder->ignoreXMP = AVIF_TRUE;
    decoder->strictFlags &= ~(avifStrictFlags)AVIF_STRICT_PIXI_REQUIRED; /* older encoders left the box out */
    if (max_pixels < decoder->imageSizeLimit) decoder->imageSizeLimit = (uint32_t)max_pixels;
    avifResult result = avifDecoderSetIOMemory(decoder, bytes, count);
    if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder);
    if (result != AVIF_RESULT_OK) return code(result);
    if ((size_t)decoder->image->width * decoder->image->height > max_pixels) return HERALD_PICTURE_TOO_LARGE;
    result = avifDecoderNextImage(decoder);
    if (result != AVIF_RESULT_OK) return code(result);
    return convert(decoder->image, picture);
}

int herald_read_avif(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture) {
    avifDecoder *decoder = avifDecoderCreate();
    if (decoder == NULL) return HERALD_PICTURE_OUT_OF_MEMORY;
    const int read = read_by(decoder, bytes, count, max_pixels, picture);
    avifDecoderDestroy(decoder);
    return read;
}
