/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of Open Images (Kuznetsova et al. 2020), as its downloaders leave it: one table of
 * boxes for each split. pytorch-ssd's downloader writes the rows of the wanted classes with their
 * names to sub-train-annotations-bbox.csv. */
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/scenes/scene_builder.h"
#include "plugins/common/scenes/scene_readers.h"

#include <string.h>
#include <unistd.h>

/* The table of all training images has 2.2 GB. The rows of a few classes have a thousandth. */
#define TABLE_BYTES_MAX ((gsize)512 * 1024 * 1024)
#define DESCRIPTIONS "class-descriptions-boxable.csv"

/* Tables of a split and the folder of its images, the first that exists. */
static const struct table {
    enum orch_split split;
    const char *file, *images;
} TABLES[] = {
    {ORCH_SPLIT_TRAIN, "sub-train-annotations-bbox.csv", "train"},
    {ORCH_SPLIT_TRAIN, "train-annotations-bbox.csv", "train"},
    {ORCH_SPLIT_TRAIN, "oidv6-train-annotations-bbox.csv", "train"},
    {ORCH_SPLIT_TEST, "sub-test-annotations-bbox.csv", "test"},
    {ORCH_SPLIT_TEST, "test-annotations-bbox.csv", "test"},
    {ORCH_SPLIT_TEST, "sub-validation-annotations-bbox.csv", "validation"},
    {ORCH_SPLIT_TEST, "validation-annotations-bbox.csv", "validation"},
};

static const struct table *find_table(const char *folder, enum orch_split split)
{
    for (size_t i = 0; i < G_N_ELEMENTS(TABLES); i++) {
        g_autofree char *path = g_build_filename(folder, TABLES[i].file, NULL);
        if (TABLES[i].split == split && access(path, F_OK) == 0)
            return &TABLES[i];
    }
    return NULL;
}

static char *find_set(const char *folder, enum orch_split split)
{
    return find_table(folder, split) ? g_strdup(folder) : NULL;
}

static struct orch_csv *read_table(const char *folder, const struct table *table, GPtrArray *files,
                                   char **out_path, GError **error)
{
    *out_path = g_build_filename(folder, table->file, NULL);
    g_ptr_array_add(files, g_strdup(*out_path));
    return orch_csv_read_max(*out_path, TABLE_BYTES_MAX, error);
}

/* ---- classes ----------------------------------------------------------------------------------
 */

struct classes {
    GHashTable *name_of; /* label as the table has it -> name; NULL: the table has names */
    GPtrArray *names;    /* NULL-terminated */
    char *list;          /* where they are listed */
};

static void clear_classes(struct classes *classes)
{
    if (classes->name_of)
        g_hash_table_unref(classes->name_of);
    if (classes->names)
        g_ptr_array_unref(classes->names);
    g_free(classes->list);
}

static void describe(struct classes *classes, const char *label, const char *name)
{
    char *copy = g_strdup(name);
    g_ptr_array_add(classes->names, copy);
    g_hash_table_insert(classes->name_of, g_strdup(label), copy);
}

/* The descriptions have a header only since version 7. */
static bool read_descriptions(const char *folder, struct classes *out, GPtrArray *files,
                              GError **error)
{
    out->list = g_build_filename(folder, DESCRIPTIONS, NULL);
    struct orch_csv *csv = orch_csv_read(out->list, error);
    if (!csv)
        return false;
    const bool ok = orch_csv_columns(csv) == 2;
    if (!ok)
        orch_csv_fail_header(csv, 0, NULL, error, "expected two columns, label and name");
    out->name_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (ok && strcmp(orch_csv_name(csv, 0), "LabelName") != 0)
        describe(out, orch_csv_name(csv, 0), orch_csv_name(csv, 1));
    for (size_t i = 0; ok && i < orch_csv_rows(csv); i++)
        describe(out, orch_csv_text(csv, i, 0), orch_csv_text(csv, i, 1));
    g_ptr_array_add(out->names, NULL);
    g_ptr_array_add(files, g_strdup(out->list));
    orch_csv_free(csv);
    return ok;
}

/* The names that occur in a table, sorted, as pytorch-ssd numbers them. */
static void list_names(const struct orch_csv *csv, int column, const char *path,
                       struct classes *out)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < orch_csv_rows(csv); i++) {
        const char *name = orch_csv_text(csv, i, column);
        if (g_hash_table_contains(seen, name))
            continue;
        char *copy = g_strdup(name);
        g_hash_table_add(seen, copy);
        g_ptr_array_add(out->names, copy);
    }
    g_ptr_array_sort(out->names, orch_compare_texts);
    g_ptr_array_add(out->names, NULL);
    out->list = g_strdup(path);
}

/* Classes of the set: where the table has names, those of the training images' table, so that both
 * splits number them alike. */
static bool read_classes(const char *folder, const struct orch_csv *csv, const char *path,
                         struct classes *out, GPtrArray *files, GError **error)
{
    const int column = orch_csv_find(csv, "ClassName");
    const struct table *train = find_table(folder, ORCH_SPLIT_TRAIN);
    out->names = g_ptr_array_new_with_free_func(g_free);
    if (column < 0)
        return read_descriptions(folder, out, files, error);
    g_autofree char *train_path = train ? g_build_filename(folder, train->file, NULL) : NULL;
    if (!train || strcmp(train_path, path) == 0) {
        list_names(csv, column, path, out);
        return true;
    }
    struct orch_csv *other = orch_csv_read_max(train_path, TABLE_BYTES_MAX, error);
    int other_column;
    const bool ok = other && orch_csv_column(other, "ClassName", &other_column, error);
    if (ok)
        list_names(other, other_column, train_path, out);
    g_ptr_array_add(files, g_strdup(train_path));
    orch_csv_free(other);
    return ok;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

enum { ID, X1, Y1, X2, Y2, COLUMNS };
static const char *const NAMES[COLUMNS] = {"ImageID", "XMin", "YMin", "XMax", "YMax"};

struct reading {
    const char *folder, *path;
    const struct table *table;
    const struct orch_scene_options *options;
    const struct orch_csv *csv;
    const struct classes *classes;
    int columns[COLUMNS], label, group, truncated; /* the last two -1: not there */
    struct orch_scene_builder *builder;
    GHashTable *images; /* ID -> number + 1; 0: it cannot be used */
};

static bool find_columns(struct reading *r, GError **error)
{
    for (int i = 0; i < COLUMNS; i++)
        if (!orch_csv_column(r->csv, NAMES[i], &r->columns[i], error))
            return false;
    r->group = orch_csv_find(r->csv, "IsGroupOf");
    r->truncated = orch_csv_find(r->csv, "IsTruncated");
    return orch_csv_column(r->csv, r->classes->name_of ? "LabelName" : "ClassName", &r->label,
                           error);
}

/* True if a column is there and says so; the table has 1, 0, and -1 for unknown. */
static bool is_set(const struct reading *r, size_t row, int column)
{
    double value = 0;
    return column >= 0 && orch_real_parse(orch_csv_text(r->csv, row, column), &value) && value > 0;
}

/* Finds the number of a row's image, -1 if the image cannot be used. */
static bool find_image(const struct reading *r, size_t row, int64_t *out, GError **error)
{
    const char *id = orch_csv_text(r->csv, row, r->columns[ID]);
    const int line = orch_csv_line(r->csv, row);
    gpointer number;
    if (g_hash_table_lookup_extended(r->images, id, NULL, &number)) {
        *out = GPOINTER_TO_INT(number) - 1;
        return true;
    }
    if (!orch_scene_builder_has_room(r->builder, r->path, line, error))
        return false;
    g_autofree char *name = g_strconcat(id, ".jpg", NULL);
    g_autofree char *path = g_build_filename(r->folder, r->table->images, name, NULL);
    *out = -1;
    if (!orch_scene_id_is_valid(id))
        orch_scene_builder_refuse(r->builder, r->path, line,
                                  g_strdup("'ImageID' cannot be the name of a file"));
    else if (access(path, F_OK) != 0)
        orch_scene_builder_refuse(r->builder, r->path, line,
                                  g_strdup_printf("image '%s' has no file '%s'", id, path));
    else
        *out = orch_scene_builder_add_image(r->builder, id, g_steal_pointer(&path));
    g_hash_table_insert(r->images, g_strdup(id), GINT_TO_POINTER((int)*out + 1));
    return true;
}

static bool read_row(const struct reading *r, size_t row, GError **error)
{
    const char *label = orch_csv_text(r->csv, row, r->label);
    const char *name =
        r->classes->name_of ? g_hash_table_lookup(r->classes->name_of, label) : label;
    double at[COLUMNS];
    int64_t image;
    if (!orch_scene_builder_wants(r->builder, name ? name : label))
        return true;
    for (int i = X1; i < COLUMNS; i++)
        if (!orch_csv_real(r->csv, row, r->columns[i], &at[i], error))
            return false;
    if (!find_image(r, row, &image, error))
        return false;
    const struct orch_found_box found = {
        .from = r->path,
        .line = orch_csv_line(r->csv, row),
        .class_name = name ? name : label,
        .box = {(float)at[X1], (float)at[Y1], (float)at[X2], (float)at[Y2]},
        .written = {at[X1], at[Y1], at[X2], at[Y2]},
        .of_image = "",
        .is_difficult = (is_set(r, row, r->group) && !r->options->with_groups) ||
                        (is_set(r, row, r->truncated) && r->options->without_truncated)};
    return image < 0 || orch_scene_builder_add_box(r->builder, image, &found, error);
}

static bool read_rows(struct reading *r, GError **error)
{
    bool ok = find_columns(r, error);
    for (size_t i = 0; ok && i < orch_csv_rows(r->csv); i++)
        ok = read_row(r, i, error);
    return ok;
}

static struct orch_scene_set *read_set(const char *folder, const struct orch_scene_options *options,
                                       GPtrArray *files, GError **error)
{
    const struct table *table = find_table(folder, options->split);
    g_autofree char *path = NULL;
    struct orch_csv *csv = table ? read_table(folder, table, files, &path, error) : NULL;
    struct classes classes = {0};
    struct orch_scene_set *set = NULL;
    struct reading r = {.folder = folder,
                        .path = path,
                        .table = table,
                        .options = options,
                        .csv = csv,
                        .classes = &classes};
    r.images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!table)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "the table of boxes in '%s' is gone", folder);
    if (csv && read_classes(folder, csv, path, &classes, files, error))
        r.builder =
            orch_scene_builder_new(options, (char **)classes.names->pdata, classes.list, error);
    if (r.builder && read_rows(&r, error))
        set = orch_scene_builder_end(r.builder, error);
    orch_scene_builder_free(r.builder);
    g_hash_table_unref(r.images);
    clear_classes(&classes);
    orch_csv_free(csv);
    return set;
}

const struct orch_scene_reader orch_scene_reader_open_images = {find_set, read_set};
