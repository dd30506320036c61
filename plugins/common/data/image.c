/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads one image file: JPEG with libjpeg (warnings are errors, because a truncated file would
 * decode to partly grey images), PNG with libpng. */
#include "plugins/common/data/private.h"
#include "plugins/common/data/rgb.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#ifdef ORCH_HAVE_JPEG
#include <jpeglib.h>
#endif
#ifdef ORCH_HAVE_PNG
#include <png.h>
#endif

#define SIDE_MAX 20000
#define PIXELS_MAX (1u << 27)

static bool size_is_fine(const char *path, unsigned width, unsigned height, GError **error)
{
    if (width && height && width <= SIDE_MAX && height <= SIDE_MAX && width * height <= PIXELS_MAX)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL,
                   "'%s' has %u x %u pixels; at most %d on a side and %u in all are possible", path,
                   width, height, SIDE_MAX, PIXELS_MAX);
    return false;
}

#ifdef ORCH_HAVE_JPEG
struct jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    char text[JMSG_LENGTH_MAX];
};

static void on_jpeg_error(j_common_ptr info)
{
    struct jpeg_errors *errors = (struct jpeg_errors *)info->err;
    info->err->format_message(info, errors->text);
    longjmp(errors->jump, 1);
}

static void on_jpeg_message(j_common_ptr info, int level)
{
    if (level < 0) /* a warning: the data is damaged */
        on_jpeg_error(info);
}

/* `out_pixels` NULL: the size alone. */
static bool decode_jpeg(FILE *file, const char *path, uint8_t **out_pixels, int *width, int *height,
                        GError **error)
{
    struct jpeg_decompress_struct info;
    struct jpeg_errors errors;
    uint8_t *volatile pixels = NULL;
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = on_jpeg_error;
    errors.base.emit_message = on_jpeg_message;
    info.src = NULL;
    if (setjmp(errors.jump)) {
        long at = ftell(file) - (info.src ? (long)info.src->bytes_in_buffer : 0);
        orch_error_set(error, ORCH_ERROR_IO, "remove the file from the set",
                       "'%s' is a damaged JPEG: near byte %ld: %s", path, at, errors.text);
        jpeg_destroy_decompress(&info);
        g_free(pixels);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_stdio_src(&info, file);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    const bool is_fine = size_is_fine(path, info.image_width, info.image_height, error);
    *width = (int)info.image_width;
    *height = (int)info.image_height;
    if (!is_fine || !out_pixels) {
        jpeg_destroy_decompress(&info);
        return is_fine;
    }
    jpeg_start_decompress(&info);
    size_t stride = (size_t)*width * 3;
    pixels = g_malloc(stride * (size_t)*height);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels + stride * info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    *out_pixels = pixels;
    return true;
}

#else
static bool decode_jpeg(FILE *file, const char *path, uint8_t **out_pixels, int *width, int *height,
                        GError **error)
{
    (void)file;
    (void)out_pixels;
    *width = *height = 0;
    orch_error_set(error, ORCH_ERROR_IO, "apt-get install libjpeg-dev, then build again",
                   "cannot read '%s': orch was built without JPEG", path);
    return false;
}
#endif

#ifdef ORCH_HAVE_PNG
static bool decode_png(FILE *file, const char *path, uint8_t **out_pixels, int *width, int *height,
                       GError **error)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    uint8_t *pixels = NULL;
    bool is_read = png_image_begin_read_from_stdio(&image, file);
    if (is_read && !size_is_fine(path, image.width, image.height, error)) {
        png_image_free(&image);
        return false;
    }
    *width = (int)image.width;
    *height = (int)image.height;
    if (is_read && out_pixels) {
        image.format = PNG_FORMAT_RGB;
        pixels = g_malloc(PNG_IMAGE_SIZE(image));
        const png_color white = {255, 255, 255};
        is_read = png_image_finish_read(&image, &white, pixels, 0, NULL);
        if (is_read)
            *out_pixels = g_steal_pointer(&pixels);
    }
    if (!is_read)
        orch_error_set(error, ORCH_ERROR_IO, "remove the file from the set",
                       "'%s' is a damaged PNG: near byte %ld: %s", path, ftell(file),
                       image.message);
    g_free(pixels);
    png_image_free(&image);
    return is_read;
}
#else
static bool decode_png(FILE *file, const char *path, uint8_t **out_pixels, int *width, int *height,
                       GError **error)
{
    (void)file;
    (void)out_pixels;
    *width = *height = 0;
    orch_error_set(error, ORCH_ERROR_IO, "apt-get install libpng-dev, then build again",
                   "cannot read '%s': orch was built without PNG", path);
    return false;
}
#endif

/* Opens a file and tells what it is by its first bytes. */
static FILE *open_image(const char *path, bool *out_is_jpeg, GError **error)
{
    FILE *file = orch_file_open_stream(path, error);
    uint8_t magic[4] = {0};
    if (!file)
        return NULL;
    *out_is_jpeg = false;
    if (fread(magic, 1, 4, file) != 4)
        orch_error_set(error, ORCH_ERROR_IO, "remove the file from the set",
                       "cannot read '%s': the file is empty or truncated", path);
    else if ((*out_is_jpeg = magic[0] == 0xff && magic[1] == 0xd8) ||
             memcmp(magic, "\x89PNG", 4) == 0) {
        rewind(file);
        return file;
    } else
        orch_error_set(error, ORCH_ERROR_IO, "remove the file from the set",
                       "'%s' is neither a JPEG nor a PNG (byte 0)", path);
    fclose(file);
    return NULL;
}

static bool read_image(const char *path, uint8_t **out_pixels, int *width, int *height,
                       GError **error)
{
    bool is_jpeg;
    FILE *file = open_image(path, &is_jpeg, error);
    if (!file)
        return false;
    const bool ok = is_jpeg ? decode_jpeg(file, path, out_pixels, width, height, error)
                            : decode_png(file, path, out_pixels, width, height, error);
    fclose(file);
    return ok;
}

uint8_t *orch_rgb_read(const char *path, int *out_width, int *out_height, GError **error)
{
    uint8_t *pixels = NULL;
    return read_image(path, &pixels, out_width, out_height, error) ? pixels : NULL;
}

bool orch_rgb_size(const char *path, int *out_width, int *out_height, GError **error)
{
    return read_image(path, NULL, out_width, out_height, error);
}

bool orch_image_decode(const char *path, int channels, int height, int width, uint8_t *out,
                       GError **error)
{
    int in_w, in_h;
    uint8_t *pixels = orch_rgb_read(path, &in_w, &in_h, error);
    if (!pixels)
        return false;
    orch_image_scale(pixels, in_w, in_h, channels, height, width, out);
    g_free(pixels);
    return true;
}
