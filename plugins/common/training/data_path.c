/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/data_path.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/training/notes.h"

#include <string.h>

/** The share of a GPU's memory that stays free for the training: 1 / RESERVE. */
enum { RESERVE = 8 };

bool orch_data_path_fits(int64_t set_bytes, int64_t free_bytes, int64_t total_bytes)
{
    return set_bytes <= free_bytes - total_bytes / RESERVE;
}

bool orch_data_path_check(const struct orch_training *t, const char *device, GError **error)
{
    if (strcmp(t->data_path, "gpu") != 0 || strcmp(device, "cpu") != 0)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "set data_path: auto",
                   "data_path: gpu needs a GPU, but this training runs on the CPU");
    return false;
}

static int64_t bytes_of(const struct orch_image_set *set)
{
    return set->count * set->channels * set->height * set->width;
}

static bool sets_fit(const struct orch_session *s, GError **error)
{
    const int64_t bytes = bytes_of(s->train_set) + bytes_of(s->val_set);
    int64_t left = 0, total = 0;
    if (!s->torch->gpu_memory(s->model, &left, &total, error))
        return false;
    if (orch_data_path_fits(bytes, left, total))
        return true;
    g_autofree char *set_text = orch_bytes_format(bytes), *left_text = orch_bytes_format(left),
                    *reserve_text = orch_bytes_format(total / RESERVE);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "the data set takes %s of the GPU's memory, of which %s are free and %s must "
                   "stay free for the training",
                   set_text, left_text, reserve_text);
    return false;
}

static struct orch_torch_images *copy_set(const struct orch_session *s,
                                          const struct orch_image_set *set, GError **error)
{
    struct orch_torch_image_bytes bytes = {
        .bytes = set->images,
        .count = set->count,
        .shape = {set->channels, set->height, set->width},
    };
    return s->torch->images_new(s->model, &bytes, error);
}

static bool copy_sets(struct orch_session *s, GError **error)
{
    if (!sets_fit(s, error))
        return false;
    s->train_images = copy_set(s, s->train_set, error);
    s->val_images = s->train_images ? copy_set(s, s->val_set, error) : NULL;
    if (s->train_images && !s->val_images) {
        s->torch->images_free(s->train_images);
        s->train_images = NULL;
    }
    return s->val_images != NULL;
}

static bool parts_take_batches(const struct orch_training_parts *parts, GError **error)
{
    if ((!parts->feed && !parts->step) || parts->takes_gpu_batches)
        return true;
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "this plugin needs the images in the CPU's memory");
    return false;
}

bool orch_data_path_choose(struct orch_session *s, const struct orch_training_parts *parts,
                           GError **error)
{
    const char *asked = s->training->data_path;
    const bool is_tried = strcmp(s->device, "cpu") != 0 && strcmp(asked, "cpu") != 0;
    g_autoptr(GError) problem = NULL;
    bool on_gpu = is_tried && parts_take_batches(parts, &problem) && copy_sets(s, &problem);
    if (problem && strcmp(asked, "gpu") == 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "set data_path: auto or cpu", "data_path: gpu: %s",
                       problem->message);
        return false;
    }
    if (problem)
        orch_training_note(s->host, "the CPU makes the batches, not the GPU: %s", problem->message);
    s->host->result(s->host, "gpu_data_path", on_gpu);
    return true;
}
