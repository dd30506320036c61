/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of images in the layout of Visual Decathlon: NAME/train/CLASS/x.jpg,
 * NAME/val/CLASS/y.jpg. Classes are the names of the folders. Classes and files are sorted, so that
 * the order is the same everywhere. */
#include "plugins/common/data/private.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

#define FILES_MAX 5000000

/* Sorted names in a folder: of subfolders, or of files that look like images. */
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
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

/* The classes of the training images number the labels of every split, because a class without
 * validation images must not shift the labels of others. */
static GPtrArray *list_classes(const char *folder, GError **error)
{
    g_autofree char *set = g_path_get_dirname(folder);
    g_autofree char *train = g_build_filename(set, "train", NULL);
    const char *from = g_file_test(train, G_FILE_TEST_IS_DIR) ? train : folder;
    GPtrArray *classes = names_in(from, true, error);
    g_autoptr(GPtrArray) here = classes ? names_in(folder, true, error) : NULL;
    if (here && !here->len)
        orch_error_set(error, ORCH_ERROR_IO,
                       "put a folder of images for each class into this folder",
                       "folder '%s' has no classes", folder);
    for (guint i = 0; here && i < here->len; i++) {
        if (g_ptr_array_find_with_equal_func(classes, here->pdata[i], g_str_equal, NULL))
            continue;
        orch_error_set(error, ORCH_ERROR_IO, "rename this class",
                       "class '%s' of folder '%s' does not exist in folder '%s'",
                       (char *)here->pdata[i], folder, train);
        g_clear_pointer(&here, g_ptr_array_unref);
    }
    if (!here || !here->len)
        g_clear_pointer(&classes, g_ptr_array_unref);
    return classes;
}

static bool list_class(const char *folder, const char *name, int32_t label, GPtrArray *files,
                       GArray *labels, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GPtrArray) names =
        g_file_test(path, G_FILE_TEST_IS_DIR) ? names_in(path, false, error) : g_ptr_array_new();
    if (!names)
        return false;
    if (!names->len) {
        orch_error_set(error, ORCH_ERROR_IO, "put images of this class there",
                       "class '%s' is empty: no image in '%s'", name, path);
        return false;
    }
    for (guint i = 0; i < names->len; i++) {
        g_ptr_array_add(files, g_build_filename(path, names->pdata[i], NULL));
        g_array_append_val(labels, label);
    }
    return true;
}

/* All files of a split with their labels; `out_classes` receives the names of the classes. */
static GPtrArray *list_files(const struct orch_image_set_options *o, GArray *labels,
                             GPtrArray **out_classes, GError **error)
{
    g_autofree char *folder = orch_data_folder(o, error);
    g_autoptr(GPtrArray) classes = folder ? list_classes(folder, error) : NULL;
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    bool ok = classes != NULL;
    for (guint i = 0; ok && i < classes->len; i++)
        ok = list_class(folder, classes->pdata[i], (int32_t)i, files, labels, error);
    if (!ok)
        g_clear_pointer(&files, g_ptr_array_unref);
    else if (out_classes)
        *out_classes = g_steal_pointer(&classes);
    return files;
}

GPtrArray *orch_folder_files(const struct orch_image_set_options *o, GError **error)
{
    g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(int32_t));
    return list_files(o, labels, NULL, error);
}

/* ---- decoding, on every processor -------------------------------------------------------------
 */

struct decoding {
    const GPtrArray *files;
    struct orch_image_set *dataset;
    gint next; /* index of the next file, shared by the threads */
    GMutex mutex;
    GError *error; /* of the first damaged file in order, whichever thread found it */
    guint error_at;
};

static void keep_error(struct decoding *work, guint at, GError *error)
{
    g_mutex_lock(&work->mutex);
    if (!work->error || at < work->error_at) {
        g_clear_error(&work->error);
        work->error = error;
        work->error_at = at;
    } else {
        g_error_free(error);
    }
    g_mutex_unlock(&work->mutex);
    g_atomic_int_set(&work->next, (gint)work->files->len); /* stops the other threads */
}

static void *decode(void *pointer)
{
    struct decoding *work = pointer;
    struct orch_image_set *d = work->dataset;
    const int64_t bytes = (int64_t)d->channels * d->height * d->width;
    for (;;) {
        guint i = (guint)g_atomic_int_add(&work->next, 1);
        GError *error = NULL;
        if (i >= work->files->len)
            return NULL;
        if (!orch_image_decode(work->files->pdata[i], d->channels, d->height, d->width,
                               d->images + bytes * i, &error))
            keep_error(work, i, error);
    }
}

static bool decode_all(const GPtrArray *files, struct orch_image_set *d, GError **error)
{
    struct decoding work = {.files = files, .dataset = d};
    guint count = MIN(MIN(g_get_num_processors(), 16), files->len);
    GThread *threads[16];
    g_mutex_init(&work.mutex);
    for (guint i = 1; i < count; i++)
        threads[i] = g_thread_new("decode", decode, &work);
    decode(&work);
    for (guint i = 1; i < count; i++)
        g_thread_join(threads[i]);
    g_mutex_clear(&work.mutex);
    if (work.error)
        g_propagate_error(error, work.error);
    return !work.error;
}

struct orch_image_set *orch_folder_read(const struct orch_image_set_options *o, GError **error)
{
    g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(int32_t));
    g_autoptr(GPtrArray) classes = NULL;
    g_autoptr(GPtrArray) files = list_files(o, labels, &classes, error);
    if (!files)
        return NULL;
    int channels = o->channels ? o->channels : 3, height = o->height ? o->height : 224,
        width = o->width ? o->width : 224;
    struct orch_image_set *d = orch_image_set_alloc(o->name, files->len, channels, height, width,
                                                    (int)classes->len, error);
    if (!d || !decode_all(files, d, error)) {
        orch_image_set_free(d);
        return NULL;
    }
    memcpy(d->labels, labels->data, sizeof *d->labels * (size_t)d->count);
    d->class_names = g_new0(char *, classes->len + 1);
    for (guint i = 0; i < classes->len; i++)
        d->class_names[i] = g_strdup(classes->pdata[i]);
    return d;
}
