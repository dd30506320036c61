/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms from text: a table has the values that each name takes and the function that checks
 * them. */
#include "plugins/common/data/transform.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

#define VALUES_MAX 6

/* The values of one text, and the size of the images. */
struct values {
    double of[VALUES_MAX];
    unsigned count;
    int width, height;
};

/* Fills the fields of a transform. Returns what is wrong with the values, or NULL. Caller frees. */
typedef char *(*setter)(struct orch_transform *out, const struct values *values);

static char *set_size(struct orch_transform *out, const struct values *v)
{
    const double size = v->of[0];
    if (size < 0 || size > (double)INT32_MAX || size != (double)(int)size)
        return g_strdup_printf("%g is not a whole number of pixels from 0 on", size);
    if (size > v->width || size > v->height)
        return g_strdup_printf("%g pixels are more than the images have, which are %d wide and %d "
                               "high: choose at most %d",
                               size, v->width, v->height, MIN(v->width, v->height));
    out->size = (int)size;
    return NULL;
}

static char *set_nothing(struct orch_transform *out, const struct values *v)
{
    (void)out;
    (void)v;
    return NULL;
}

static char *set_erase(struct orch_transform *out, const struct values *v)
{
    double of[] = {0.5, 0.02, 0.33, 0.3, 3.3};
    memcpy(of, v->of, sizeof *of * v->count);
    if (of[0] < 0 || of[0] > 1)
        return g_strdup_printf("the probability %g is not between 0 and 1", of[0]);
    if (of[1] < 0 || of[2] > 1 || of[1] > of[2])
        return g_strdup_printf(
            "the shares of the area %g and %g are not an ascending pair between 0 and 1", of[1],
            of[2]);
    if (of[3] <= 0 || of[3] > of[4])
        return g_strdup_printf("the aspects %g and %g are not above 0, the least first", of[3],
                               of[4]);
    out->probability = of[0];
    out->area_min = of[1];
    out->area_max = of[2];
    out->aspect_min = of[3];
    out->aspect_max = of[4];
    return NULL;
}

static char *set_normalise(struct orch_transform *out, const struct values *v)
{
    const unsigned channels = v->count / 2;
    out->has_values = channels > 0;
    for (unsigned c = 0; c < 3 && channels; c++) {
        out->mean[c] = (float)v->of[c % channels];
        out->std[c] = (float)v->of[channels + c % channels];
        if (!(out->std[c] > 0))
            return g_strdup_printf("the standard deviation %g is not above 0",
                                   v->of[channels + c % channels]);
    }
    return NULL;
}

/* `counts`: bit n is set if n values are allowed. In the order of the kinds. */
static const struct form {
    const char *name, *usage;
    unsigned counts;
    setter set;
} FORMS[ORCH_TRANSFORM_KINDS] = {
    {"crop", "crop PIXELS", 1U << 1, set_size},
    {"flip", "flip", 1U << 0, set_nothing},
    {"cutout", "cutout SIDE", 1U << 1, set_size},
    {"erase", "erase [PROBABILITY [AREA_MIN AREA_MAX [ASPECT_MIN ASPECT_MAX]]]",
     1U << 0 | 1U << 1 | 1U << 3 | 1U << 5, set_erase},
    {"normalise", "normalise [MEAN STD], or three means and three deviations",
     1U << 0 | 1U << 2 | 1U << 6, set_normalise},
};

static const char ORDER[] = "crop, flip, cutout, erase, normalise";

static bool find_form(const char *text, const char *name, enum orch_transform_kind *out,
                      GError **error)
{
    const char *names[ORCH_TRANSFORM_KINDS + 1] = {NULL};
    for (int i = 0; i < ORCH_TRANSFORM_KINDS; i++) {
        names[i] = FORMS[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = (enum orch_transform_kind)i;
            return true;
        }
    }
    g_autofree char *hint = orch_suggest_hint(name, names);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "unknown transform '%s' in '%s': expected %s",
                   name, text, ORDER);
    return false;
}

/* The words of a text, which blanks separate. Caller frees with g_strfreev. */
static char **words_of(const char *text)
{
    GPtrArray *words = g_ptr_array_new();
    g_auto(GStrv) parts = g_strsplit_set(text, " \t\n", -1);
    for (char **part = parts; *part; part++)
        if (**part)
            g_ptr_array_add(words, g_strdup(*part));
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* The words after the name, as numbers. */
static bool read_values(const char *text, const struct form *form, char **words, struct values *out,
                        GError **error)
{
    for (out->count = 0; words[out->count]; out->count++) {
        const char *word = words[out->count];
        if (out->count == VALUES_MAX)
            break;
        if (!orch_real_parse(word, &out->of[out->count])) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "transform '%s': '%s' is not a number (expected %s)", text, word,
                           form->usage);
            return false;
        }
    }
    if (!words[out->count] && (form->counts >> out->count & 1U))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "transform '%s' has %u values: expected %s",
                   text, g_strv_length(words), form->usage);
    return false;
}

/* `before` is the text of the transform before this one. */
static bool order_is_right(const struct orch_transforms *list, const char *before,
                           enum orch_transform_kind kind, const char *text, GError **error)
{
    if (list->count == 0 || list->items[list->count - 1].kind < kind)
        return true;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].kind == kind) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "list each transform once",
                           "transform '%s': %s is listed twice", text, FORMS[kind].name);
            return false;
        }
    orch_error_set(error, ORCH_ERROR_RECIPE, "list the transforms in this order",
                   "transform '%s' comes after '%s', but transforms are applied in the order %s",
                   text, before, ORDER);
    return false;
}

bool orch_transforms_parse(const char *const *texts, size_t count, int width, int height,
                           struct orch_transforms *out, GError **error)
{
    struct orch_transforms list = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        g_auto(GStrv) words = words_of(texts[i]);
        struct values values = {.width = width, .height = height};
        enum orch_transform_kind kind;
        if (!find_form(texts[i], words[0] ? words[0] : "", &kind, error) ||
            !read_values(texts[i], &FORMS[kind], words + 1, &values, error) ||
            !order_is_right(&list, i ? texts[i - 1] : "", kind, texts[i], error))
            return false;
        struct orch_transform *item = &list.items[list.count++];
        item->kind = kind;
        g_autofree char *wrong = FORMS[kind].set(item, &values);
        if (wrong) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "transform '%s': %s", texts[i], wrong);
            return false;
        }
    }
    *out = list;
    return true;
}

struct orch_transforms orch_transforms_crop_flip(int crop_pad, bool flip)
{
    struct orch_transforms list = {.count = 0};
    if (crop_pad > 0)
        list.items[list.count++] =
            (struct orch_transform){.kind = ORCH_TRANSFORM_CROP, .size = crop_pad};
    if (flip)
        list.items[list.count++] = (struct orch_transform){.kind = ORCH_TRANSFORM_FLIP};
    return list;
}
