/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/scenes/scene_builder.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/scenes/scene_readers.h"

#include <string.h>

#define SHOWN_BYTES 60

#define SKIP_HINT "leave such boxes and images out with skip_bad: true"

/* A box with its image, in the order of reading. */
struct row {
    int64_t image;
    struct orch_box box;
    int32_t label;
    bool is_difficult;
};

struct orch_scene_builder {
    const struct orch_scene_options *options;
    char *list;
    GHashTable *label_of; /* name of a known class -> label, 0: not wanted */
    GPtrArray *known;     /* names, NULL-terminated */
    GPtrArray *wanted;    /* "background", then the names of the labels */
    GPtrArray *ids, *files;
    GArray *rows;
    GArray *boxes_of; /* uint32_t: boxes of each image so far, with those that are not wanted */
    struct orch_scene_faults clipped, bad;
};

char *orch_scene_shown(const char *text)
{
    char *shown = g_utf8_make_valid(text, (gssize)MIN(strlen(text), SHOWN_BYTES));
    return orch_text_line(shown);
}

static GPtrArray *copy_names(const char *first, const char *const *names, size_t count)
{
    GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);
    if (first)
        g_ptr_array_add(copy, g_strdup(first));
    for (size_t i = 0; i < count; i++)
        g_ptr_array_add(copy, g_strdup(names[i]));
    return copy;
}

/* Gives the wanted classes their labels. */
static bool label_classes(struct orch_scene_builder *b, GError **error)
{
    for (guint i = 0; i < b->known->len - 1; i++)
        g_hash_table_insert(b->label_of, b->known->pdata[i], GINT_TO_POINTER(0));
    for (guint i = 1; i < b->wanted->len - 1; i++) {
        gpointer name, label;
        if (!g_hash_table_lookup_extended(b->label_of, b->wanted->pdata[i], &name, &label)) {
            g_autofree char *hint =
                orch_suggest_hint(b->wanted->pdata[i], (const char *const *)b->known->pdata);
            orch_error_set(error, ORCH_ERROR_RECIPE, hint, "class '%s' is not among the %u of %s",
                           (char *)b->wanted->pdata[i], b->known->len - 1, b->list);
            return false;
        }
        if (GPOINTER_TO_INT(label)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "name each class once",
                           "class '%s' is named twice", (char *)name);
            return false;
        }
        g_hash_table_insert(b->label_of, name, GINT_TO_POINTER((int)i));
    }
    return true;
}

struct orch_scene_builder *orch_scene_builder_new(const struct orch_scene_options *options,
                                                  char **known, const char *list, GError **error)
{
    struct orch_scene_builder *b = g_new0(struct orch_scene_builder, 1);
    const size_t count = g_strv_length(known);
    const bool all = options->class_count == 0;
    b->options = options;
    b->list = g_strdup(list);
    b->known = copy_names(NULL, (const char *const *)known, count);
    b->wanted = copy_names("background", all ? (const char *const *)known : options->classes,
                           all ? count : options->class_count);
    g_ptr_array_add(b->known, NULL);
    g_ptr_array_add(b->wanted, NULL);
    b->label_of = g_hash_table_new(g_str_hash, g_str_equal);
    b->ids = g_ptr_array_new_with_free_func(g_free);
    b->files = g_ptr_array_new_with_free_func(g_free);
    b->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    b->boxes_of = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (count <= ORCH_SCENE_CLASSES_MAX && label_classes(b, error))
        return b;
    if (count > ORCH_SCENE_CLASSES_MAX)
        orch_error_set(error, ORCH_ERROR_IO, "list fewer classes",
                       "there are more than %d classes in %s", ORCH_SCENE_CLASSES_MAX, list);
    orch_scene_builder_free(b);
    return NULL;
}

void orch_scene_builder_free(struct orch_scene_builder *b)
{
    if (!b)
        return;
    g_free(b->list);
    g_hash_table_unref(b->label_of);
    g_ptr_array_unref(b->known);
    g_ptr_array_unref(b->wanted);
    g_ptr_array_unref(b->ids);
    g_ptr_array_unref(b->files);
    g_array_free(b->rows, TRUE);
    g_array_free(b->boxes_of, TRUE);
    g_free(b->clipped.first);
    g_free(b->bad.first);
    g_free(b);
}

bool orch_scene_builder_wants(const struct orch_scene_builder *b, const char *class_name)
{
    gpointer label;
    return b->options->with_empty ||
           !g_hash_table_lookup_extended(b->label_of, class_name, NULL, &label) ||
           GPOINTER_TO_INT(label) != 0;
}

bool orch_scene_builder_has_room(const struct orch_scene_builder *b, const char *from, int line,
                                 GError **error)
{
    if (b->ids->len < ORCH_SCENES_MAX)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, "take fewer images",
                   "there are more than %d images\n  at: %s:%d", ORCH_SCENES_MAX, from, line);
    return false;
}

int64_t orch_scene_builder_add_image(struct orch_scene_builder *b, const char *id, char *file)
{
    const uint32_t none = 0;
    g_ptr_array_add(b->ids, g_strdup(id));
    g_ptr_array_add(b->files, file);
    g_array_append_val(b->boxes_of, none);
    return (int64_t)b->ids->len - 1;
}

/* Counts a fault. Takes `what`, which may be NULL behind the first one. */
static void note(struct orch_scene_faults *faults, const char *from, int line, char *what)
{
    if (faults->count++ == 0)
        faults->first = g_strdup_printf("%s\n  at: %s:%d", what, from, line);
    g_free(what);
}

void orch_scene_builder_refuse(struct orch_scene_builder *b, const char *from, int line, char *what)
{
    note(&b->bad, from, line, what);
}

static bool is_usable(struct orch_box box, bool is_known)
{
    return is_known && orch_box_is_proper(box) && orch_box_is_proper(orch_box_clip(box));
}

/* What is wrong with a box that cannot be used. Caller frees. */
static char *fault_of(const struct orch_scene_builder *b, const struct orch_found_box *found,
                      bool is_known)
{
    const struct orch_box box = found->box;
    g_autofree char *name = orch_scene_shown(found->class_name);
    if (!is_known) {
        g_autofree char *hint =
            orch_suggest_hint(found->class_name, (const char *const *)b->known->pdata);
        return g_strdup_printf("class '%s' is not among the %u of %s%s%s", name, b->known->len - 1,
                               b->list, hint ? ": " : "", hint ? hint : "");
    }
    return g_strdup_printf("the box of '%s' is %s: xmin %g, ymin %g, xmax %g, ymax %g%s", name,
                           box.x1 > box.x2 || box.y1 > box.y2 ? "inverted"
                           : !orch_box_is_proper(box)         ? "empty"
                                                              : "outside of its image",
                           found->written[0], found->written[1], found->written[2],
                           found->written[3], found->of_image);
}

static bool is_counted(struct orch_scene_builder *b, int64_t image,
                       const struct orch_found_box *found, GError **error)
{
    uint32_t *count = &g_array_index(b->boxes_of, uint32_t, image);
    if (++*count > ORCH_BOXES_OF_IMAGE_MAX)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "image '%s' has more than %d boxes\n  at: %s:%d",
                       (char *)b->ids->pdata[image], ORCH_BOXES_OF_IMAGE_MAX, found->from,
                       found->line);
    else if (b->rows->len >= ORCH_SCENE_BOXES_MAX)
        orch_error_set(error, ORCH_ERROR_IO, "use fewer classes or images",
                       "there are more than %d boxes\n  at: %s:%d", ORCH_SCENE_BOXES_MAX,
                       found->from, found->line);
    else
        return true;
    return false;
}

bool orch_scene_builder_add_box(struct orch_scene_builder *b, int64_t image,
                                const struct orch_found_box *found, GError **error)
{
    gpointer label = NULL;
    const bool is_known =
        g_hash_table_lookup_extended(b->label_of, found->class_name, NULL, &label);
    if (is_known && !GPOINTER_TO_INT(label))
        return true;
    if (!is_counted(b, image, found, error))
        return false;
    if (!is_usable(found->box, is_known)) {
        note(&b->bad, found->from, found->line, b->bad.count ? NULL : fault_of(b, found, is_known));
        return true;
    }
    const struct row row = {image, orch_box_clip(found->box), GPOINTER_TO_INT(label),
                            found->is_difficult};
    if (memcmp(&row.box, &found->box, sizeof row.box) != 0)
        note(&b->clipped, found->from, found->line,
             b->clipped.count ? NULL
                              : g_strdup_printf("a box of '%s' extends beyond its image",
                                                (char *)b->wanted->pdata[row.label]));
    g_array_append_val(b->rows, row);
    return true;
}

/* ---- the set ----------------------------------------------------------------------------------
 */

static bool is_sound(const struct orch_scene_builder *b, GError **error)
{
    const int64_t others = b->bad.count - 1;
    if (!b->bad.count || b->options->skips_bad)
        return true;
    g_autofree char *more = others > 0 ? g_strdup_printf("; %" G_GINT64_FORMAT " more such place%s",
                                                         others, orch_plural(others))
                                       : g_strdup("");
    const char *at = strstr(b->bad.first, "\n  at: ");
    orch_error_set(error, ORCH_ERROR_IO, SKIP_HINT, "%.*s%s%s", (int)(at - b->bad.first),
                   b->bad.first, more, at);
    return false;
}

static void fail_empty(const struct orch_scene_builder *b, GError **error)
{
    const bool with_empty = b->options->with_empty;
    orch_error_set(error, ORCH_ERROR_IO, with_empty ? NULL : "choose other classes",
                   "data set '%s' has no image%s%s%s", b->options->name,
                   with_empty ? "" : " with an object of the selected classes",
                   b->bad.count ? "; left out: " : "", b->bad.count ? b->bad.first : "");
}

/* The numbers that images get when those without boxes are left out, -1: left out. Returns how
 * many there are. */
static int64_t number_images(const struct orch_scene_builder *b, const int64_t *counts,
                             int64_t *numbers)
{
    int64_t kept = 0;
    for (guint i = 0; i < b->ids->len; i++)
        numbers[i] = counts[i] || b->options->with_empty ? kept++ : -1;
    return kept;
}

/* Sorts the boxes by their image; those of an image keep their order. */
static void fill_boxes(const struct orch_scene_builder *b, const int64_t *numbers,
                       const int64_t *counts, struct orch_scene_set *set)
{
    const guint rows = b->rows->len;
    set->first = g_new0(int64_t, set->count + 1);
    set->boxes = g_new(struct orch_box, rows + 1);
    set->labels = g_new(int32_t, rows + 1);
    set->is_difficult = g_new(bool, rows + 1);
    for (guint i = 0; i < b->ids->len; i++)
        if (numbers[i] >= 0)
            set->first[numbers[i] + 1] = set->first[numbers[i]] + counts[i];
    g_autofree int64_t *next = g_memdup2(set->first, sizeof(int64_t) * (gsize)(set->count + 1));
    for (guint i = 0; i < rows; i++) {
        const struct row *row = &g_array_index(b->rows, struct row, i);
        const int64_t at = next[numbers[row->image]]++;
        set->boxes[at] = row->box;
        set->labels[at] = row->label;
        set->is_difficult[at] = row->is_difficult;
    }
}

static char **take_kept(GPtrArray *names, const int64_t *numbers, int64_t kept)
{
    char **out = g_new0(char *, kept + 1);
    for (guint i = 0; i < names->len; i++)
        if (numbers[i] >= 0)
            out[numbers[i]] = g_steal_pointer(&names->pdata[i]);
    return out;
}

struct orch_scene_set *orch_scene_builder_end(struct orch_scene_builder *b, GError **error)
{
    if (!is_sound(b, error))
        return NULL;
    g_autofree int64_t *counts = g_new0(int64_t, b->ids->len);
    g_autofree int64_t *numbers = g_new0(int64_t, b->ids->len);
    for (guint i = 0; i < b->rows->len; i++)
        counts[g_array_index(b->rows, struct row, i).image]++;
    const int64_t kept = number_images(b, counts, numbers);
    if (kept == 0) {
        fail_empty(b, error);
        return NULL;
    }
    struct orch_scene_set *set = g_new0(struct orch_scene_set, 1);
    set->name = g_strdup(b->options->name);
    set->count = kept;
    set->classes = (int)b->wanted->len - 1;
    fill_boxes(b, numbers, counts, set);
    set->files = take_kept(b->files, numbers, kept);
    set->ids = take_kept(b->ids, numbers, kept);
    set->class_names = g_strdupv((char **)b->wanted->pdata);
    set->clipped = b->clipped;
    set->left_out = b->bad;
    b->clipped = b->bad = (struct orch_scene_faults){0};
    return set;
}
