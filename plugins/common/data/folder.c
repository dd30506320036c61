/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of images in the layout of Visual Decathlon: NAME/train/CLASS/x.jpg,
 * NAME/val/CLASS/y.jpg. Classes are the folders' names, sorted; so are the files, so every machine
 * has the same order. */
#include "plugins/common/data/private.h"

#include "lib/base/error.h"

#include <string.h>

#define FILES_MAX 5000000

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in a folder, sorted: folders, or files that look like images. */
static GPtrArray *names_in(const char *folder, bool folders, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    if (!dir) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read folder '%s'", folder);
        g_ptr_array_unref(names);
        return NULL;
    }
    while ((name = g_dir_read_name(dir)) && names->len < FILES_MAX) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *lower = g_ascii_strdown(name, -1);
        bool image = g_str_has_suffix(lower, ".jpg") || g_str_has_suffix(lower, ".jpeg") ||
                     g_str_has_suffix(lower, ".png");
        if (name[0] != '.' && (folders ? g_file_test(path, G_FILE_TEST_IS_DIR) : image))
            g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_sort(names, compare_text);
    return names;
}

/* All files of a split with their labels; class names to `out_classes`. */
static GPtrArray *list_files(const struct orch_dataset_options *o, GArray *labels,
                             GPtrArray **out_classes, GError **error)
{
    g_autofree char *folder = orch_data_folder(o, error);
    GPtrArray *classes = folder ? names_in(folder, true, error) : NULL;
    GPtrArray *files = classes ? g_ptr_array_new_with_free_func(g_free) : NULL;
    if (classes && !classes->len) {
        orch_error_set(error, ORCH_ERROR_IO, "it should hold a folder of images for each class",
                       "folder '%s' has no classes", folder);
        g_clear_pointer(&files, g_ptr_array_unref);
    }
    for (guint i = 0; files && i < classes->len; i++) {
        g_autofree char *path = g_build_filename(folder, classes->pdata[i], NULL);
        g_autoptr(GPtrArray) names = names_in(path, false, error);
        if (names && !names->len)
            orch_error_set(error, ORCH_ERROR_IO, "remove the folder, or put its images there",
                           "class '%s' is empty: no image in '%s'", (char *)classes->pdata[i],
                           path);
        if (!names || !names->len) {
            g_clear_pointer(&files, g_ptr_array_unref);
            break;
        }
        for (guint j = 0; j < names->len; j++) {
            int32_t label = (int32_t)i;
            g_ptr_array_add(files, g_build_filename(path, names->pdata[j], NULL));
            g_array_append_val(labels, label);
        }
    }
    if (!files)
        g_clear_pointer(&classes, g_ptr_array_unref);
    if (out_classes)
        *out_classes = classes;
    else if (classes)
        g_ptr_array_unref(classes);
    return files;
}

GPtrArray *orch_folder_files(const struct orch_dataset_options *o, GError **error)
{
    g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(int32_t));
    return list_files(o, labels, NULL, error);
}

struct orch_dataset *orch_folder_read(const struct orch_dataset_options *o, GError **error)
{
    g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(int32_t));
    g_autoptr(GPtrArray) classes = NULL;
    g_autoptr(GPtrArray) files = list_files(o, labels, &classes, error);
    if (!files)
        return NULL;
    int channels = o->channels ? o->channels : 3, height = o->height ? o->height : 224,
        width = o->width ? o->width : 224;
    struct orch_dataset *d =
        orch_dataset_alloc(o->name, files->len, channels, height, width, (int)classes->len, error);
    int64_t bytes = (int64_t)channels * height * width;
    for (guint i = 0; d && i < files->len; i++) {
        d->labels[i] = g_array_index(labels, int32_t, i);
        if (!orch_image_decode(files->pdata[i], channels, height, width, d->images + bytes * i,
                               error)) {
            orch_dataset_free(d);
            return NULL;
        }
    }
    if (d) {
        d->class_names = g_new0(char *, classes->len + 1);
        for (guint i = 0; i < classes->len; i++)
            d->class_names[i] = g_strdup(classes->pdata[i]);
    }
    return d;
}
