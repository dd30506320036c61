/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/datasets/training_sets.h"

#include "lib/data/data.h"

static void free_set(gpointer pointer)
{
    struct orch_training_set *set = pointer;
    g_free(set->path);
    g_free(set);
}

GPtrArray *orch_training_sets(void)
{
    g_autoptr(GPtrArray) items = orch_data_list(NULL);
    GPtrArray *sets = g_ptr_array_new_with_free_func(free_set);
    for (guint i = 0; i < items->len; i++) {
        const struct orch_data_item *item = items->pdata[i];
        struct orch_training_set *set = g_new0(struct orch_training_set, 1);
        *set = (struct orch_training_set){.name = item->entry->name,
                                          .about = item->entry->about,
                                          .licence = item->entry->licence,
                                          .package = item->entry->package,
                                          .is_weights = item->entry->kind == ORCH_DATA_WEIGHTS,
                                          .bytes = item->bytes,
                                          .is_estimated = !item->bytes_exact,
                                          .path = g_strdup(item->path)};
        g_ptr_array_add(sets, set);
    }
    return sets;
}

struct listener {
    orch_download_fn progress;
    void *ctx;
};

static bool on_progress(void *ctx, const struct orch_data_progress *p)
{
    const struct listener *listener = ctx;
    listener->progress(listener->ctx, p->stage, p->file, p->done_bytes, p->total_bytes);
    return true;
}

char *orch_training_set_get(const char *name, orch_download_fn progress, void *ctx, GError **error)
{
    struct listener listener = {progress, ctx};
    const struct orch_data_options options = {.progress = progress ? on_progress : NULL,
                                              .ctx = &listener};
    return orch_data_get(name, &options, error);
}
