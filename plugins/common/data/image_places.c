/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the files of a set lie: the folders of orch_data_places are searched in order. */
#include "lib/base/error.h"
#include "lib/data/catalogue.h"
#include "plugins/common/data/private.h"

#include <string.h>
#include <unistd.h>

/* Explains how to get a set: the package, the command, or by hand. Caller frees. */
static char *hint_for(const char *name)
{
    const struct orch_data_entry *entry = orch_data_find(name);
    if (!entry || entry->kind != ORCH_DATA_SET) {
        g_autofree char *near = orch_data_suggest(name);
        return g_strconcat(near ? near : "", near ? " or " : "", "put it into one of these folders",
                           NULL);
    }
    if (entry->package)
        return g_strdup_printf("apt-get install %s, or orch dataset get %s", entry->package, name);
    return g_strdup_printf("orch dataset get %s, or put it into one of these folders", name);
}

static void not_found(const struct orch_image_set_options *o, const GPtrArray *looked,
                      GError **error)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < looked->len; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)looked->pdata[i]);
    g_autofree char *hint = hint_for(o->name);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "data set '%s' was not found in %s", o->name,
                   text->str);
    g_string_free(text, TRUE);
}

/* The first of `names` (alternatives separated by '|') that exists as a file in `folder`. */
static char *pick(const char *folder, const char *names)
{
    g_auto(GStrv) words = g_strsplit(names, "|", -1);
    for (int i = 0; words[i]; i++) {
        g_autofree char *path = g_build_filename(folder, words[i], NULL);
        if (access(path, F_OK) == 0)
            return g_steal_pointer(&path);
    }
    return NULL;
}

/* Files of each known set, in its folder or directly in a place. */
static const struct layout {
    const char *name;
    enum orch_split split;
    const char *files[6];
} LAYOUTS[] = {
    {"fashion-mnist",
     ORCH_SPLIT_TRAIN,
     {"train-images-idx3-ubyte.gz|train-images-idx3-ubyte",
      "train-labels-idx1-ubyte.gz|train-labels-idx1-ubyte"}},
    {"fashion-mnist",
     ORCH_SPLIT_TEST,
     {"t10k-images-idx3-ubyte.gz|t10k-images-idx3-ubyte",
      "t10k-labels-idx1-ubyte.gz|t10k-labels-idx1-ubyte"}},
    {"mnist",
     ORCH_SPLIT_TRAIN,
     {"train-images-idx3-ubyte.gz|train-images-idx3-ubyte",
      "train-labels-idx1-ubyte.gz|train-labels-idx1-ubyte"}},
    {"mnist",
     ORCH_SPLIT_TEST,
     {"t10k-images-idx3-ubyte.gz|t10k-images-idx3-ubyte",
      "t10k-labels-idx1-ubyte.gz|t10k-labels-idx1-ubyte"}},
    {"cifar10",
     ORCH_SPLIT_TRAIN,
     {"cifar-10-batches-bin/data_batch_1.bin|data_batch_1.bin",
      "cifar-10-batches-bin/data_batch_2.bin|data_batch_2.bin",
      "cifar-10-batches-bin/data_batch_3.bin|data_batch_3.bin",
      "cifar-10-batches-bin/data_batch_4.bin|data_batch_4.bin",
      "cifar-10-batches-bin/data_batch_5.bin|data_batch_5.bin"}},
    {"cifar10", ORCH_SPLIT_TEST, {"cifar-10-batches-bin/test_batch.bin|test_batch.bin"}},
    {"cifar100", ORCH_SPLIT_TRAIN, {"cifar-100-binary/train.bin|train.bin"}},
    {"cifar100", ORCH_SPLIT_TEST, {"cifar-100-binary/test.bin|test.bin"}},
};

static GPtrArray *layout_in(const struct layout *layout, const char *folder)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < G_N_ELEMENTS(layout->files) && layout->files[i]; i++) {
        char *path = pick(folder, layout->files[i]);
        if (!path) {
            g_ptr_array_unref(files);
            return NULL;
        }
        g_ptr_array_add(files, path);
    }
    return files;
}

GPtrArray *orch_known_files(const struct orch_image_set_options *o, GError **error)
{
    g_autoptr(GPtrArray) roots = orch_data_places(o->root);
    g_autoptr(GPtrArray) looked = g_ptr_array_new_with_free_func(g_free);
    const struct layout *layout = LAYOUTS;
    while (strcmp(layout->name, o->name) != 0 || layout->split != o->split)
        layout++;
    for (guint i = 0; i < roots->len; i++) {
        g_autofree char *folder = g_build_filename(roots->pdata[i], o->name, NULL);
        GPtrArray *files = layout_in(layout, folder);
        if (!files && o->root)
            files = layout_in(layout, o->root);
        if (files)
            return files;
        g_ptr_array_add(looked, g_steal_pointer(&folder));
        if (o->root)
            g_ptr_array_add(looked, g_strdup(o->root));
    }
    not_found(o, looked, error);
    return NULL;
}

char *orch_data_folder(const struct orch_image_set_options *o, GError **error)
{
    static const char *const names[][3] = {{"train", NULL}, {"val", "test", NULL}};
    g_autoptr(GPtrArray) roots = orch_data_places(o->root);
    g_autoptr(GPtrArray) looked = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i <= roots->len; i++) {
        g_autofree char *base = i < roots->len ? g_build_filename(roots->pdata[i], o->name, NULL)
                                : g_path_is_absolute(o->name) ? g_strdup(o->name)
                                                              : NULL;
        for (int j = 0; base && names[o->split][j]; j++) {
            char *folder = g_build_filename(base, names[o->split][j], NULL);
            if (g_file_test(folder, G_FILE_TEST_IS_DIR))
                return folder;
            g_ptr_array_add(looked, folder);
        }
    }
    not_found(o, looked, error);
    return NULL;
}
