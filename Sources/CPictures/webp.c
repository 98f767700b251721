// SPDX-License-Identifier: Apache-2.0

#include "herald_pictures.h"

#include <stdlib.h>
#include <webp/decode.h>
#include <webp/demux.h>

/* The frame is part of the decoder's memory. */
static void release_animation(void *owner) { WebPAnimDecoderDelete(owner); }

static int read_first_frame(const uint8_t *bytes, size_t count, herald_picture *picture) {
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) return HERALD_PICTURE_UNDECODABLE;
    options.color_mode = MODE_RGBA;
    options.use_threads = 0;
    const WebPData data = {.bytes = bytes, .size = count};
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
    if (decoder == NULL) return HERALD_PICTURE_UNDECODABLE;
    uint8_t *frame = NULL;
    int timestamp = 0;
    if (!WebPAnimDecoderGetNext(decoder, &frame, &timestamp)) {
        WebPAnimDecoderDelete(decoder);
        return HERALD_PICTURE_UNDECODABLE;
    }
    picture->pixels = frame;
    picture->owner = decoder;
    picture->release = release_animation;
    return HERALD_PICTURE_READ;
}

static int read_still(const uint8_t *bytes, size_t count, herald_picture *picture) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return HERALD_PICTURE_UNDECODABLE;
    const size_t size = picture->stride * picture->height;
    uint8_t *pixels = malloc(size);
    if (pixels == NULL) return HERALD_PICTURE_OUT_OF_MEMORY;
    config.options.use_threads = 0;
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)picture->stride;
    config.output.u.RGBA.size = size;
    const VP8StatusCode status = WebPDecode(bytes, count, &config);
    WebPFreeDecBuffer(&config.output);
    if (status != VP8_STATUS_OK) {
        free(pixels);
        return status == VP8_STATUS_OUT_OF_MEMORY ? HERALD_PICTURE_OUT_OF_MEMORY : HERALD_PICTURE_UNDECODABLE;
    }
    picture->pixels = pixels;
    picture->owner = pixels;
    picture->release = free;
    return HERALD_PICTURE_READ;
}

int herald_read_webp(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture) {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(bytes, count, &features) != VP8_STATUS_OK || features.width <= 0 || features.height <= 0) {
        return HERALD_PICTURE_UNDECODABLE;
    }
    if ((size_t)features.width * (size_t)features.height > max_pixels) return HERALD_PICTURE_TOO_LARGE;
    picture->width = (uint32_t)features.width;
    picture->height = (uint32_t)features.height;
    picture->stride = (size_t)features.width * 4;
    picture->orientation = 1;
    return features.has_animation ? read_first_frame(bytes, count, picture) : read_still(bytes, count, picture);
}
