/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/judge/wild_images.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* Letters and digits in lower case. Caller frees. */
static char *plain_name(const char *name)
{
    GString *plain = g_string_new(NULL);
    for (; *name; name++)
        if (g_ascii_isalnum(*name))
            g_string_append_c(plain, g_ascii_tolower(*name));
    return g_string_free(plain, FALSE);
}

static bool is_same_class(const char *one, const char *two)
{
    g_autofree char *x = plain_name(one), *y = plain_name(two);
    return strcmp(x, y) == 0;
}

/* Returns the label of a class name, or -1. */
static int label_of(const struct orch_image_set *trained, const char *name)
{
    int64_t number;
    for (int i = 0; i < trained->classes; i++)
        if (is_same_class(trained->class_names[i], name))
            return i;
    return orch_int_parse(name, &number) && number >= 0 && number < trained->classes ? (int)number
                                                                                     : -1;
}

static void unknown_class(const struct orch_image_set *wild, int label,
                          const struct orch_image_set *trained, GError **error)
{
    g_autofree char *known = g_strjoinv(", ", trained->class_names);
    orch_error_set(error, ORCH_ERROR_RECIPE, known,
                   "class '%s' of the images in '%s' is not one of '%s'", wild->class_names[label],
                   wild->name, trained->name);
}

bool orch_wild_adopt_classes(struct orch_image_set *wild, const struct orch_image_set *trained,
                             GError **error)
{
    g_autofree int *labels = g_new(int, wild->classes);
    for (int i = 0; i < wild->classes; i++) {
        labels[i] = label_of(trained, wild->class_names[i]);
        if (labels[i] < 0) {
            unknown_class(wild, i, trained, error);
            return false;
        }
    }
    for (int64_t i = 0; i < wild->count; i++)
        wild->labels[i] = labels[wild->labels[i]];
    g_strfreev(wild->class_names);
    wild->class_names = g_strdupv(trained->class_names);
    wild->classes = trained->classes;
    memcpy(wild->mean, trained->mean, sizeof wild->mean);
    memcpy(wild->std, trained->std, sizeof wild->std);
    return true;
}

void orch_wild_invert(struct orch_image_set *wild)
{
    size_t bytes = (size_t)wild->count * (size_t)(wild->channels * wild->height * wild->width);
    for (size_t i = 0; i < bytes; i++)
        wild->images[i] = (uint8_t)(255 - wild->images[i]);
}
