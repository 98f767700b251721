// SPDX-License-Identifier: Apache-2.0

#include "herald_pictures.h"

#include <libde265/de265.h>
#include <libheif/heif.h>
#include <libheif/heif_plugin.h>
#include <string.h>

/* libheif's own decoder of HEVC starts a worker thread, which the confinement does not permit, and the process would end.
 * This one has none. */

static const struct heif_error read_well = {heif_error_Ok, heif_suberror_Unspecified, "Success"};
static const struct heif_error failed = {heif_error_Decoder_plugin_error, heif_suberror_Unspecified, "Undecodable"};

static const char *name(void) { return "libde265 on the calling thread"; }

static int priority(enum heif_compression_format format) { return format == heif_compression_HEVC ? 1000 : 0; }

static struct heif_error begin(void **decoder) {
    *decoder = de265_new_decoder();
    return *decoder == NULL ? failed : read_well;
}

static void end(void *decoder) { de265_free_decoder(decoder); }

static void set_strict(void *decoder, int flag) { (void)decoder; (void)flag; }

/* Takes units of HEVC, each behind its length in four bytes. */
static struct heif_error push(void *decoder, const void *data, size_t size) {
    const uint8_t *bytes = data;
    for (size_t place = 0; place < size;) {
        if (size - place < 4) return failed;
        const uint32_t length = (uint32_t)bytes[place] << 24 | (uint32_t)bytes[place + 1] << 16
            | (uint32_t)bytes[place + 2] << 8 | bytes[place + 3];
        place += 4;
        if (length > size - place) return failed;
        if (de265_push_NAL(decoder, bytes + place, (int)length, 0, NULL) != DE265_OK) return failed;
        place += length;
    }
    return read_well;
}

static struct heif_error copy_plane(
    const struct de265_image *source, int channel, enum heif_channel plane, struct heif_image *target) {
    const int width = de265_get_image_width(source, channel), height = de265_get_image_height(source, channel);
    const int bits = de265_get_bits_per_pixel(source, channel);
    if (width <= 0 || height <= 0 || bits != de265_get_bits_per_pixel(source, 0)) return failed;
    const struct heif_error added = heif_image_add_plane(target, plane, width, height, bits);
    if (added.code != heif_error_Ok) return added;
    int from_stride = 0, to_stride = 0;
    const uint8_t *from = de265_get_image_plane(source, channel, &from_stride);
    uint8_t *to = heif_image_get_plane(target, plane, &to_stride);
    if (from == NULL || to == NULL) return failed;
    const size_t row = (size_t)width * (size_t)((bits + 7) / 8);
    if ((size_t)from_stride < row || (size_t)to_stride < row) return failed;
    for (int y = 0; y < height; y++) {
        memcpy(to + (size_t)y * (size_t)to_stride, from + (size_t)y * (size_t)from_stride, row);
    }
    return read_well;
}

/* The coding of colours in the stream counts where the container has none. */
static void copy_colours(const struct de265_image *source, struct heif_image *target) {
    struct heif_color_profile_nclx *colours = heif_nclx_color_profile_alloc();
    if (colours == NULL) return;
    heif_nclx_color_profile_set_color_primaries(colours, (uint16_t)de265_get_image_colour_primaries(source));
    heif_nclx_color_profile_set_transfer_characteristics(
        colours, (uint16_t)de265_get_image_transfer_characteristics(source));
    heif_nclx_color_profile_set_matrix_coefficients(colours, (uint16_t)de265_get_image_matrix_coefficients(source));
    colours->full_range_flag = (uint8_t)de265_get_image_full_range_flag(source);
    heif_image_set_nclx_color_profile(target, colours);
    heif_nclx_color_profile_free(colours);
}

static struct heif_error copy(const struct de265_image *source, struct heif_image **target) {
    const enum de265_chroma chroma = de265_get_chroma_format(source);
    const int is_grey = chroma == de265_chroma_mono;
    /* The values of both enumerations are those of chroma_format_idc. */
    struct heif_error error = heif_image_create(
        de265_get_image_width(source, 0), de265_get_image_height(source, 0),
        is_grey ? heif_colorspace_monochrome : heif_colorspace_YCbCr, (enum heif_chroma)chroma, target);
    static const enum heif_channel planes[3] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    for (int channel = 0; error.code == heif_error_Ok && channel < (is_grey ? 1 : 3); channel++) {
        error = copy_plane(source, channel, planes[channel], *target);
    }
    if (error.code == heif_error_Ok) {
        copy_colours(source, *target);
    } else if (*target != NULL) {
        heif_image_release(*target);
        *target = NULL;
    }
    return error;
}

/* Decodes the first picture of the stream. */
static struct heif_error decode(void *decoder, struct heif_image **target) {
    *target = NULL;
    if (de265_flush_data(decoder) != DE265_OK) return failed;
    for (int more = 1; more != 0;) {
        more = 0;
        if (de265_decode(decoder, &more) != DE265_OK) return failed;
        const struct de265_image *image = de265_get_next_picture(decoder);
        if (image == NULL) continue;
        const struct heif_error error = copy(image, target);
        de265_release_next_picture(decoder);
        return error;
    }
    return failed;
}

static const struct heif_decoder_plugin on_the_calling_thread = {
    .plugin_api_version = 3,
    .get_plugin_name = name,
    .does_support_format = priority,
    .new_decoder = begin,
    .free_decoder = end,
    .push_data = push,
    .decode_image = decode,
    .set_strict_decoding = set_strict,
    .id_name = "herald",
};

static void release(void *owner) { heif_image_release(owner); }

static int code(struct heif_error error) {
    return error.code == heif_error_Memory_allocation_error ? HERALD_PICTURE_OUT_OF_MEMORY : HERALD_PICTURE_UNDECODABLE;
}

/* Decodes and turns the picture, by the properties of the container. */
static int read_handle(const struct heif_image_handle *handle, size_t max_pixels, herald_picture *picture) {
    const int width = heif_image_handle_get_width(handle), height = heif_image_handle_get_height(handle);
    if (width <= 0 || height <= 0) return HERALD_PICTURE_UNDECODABLE;
    if ((size_t)width * (size_t)height > max_pixels) return HERALD_PICTURE_TOO_LARGE;
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (options == NULL) return HERALD_PICTURE_OUT_OF_MEMORY;
    options->convert_hdr_to_8bit = 1;
    options->strict_decoding = 1;
    struct heif_image *image = NULL;
    const struct heif_error error =
        heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, options);
    heif_decoding_options_free(options);
    if (error.code != heif_error_Ok) return code(error);
    int stride = 0;
    picture->pixels = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    const int shown_width = heif_image_get_width(image, heif_channel_interleaved);
    const int shown_height = heif_image_get_height(image, heif_channel_interleaved);
    if (picture->pixels == NULL || shown_width <= 0 || shown_height <= 0 || stride / 4 < shown_width) {
        heif_image_release(image);
        return HERALD_PICTURE_UNDECODABLE;
    }
    picture->width = (uint32_t)shown_width;
    picture->height = (uint32_t)shown_height;
    picture->stride = (size_t)stride;
    picture->orientation = 1;
    picture->owner = image;
    picture->release = release;
    return HERALD_PICTURE_READ;
}

int herald_read_heic(const uint8_t *bytes, size_t count, size_t max_pixels, herald_picture *picture) {
    struct heif_error error = heif_register_decoder_plugin(&on_the_calling_thread);
    if (error.code != heif_error_Ok) return code(error);
    struct heif_context *context = heif_context_alloc();
    if (context == NULL) return HERALD_PICTURE_OUT_OF_MEMORY;
    heif_context_set_max_decoding_threads(context, 0);
    int read = HERALD_PICTURE_UNDECODABLE;
    struct heif_image_handle *handle = NULL;
    error = heif_context_read_from_memory_without_copy(context, bytes, count, NULL);
    if (error.code == heif_error_Ok) error = heif_context_get_primary_image_handle(context, &handle);
    if (error.code == heif_error_Ok) {
        read = read_handle(handle, max_pixels, picture);
        heif_image_handle_release(handle);
    } else {
        read = code(error);
    }
    heif_context_free(context);
    return read;
}
