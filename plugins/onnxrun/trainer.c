/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/trainer.h"

#include "lib/base/error.h"
#include "lib/base/reals.h"
#include "lib/net/net.h"
#include "plugins/common/torch/torch.h"
#include "plugins/onnxrun/run_times.h"

#include <string.h>

enum { BATCH = 32 }; /* outputs do not depend on it */

struct trainer {
    const struct orch_torch *torch;
    struct orch_torch_model *model;
    struct orch_net *net;
};

static void clear(struct trainer *trainer)
{
    if (trainer->model)
        trainer->torch->model_free(trainer->model);
    orch_net_free(trainer->net);
}

/* Classes of the network: those of the detector, or the width of a classifier's output. */
static int64_t classes_of(const struct onnxrun_trial *t)
{
    const struct onnxrun_group *first = &g_array_index(t->groups, struct onnxrun_group, 0);
    const struct onnxrun_array *output = &first->outputs[0];
    return first->detections ? first->classes : output->shape[output->rank - 1];
}

static bool load_weights(const struct onnxrun_trial *t, struct trainer *trainer, GError **error)
{
    GError *problem = NULL;
    bool ok = orch_torch_state_load(trainer->torch, trainer->model, trainer->net, t->weights, false,
                                    NULL, &problem);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_CHECK, "set net to the network that was exported",
                       "the weights are not those of network '%s': %s", t->p->net,
                       problem->message);
    g_clear_error(&problem);
    return ok;
}

static bool open_model(const struct onnxrun_trial *t, struct trainer *trainer, GError **error)
{
    const int64_t *shape = t->batch.shape;
    const struct orch_net_options options = {.name = t->p->net,
                                             .channels = shape[1],
                                             .height = shape[2],
                                             .width = shape[3],
                                             .classes = classes_of(t)};
    const struct orch_torch_setup setup = {.device = "cpu", .precision = ORCH_TORCH_FP32};
    if (!(trainer->torch = orch_torch_load(error)) ||
        !(trainer->net = orch_net_make(&options, error)))
        return false;
    trainer->torch->threads_set(t->threads);
    trainer->model = trainer->torch->model_new(trainer->net, &setup, error);
    return trainer->model && load_weights(t, trainer, error);
}

/* Number of values of an output for one input. */
static int64_t each_of(const struct orch_torch_array *array)
{
    int64_t each = 1;
    for (int i = 1; i < array->rank; i++)
        each *= array->shape[i];
    return each;
}

static bool keep_outputs(const struct onnxrun_trial *t, struct onnxrun_group *group,
                         const struct orch_torch_array *outputs, const bool *wanted, int64_t first,
                         GError **error)
{
    for (int i = 0; i < t->file->output_count; i++) {
        const struct orch_torch_array *got = &outputs[i];
        struct onnxrun_array *all = &group->expected[i];
        const int64_t each = each_of(got);
        if (each != onnxrun_each(&group->outputs[i])) {
            orch_error_set(error, ORCH_ERROR_CHECK, "set net to the network that was exported",
                           "output %d of '%s' has %" G_GINT64_FORMAT
                           " values for each input, but '%s' of '%s' has %" G_GINT64_FORMAT,
                           i, t->p->net, each, t->file->outputs[i], t->file->path,
                           onnxrun_each(&group->outputs[i]));
            return false;
        }
        if (!wanted[i])
            continue;
        if (!all->data) {
            *all = group->outputs[i];
            all->data = g_try_new(float, all->count);
        }
        if (!all->data) {
            orch_error_set(error, ORCH_ERROR_TRIAL, "lower 'count'",
                           "output '%s' of LibTorch does not fit in memory", t->file->outputs[i]);
            return false;
        }
        memcpy(all->data + first * each, got->data, sizeof(float) * (size_t)(each * got->shape[0]));
    }
    return true;
}

static bool run_group(const struct onnxrun_trial *t, const struct trainer *trainer,
                      struct onnxrun_group *group, struct orch_torch_array *outputs, GError **error)
{
    const int64_t total = group->inputs.shape[0], each = onnxrun_each(&group->inputs);
    bool wanted[ONNXRUN_OUTPUTS_MAX], wants_any = false;
    for (int i = 0; i < t->file->output_count; i++)
        wants_any |= wanted[i] = !group->expected[i].data;
    for (int64_t first = 0; wants_any && first < total; first += BATCH) {
        const struct orch_torch_batch batch = {.images = group->inputs.data + first * each,
                                               .count = MIN(BATCH, total - first)};
        if (t->host->cancelled(t->host))
            return false;
        if (!trainer->torch->forward(trainer->model, &batch, ORCH_TORCH_INFER, false, outputs,
                                     error) ||
            !keep_outputs(t, group, outputs, wanted, first, error))
            return false;
    }
    return true;
}

static bool counts_fit(const struct onnxrun_trial *t, const struct trainer *trainer, GError **error)
{
    const size_t count = trainer->torch->output_count(trainer->model);
    if (count == (size_t)t->file->output_count)
        return true;
    orch_error_set(error, ORCH_ERROR_CHECK, "set net to the network that was exported",
                   "network '%s' has %zu outputs, but '%s' has %d", t->p->net, count, t->file->path,
                   t->file->output_count);
    return false;
}

/* A batch for the clock. */
struct timed {
    const struct trainer *trainer;
    struct orch_torch_batch batch;
    struct orch_torch_array outputs[ONNXRUN_OUTPUTS_MAX];
};

static bool run_once(void *ctx, GError **error)
{
    struct timed *timed = ctx;
    return timed->trainer->torch->forward(timed->trainer->model, &timed->batch, ORCH_TORCH_INFER,
                                          false, timed->outputs, error);
}

/* Times the batch that the engine was timed on. */
static bool measure(const struct onnxrun_trial *t, const struct trainer *trainer, GError **error)
{
    struct timed timed = {.trainer = trainer,
                          .batch = {.images = t->batch.data, .count = t->batch.shape[0]}};
    g_autoptr(GArray) times = orch_onnxrun_times(t, run_once, &timed, error);
    if (times && times->len && !t->host->cancelled(t->host))
        t->host->result(t->host, "trainer_latency",
                        orch_reals_median((double *)(void *)times->data, times->len) * 1e3);
    return times != NULL;
}

bool orch_onnxrun_trainer_run(struct onnxrun_trial *t, GError **error)
{
    struct trainer trainer = {0};
    struct orch_torch_array outputs[ONNXRUN_OUTPUTS_MAX];
    bool ok = t->batch.rank == 4;
    if (!ok)
        orch_error_set(error, ORCH_ERROR_RECIPE, "give 'onnx' without 'net' and 'weights'",
                       "network '%s' takes images, but '%s' has an input of %d axes", t->p->net,
                       t->file->path, t->batch.rank);
    ok = ok && open_model(t, &trainer, error) && counts_fit(t, &trainer, error);
    for (guint i = 0; ok && i < t->groups->len; i++)
        ok = run_group(t, &trainer, &g_array_index(t->groups, struct onnxrun_group, i), outputs,
                       error);
    ok = ok && measure(t, &trainer, error);
    clear(&trainer);
    return ok;
}
