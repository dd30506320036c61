/* SPDX-License-Identifier: MIT */
#include "core/host/logged_source.h"

#include "lib/base/label_from.h"

#include <string.h>

/* The folder of a file, or its path without the end of its name, as a list of words. */
static char **words_of(const char *path, bool is_folder)
{
    g_autofree char *folder = g_path_get_dirname(path);
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && slash && dot > slash ? (size_t)(dot - path) : strlen(path);
    g_autofree char *whole = is_folder ? g_strdup(folder) : g_strndup(path, stem);
    return g_strsplit(whole, "/", -1);
}

/* What distinguishes a place from the first one of its kind: its words without the common ones at
 * the beginning and the end, and without times. The caller frees. */
static char *prefix_of(const char *first, const char *path, bool is_folder)
{
    g_auto(GStrv) a = words_of(first, is_folder);
    g_auto(GStrv) b = words_of(path, is_folder);
    size_t begin = 0, end = g_strv_length(b), other = g_strv_length(a);
    GString *out = g_string_new(NULL);
    while (begin < end && begin < other && strcmp(a[begin], b[begin]) == 0)
        begin++;
    while (end > begin && other > begin && strcmp(a[other - 1], b[end - 1]) == 0) {
        end--;
        other--;
    }
    for (; begin < end; begin++)
        if (strspn(b[begin], "0123456789.") != strlen(b[begin]))
            g_string_append_printf(out, "%s/", b[begin]);
    return g_string_free(out, FALSE);
}

/* The first place of a format, of which `other_than` is not one; rows of one format have one name.
 */
static const struct logged_place *first_of(const struct source *source,
                                           const struct logged_place *other_than)
{
    for (guint i = 0; i < source->all->places->len; i++) {
        const struct logged_place *place = source->all->places->pdata[i];
        if (place != other_than && strcmp(place->logger->name, source->logger->name) == 0)
            return place;
    }
    return NULL;
}

char *orch_logged_prefix(const struct source *source)
{
    const struct logged_place *place = source->place;
    bool has_folders = source->logger->has_folders;
    const struct logged_place *first = first_of(source, has_folders ? NULL : place);
    if (!has_folders && (place->name || place->id))
        return g_strconcat(place->name ? place->name : place->id, "/", NULL);
    return first ? prefix_of(first->path, place->path, has_folders) : g_strdup("");
}

static const void *owner_of(const struct source *source)
{
    return source->logger->has_folders ? (const void *)source->logger : source->place;
}

/* The series of that label, which is made for this source when there is none. NULL when the trial
 * can have no such metric, or reports it itself. */
static struct series *series_of(struct source *source, const char *name)
{
    struct logged_files *all = source->all;
    g_autofree char *label = orch_label_from(name);
    struct series *series = g_hash_table_lookup(all->series, label);
    struct orch_metric_spec *spec = series ? NULL : orch_intake_adopt(all->intake, label);
    if (series || !spec || !orch_intake_begin_logged(all->intake, spec))
        return series;
    series = g_new0(struct series, 1);
    series->spec = spec;
    series->logger = source->logger;
    series->owner = owner_of(source);
    g_hash_table_insert(all->series, g_strdup(label), series);
    return series;
}

struct series *orch_logged_series(struct source *source, const char *name)
{
    g_autofree char *prefix = orch_logged_prefix(source);
    g_autofree char *longer = g_strconcat(prefix, name, NULL);
    struct series *series = series_of(source, source->logger->has_folders ? longer : name);
    const void *owner = owner_of(source);
    bool is_taken = series && series->owner != owner && *prefix;
    if (is_taken && strcmp(series->logger->name, source->logger->name) == 0)
        series = series_of(source, longer);
    return series && series->owner == owner ? series : NULL;
}
