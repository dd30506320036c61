/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes one image file: JPEG with libjpeg (warnings are errors, because a truncated file would
 * decode to partly grey images), PNG with libpng. */
#include "plugins/common/data/private.h"

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
                   "'%s' has %u x %u pixels; at most %d on a side and %u in all are read", path,
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

static uint8_t *decode_jpeg(FILE *file, const char *path, int *width, int *height, GError **error)
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
        orch_error_set(error, ORCH_ERROR_IO, "get the file again, or remove it from the set",
                       "'%s' is no sound JPEG: near byte %ld: %s", path, at, errors.text);
        jpeg_destroy_decompress(&info);
        g_free(pixels);
        return NULL;
    }
    jpeg_create_decompress(&info);
    jpeg_stdio_src(&info, file);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    if (!size_is_fine(path, info.image_width, info.image_height, error)) {
        jpeg_destroy_decompress(&info);
        return NULL;
    }
    jpeg_start_decompress(&info);
    *width = (int)info.output_width;
    *height = (int)info.output_height;
    size_t stride = (size_t)*width * 3;
    pixels = g_malloc(stride * (size_t)*height);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels + stride * info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return pixels;
}

#else
static uint8_t *decode_jpeg(FILE *file, const char *path, int *width, int *height, GError **error)
{
    (void)file;
    *width = *height = 0;
    orch_error_set(error, ORCH_ERROR_IO, "apt-get install libjpeg-dev, then build again",
                   "cannot read '%s': built without JPEG", path);
    return NULL;
}
#endif

#ifdef ORCH_HAVE_PNG
static uint8_t *decode_png(FILE *file, const char *path, int *width, int *height, GError **error)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    uint8_t *pixels = NULL;
    if (png_image_begin_read_from_stdio(&image, file)) {
        if (!size_is_fine(path, image.width, image.height, error)) {
            png_image_free(&image);
            return NULL;
        }
        image.format = PNG_FORMAT_RGB;
        pixels = g_malloc(PNG_IMAGE_SIZE(image));
        const png_color white = {255, 255, 255};
        if (!png_image_finish_read(&image, &white, pixels, 0, NULL))
            g_clear_pointer(&pixels, g_free);
    }
    if (!pixels)
        orch_error_set(error, ORCH_ERROR_IO, "get the file again, or remove it from the set",
                       "'%s' is no sound PNG: near byte %ld: %s", path, ftell(file), image.message);
    *width = (int)image.width;
    *height = (int)image.height;
    png_image_free(&image);
    return pixels;
}
#else
static uint8_t *decode_png(FILE *file, const char *path, int *width, int *height, GError **error)
{
    (void)file;
    *width = *height = 0;
    orch_error_set(error, ORCH_ERROR_IO, "apt-get install libpng-dev, then build again",
                   "cannot read '%s': built without PNG", path);
    return NULL;
}
#endif

bool orch_image_decode(const char *path, int channels, int height, int width, uint8_t *out,
                       GError **error)
{
    FILE *file = orch_file_open_stream(path, error);
    uint8_t magic[4] = {0};
    if (!file)
        return false;
    if (fread(magic, 1, 4, file) != 4) {
        orch_error_set(error, ORCH_ERROR_IO, "get the file again, or remove it from the set",
                       "cannot read '%s': it is empty or cut off", path);
        fclose(file);
        return false;
    }
    rewind(file);
    int in_w = 0, in_h = 0;
    uint8_t *pixels = NULL;
    if (magic[0] == 0xff && magic[1] == 0xd8)
        pixels = decode_jpeg(file, path, &in_w, &in_h, error);
    else if (memcmp(magic, "\x89PNG", 4) == 0)
        pixels = decode_png(file, path, &in_w, &in_h, error);
    else
        orch_error_set(error, ORCH_ERROR_IO, "get the file again, or remove it from the set",
                       "'%s', byte 0: neither a JPEG nor a PNG", path);
    fclose(file);
    if (!pixels)
        return false;
    orch_image_scale(pixels, in_w, in_h, channels, height, width, out);
    g_free(pixels);
    return true;
}
