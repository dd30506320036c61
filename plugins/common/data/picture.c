/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Class names are drawn in a 5 x 7 font, stored with one byte per column and the lowest bit on
 * top. */
#include "plugins/common/data/picture.h"

#include "lib/base/error.h"

#ifdef ORCH_HAVE_PNG
#include <png.h>
#endif
#include <string.h>

enum { GAP = 8, SCALE = 2, LETTER_W = 6, LETTER_H = 7, NAME_LETTERS = 14 };

static const struct {
    char letter;
    uint8_t columns[5];
} FONT[] = {
    {'A', {0x7e, 0x11, 0x11, 0x11, 0x7e}}, {'B', {0x7f, 0x49, 0x49, 0x49, 0x36}},
    {'C', {0x3e, 0x41, 0x41, 0x41, 0x22}}, {'D', {0x7f, 0x41, 0x41, 0x22, 0x1c}},
    {'E', {0x7f, 0x49, 0x49, 0x49, 0x41}}, {'F', {0x7f, 0x09, 0x09, 0x09, 0x01}},
    {'G', {0x3e, 0x41, 0x49, 0x49, 0x7a}}, {'H', {0x7f, 0x08, 0x08, 0x08, 0x7f}},
    {'I', {0x00, 0x41, 0x7f, 0x41, 0x00}}, {'J', {0x20, 0x40, 0x41, 0x3f, 0x01}},
    {'K', {0x7f, 0x08, 0x14, 0x22, 0x41}}, {'L', {0x7f, 0x40, 0x40, 0x40, 0x40}},
    {'M', {0x7f, 0x02, 0x0c, 0x02, 0x7f}}, {'N', {0x7f, 0x04, 0x08, 0x10, 0x7f}},
    {'O', {0x3e, 0x41, 0x41, 0x41, 0x3e}}, {'P', {0x7f, 0x09, 0x09, 0x09, 0x06}},
    {'Q', {0x3e, 0x41, 0x51, 0x21, 0x5e}}, {'R', {0x7f, 0x09, 0x19, 0x29, 0x46}},
    {'S', {0x46, 0x49, 0x49, 0x49, 0x31}}, {'T', {0x01, 0x01, 0x7f, 0x01, 0x01}},
    {'U', {0x3f, 0x40, 0x40, 0x40, 0x3f}}, {'V', {0x1f, 0x20, 0x40, 0x20, 0x1f}},
    {'W', {0x3f, 0x40, 0x38, 0x40, 0x3f}}, {'X', {0x63, 0x14, 0x08, 0x14, 0x63}},
    {'Y', {0x07, 0x08, 0x70, 0x08, 0x07}}, {'Z', {0x61, 0x51, 0x49, 0x45, 0x43}},
    {'0', {0x3e, 0x51, 0x49, 0x45, 0x3e}}, {'1', {0x00, 0x42, 0x7f, 0x40, 0x00}},
    {'2', {0x42, 0x61, 0x51, 0x49, 0x46}}, {'3', {0x21, 0x41, 0x45, 0x4b, 0x31}},
    {'4', {0x18, 0x14, 0x12, 0x7f, 0x10}}, {'5', {0x27, 0x45, 0x45, 0x45, 0x39}},
    {'6', {0x3c, 0x4a, 0x49, 0x49, 0x30}}, {'7', {0x01, 0x71, 0x09, 0x05, 0x03}},
    {'8', {0x36, 0x49, 0x49, 0x49, 0x36}}, {'9', {0x06, 0x49, 0x49, 0x29, 0x1e}},
    {'-', {0x08, 0x08, 0x08, 0x08, 0x08}}, {'/', {0x20, 0x10, 0x08, 0x04, 0x02}},
    {'_', {0x40, 0x40, 0x40, 0x40, 0x40}}, {'.', {0x00, 0x60, 0x60, 0x00, 0x00}},
};

struct canvas {
    uint8_t *rgb;
    int width, height;
};

static void put_pixel(struct canvas *canvas, int x, int y, const uint8_t *rgb)
{
    if (x >= 0 && y >= 0 && x < canvas->width && y < canvas->height)
        memcpy(canvas->rgb + ((size_t)y * (size_t)canvas->width + (size_t)x) * 3, rgb, 3);
}

static void put_letter(struct canvas *canvas, int left, int top, char letter)
{
    static const uint8_t ink[3] = {20, 20, 20};
    for (unsigned i = 0; i < G_N_ELEMENTS(FONT); i++) {
        if (FONT[i].letter != g_ascii_toupper(letter))
            continue;
        for (int x = 0; x < 5 * SCALE; x++)
            for (int y = 0; y < LETTER_H * SCALE; y++)
                if (FONT[i].columns[x / SCALE] >> (y / SCALE) & 1)
                    put_pixel(canvas, left + x, top + y, ink);
    }
}

static void put_name(struct canvas *canvas, int left, int top, const char *name)
{
    for (int i = 0; name[i] && i < NAME_LETTERS; i++)
        put_letter(canvas, left + i * LETTER_W * SCALE, top, name[i]);
}

static void put_image(struct canvas *canvas, int left, int top, int factor,
                      const struct orch_image_set *d, const uint8_t *image)
{
    for (int y = 0; y < d->height * factor; y++)
        for (int x = 0; x < d->width * factor; x++) {
            uint8_t rgb[3];
            for (int c = 0; c < 3; c++)
                rgb[c] = image[((size_t)(d->channels > 1 ? c : 0) * (size_t)d->height +
                                (size_t)(y / factor)) *
                                   (size_t)d->width +
                               (size_t)(x / factor)];
            put_pixel(canvas, left + x, top + y, rgb);
        }
}

static bool write_png(const struct canvas *canvas, const char *path, GError **error)
{
#ifdef ORCH_HAVE_PNG
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_file(&image, path, 0, canvas->rgb, 0, NULL))
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': %s", path, image.message);
#else
    (void)canvas;
    orch_error_set(error, ORCH_ERROR_IO, "apt-get install libpng-dev, then build again",
                   "cannot write '%s': orch was built without PNG", path);
#endif
    return false;
}

/* "4 images each of Sandal and Bag", or "4 images of Sandal, 3 of Bag". */
static void describe(const struct orch_subset *subset, const int *drawn, int rows, GString *out)
{
    bool is_even = rows > 1;
    for (int row = 1; row < rows; row++)
        is_even = is_even && drawn[row] == drawn[0];
    for (int row = 0; row < rows; row++) {
        const char *name = orch_subset_class_name(subset, row);
        const char *image = drawn[row] == 1 ? "image" : "images";
        if (row == 0)
            g_string_append_printf(out, "%d %s %sof %s", drawn[0], image, is_even ? "each " : "",
                                   name);
        else if (is_even)
            g_string_append_printf(out, "%s %s", row + 1 < rows ? "," : " and", name);
        else
            g_string_append_printf(out, ", %d of %s", drawn[row], name);
    }
}

bool orch_picture_samples(const struct orch_subset *subset, int classes, int per_class, int side,
                          const char *path, GString *description, GError **error)
{
    const struct orch_image_set *d = subset->dataset;
    int rows = MIN(classes, subset->classes), factor = MAX(1, side / d->height);
    int cell_w = d->width * factor + GAP, cell_h = d->height * factor + GAP;
    int names_w = NAME_LETTERS * LETTER_W * SCALE + GAP;
    struct canvas canvas = {.width = names_w + per_class * cell_w + GAP,
                            .height = rows * cell_h + GAP};
    canvas.rgb = g_malloc((gsize)canvas.width * (gsize)canvas.height * 3);
    memset(canvas.rgb, 0xff, (size_t)canvas.width * (size_t)canvas.height * 3);
    g_autofree int *drawn = g_new0(int, rows + 1);
    for (int64_t i = 0; i < subset->count; i++) {
        int label = orch_subset_label(subset, i);
        if (label >= rows || drawn[label] >= per_class)
            continue;
        put_image(&canvas, names_w + drawn[label]++ * cell_w, GAP + label * cell_h, factor, d,
                  orch_subset_image(subset, i));
    }
    for (int row = 0; row < rows; row++)
        put_name(&canvas, GAP, GAP + row * cell_h + (d->height * factor - LETTER_H * SCALE) / 2,
                 orch_subset_class_name(subset, row));
    if (description)
        describe(subset, drawn, rows, description);
    bool ok = write_png(&canvas, path, error);
    g_free(canvas.rgb);
    return ok;
}
