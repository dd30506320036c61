/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/scenes/scene_open.h"

#include "lib/base/error.h"
#include "lib/data/catalogue.h"
#include "plugins/common/data/image_set.h"
#include "plugins/common/scenes/scene_readers.h"

static const struct orch_scene_reader *const READERS[] = {&orch_scene_reader_voc,
                                                          &orch_scene_reader_open_images};

/* Finds the set below one folder, and its reader. */
static char *find_in(const char *folder, enum orch_split split,
                     const struct orch_scene_reader **out_reader)
{
    for (size_t i = 0; i < G_N_ELEMENTS(READERS); i++) {
        char *found = READERS[i]->find(folder, split);
        if (found) {
            *out_reader = READERS[i];
            return found;
        }
    }
    return NULL;
}

/* The folders in which a set may lie. Caller unrefs. */
static GPtrArray *candidates(const struct orch_scene_options *o)
{
    g_autoptr(GPtrArray) places = orch_data_places(o->root);
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    if (g_path_is_absolute(o->name)) {
        g_ptr_array_add(folders, g_strdup(o->name));
        return folders;
    }
    for (guint i = 0; i < places->len; i++)
        g_ptr_array_add(folders, g_build_filename(places->pdata[i], o->name, NULL));
    if (o->root)
        g_ptr_array_add(folders, g_strdup(o->root));
    return folders;
}

static char *find_folder(const struct orch_scene_options *o,
                         const struct orch_scene_reader **out_reader, GError **error)
{
    g_autoptr(GPtrArray) folders = candidates(o);
    g_autoptr(GString) looked = g_string_new(NULL);
    for (guint i = 0; i < folders->len; i++) {
        char *found = find_in(folders->pdata[i], o->split, out_reader);
        if (found)
            return found;
        g_string_append_printf(looked, "%s%s", i ? ", " : "", (char *)folders->pdata[i]);
    }
    const struct orch_data_entry *entry = orch_data_find(o->name);
    g_autofree char *hint =
        entry ? g_strdup_printf("orch dataset get %s, or put it into one of these folders",
                                entry->name)
              : g_strdup("a folder in the layout of Pascal VOC has ImageSets/Main/trainval.txt and "
                         "test.txt, one of Open Images train-annotations-bbox.csv and "
                         "test-annotations-bbox.csv");
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                   "there are no %s images with boxes of data set '%s' in %s",
                   o->split == ORCH_SPLIT_TRAIN ? "training" : "test", o->name, looked->str);
    return NULL;
}

static struct orch_scene_set *read_set(const struct orch_scene_options *options, GPtrArray *files,
                                       GError **error)
{
    const struct orch_scene_reader *reader = NULL;
    g_autofree char *folder = find_folder(options, &reader, error);
    return folder ? reader->read(folder, options, files, error) : NULL;
}

struct orch_scene_set *orch_scene_set_open(const struct orch_scene_options *options, GError **error)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    return read_set(options, files, error);
}

GPtrArray *orch_scene_set_files(const struct orch_scene_options *options, GError **error)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    struct orch_scene_set *set = read_set(options, files, error);
    if (!set)
        return NULL;
    for (int64_t i = 0; i < set->count; i++)
        g_ptr_array_add(files, g_strdup(set->files[i]));
    orch_scene_set_free(set);
    return g_steal_pointer(&files);
}
