/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch augmentation (Hoffer et al. 2020): each batch has several copies of its samples, each with
 * transforms of its own, cutout (DeVries and Taylor 2017) among them. What differs from the plugin
 * `train` is the feed, a step that accumulates, and what is recorded of the time. See
 * docs/plugins/batchaug.md. */
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "plugins/batchaug/accumulate.h"
#include "plugins/batchaug/copies_picture.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/training.h"
#include "plugins/common/training/work.h"

#include <orch/plugin.h>

#include <string.h>

struct params {
    struct orch_training t;
    int64_t copies;
    const char *gradient;
};

static const char *const GRADIENTS[] = {"at_once", "accumulated", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, copies, ORCH_INT, .label = "copies", .def = "1", .min = "1",
               .max = "4096",
               .help = "M: copies of each sample in its batch, each with its own transforms"),
    ORCH_PARAM(struct params, gradient, ORCH_ENUM, .label = "gradient", .def = "at_once",
               .choices = GRADIENTS,
               .help = "at_once: one pass over all copies; accumulated: a pass for each copy, then "
                       "one update"),
    ORCH_TRAINING_DATA_PARAMS_OF(struct params, "[crop 4, flip, cutout 16]"),
    ORCH_TRAINING_NET_PARAMS_OF(struct params, "resnet44"),
    ORCH_TRAINING_RUN_PARAMS(struct params),
};
static const struct orch_metric METRICS[] = {
    {.name = "copying_share",
     .label = "copying share",
     .min = "0",
     .max = "1",
     .step_unit = "epoch",
     .better = ORCH_BETTER_MIN,
     .help = "time of the loader's threads / time of the epoch's training"},
    {.name = "waiting_share",
     .label = "waiting share",
     .min = "0",
     .max = "1",
     .step_unit = "epoch",
     .better = ORCH_BETTER_MIN,
     .help = "share of the epoch's training in which a step waited for its images"},
    ORCH_TRAINING_METRICS,
};
static const struct orch_artifact ARTIFACTS[] = {
    {.name = "copies",
     .help = "PNG: training images, with cutout alone, and as transformed copies"},
    ORCH_TRAINING_ARTIFACTS,
};

struct augmented {
    const struct params *params;
    struct orch_feed *copies; /* makes the batches */
    double made_s, wait_s;    /* up to the previous epoch; in this epoch */
};

/* ---- feed -------------------------------------------------------------------------------------
 */

static void start_epoch(void *ctx, int64_t epoch)
{
    struct augmented *a = ctx;
    a->wait_s = 0;
    a->copies->start(a->copies->ctx, epoch);
}

static bool next_batch(void *ctx, struct orch_feed_batch *out, GError **error)
{
    struct augmented *a = ctx;
    const int64_t begin = orch_mono_ns();
    const bool is_batch = a->copies->next(a->copies->ctx, out, error);
    a->wait_s += (double)(orch_mono_ns() - begin) / 1e9;
    return is_batch;
}

static void free_copies(void *ctx)
{
    struct augmented *a = ctx;
    orch_feed_free(a->copies);
    a->copies = NULL;
}

static bool is_accumulated(const struct params *p)
{
    return p->copies > 1 && strcmp(p->gradient, "accumulated") == 0;
}

static void note_gradient(const struct params *p, const struct orch_session *s)
{
    const struct orch_host *host = s->host;
    const int copies = (int)p->copies, batch = (int)s->batch;
    if (copies == 1)
        orch_training_note(host, "with one copy of each sample, a step is as in plugin 'train'");
    else if (is_accumulated(p))
        orch_training_note(host,
                           "the gradient is accumulated in %d passes of %d images: batch norms see "
                           "%d images at once and update their running statistics %d times a step",
                           copies, batch, batch, copies);
    else
        orch_training_note(host, "gradients are of %d x %d images at once: batch norms see all %d",
                           copies, batch, copies * batch);
}

/* Drops of the learning rate that come too late, and copies that are all equal. */
static void note_settings(const struct orch_session *s, int64_t copies)
{
    const struct orch_schedule *schedule = &s->schedule;
    struct orch_transforms transforms = {0};
    int within = 0;
    for (size_t i = 0; i < schedule->milestone_count; i++)
        within += schedule->milestones[i] < schedule->epochs;
    if (within < (int)schedule->milestone_count)
        orch_training_note(s->host, "only %d of %d learning-rate drops fall within the %g epochs",
                           within, (int)schedule->milestone_count, schedule->epochs);
    if (copies > 1 && orch_work_transforms(s->training, &transforms, NULL) &&
        transforms.count == orch_work_normalisation(s->training).count)
        orch_training_note(s->host, "there are no random transforms: all copies are equal");
}

static struct orch_feed *make_feed(void *ctx, const struct orch_session *s, GError **error)
{
    struct augmented *a = ctx;
    note_gradient(a->params, s);
    note_settings(s, a->params->copies);
    g_autoptr(GString) shown = g_string_new("copies: "); /* so begins a note on an artifact */
    if (!orch_batchaug_picture(s, "copies.png", shown, error))
        return NULL;
    s->host->artifact(s->host, "copies", "copies.png");
    s->host->note(s->host, shown->str);
    a->copies = orch_feed_copies(s, (int)a->params->copies, error);
    if (!a->copies)
        return NULL;
    struct orch_feed *feed = g_new0(struct orch_feed, 1);
    *feed = (struct orch_feed){.ctx = a,
                               .batches = a->copies->batches,
                               .samples = a->copies->samples,
                               .start = start_epoch,
                               .next = next_batch,
                               .free = free_copies};
    return feed;
}

static struct orch_step *make_step(void *ctx, const struct orch_session *s, GError **error)
{
    (void)s;
    (void)error;
    const struct augmented *a = ctx;
    return is_accumulated(a->params) ? orch_batchaug_step(a->params->copies) : orch_step_classify();
}

/* ---- shares of the time ------------------------------------------------------------------------
 */

static bool after_epoch(void *ctx, const struct orch_moment *moment, GError **error)
{
    (void)error;
    struct augmented *a = ctx;
    const struct orch_host *host = moment->session->host;
    const double made_s = a->copies->made_s(a->copies->ctx);
    host->metric(host, "copying_share", moment->epoch + 1,
                 (made_s - a->made_s) / moment->training_s);
    host->metric(host, "waiting_share", moment->epoch + 1, a->wait_s / moment->training_s);
    a->made_s = made_s;
    return true;
}

/* ---- hooks ------------------------------------------------------------------------------------
 */

/* The memory that the loader will ask for, before anything runs. */
static bool copies_fit(const struct params *p, GError **error)
{
    struct orch_image_shape shape;
    int64_t classes;
    int side;
    orch_work_shape(&p->t, &shape.channels, &side, &classes);
    shape.width = shape.height = side;
    const struct orch_loader_options options = {.batch = (int)p->t.batch,
                                                .threads = (int)p->t.loader_threads,
                                                .copies = (int)p->copies,
                                                .plans_only = strcmp(p->t.data_path, "gpu") == 0};
    return orch_loader_fits(&options, shape, error);
}

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    GError *error = NULL;
    return copies_fit(p, &error) ? orch_training_check(&p->t, host)
                                 : orch_training_fail(host, error);
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct params *p = params;
    int status = orch_training_cost(&p->t, out);
    if (orch_cost_has(out, copies)) {
        out->samples = p->t.batch;
        out->copies = p->copies;
    }
    return status;
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    return orch_training_open(&((const struct params *)params)->t, host, out_state);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    struct augmented a = {.params = params};
    struct orch_training_parts parts = {.ctx = &a,
                                        .feed = make_feed,
                                        .step = make_step,
                                        .takes_gpu_batches = !is_accumulated(params),
                                        .after_epoch = after_epoch};
    return orch_training_run_with(state, host, &parts);
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct params),
    .name = "batchaug",
    .version = "1.1.0",
    .summary = "batch augmentation: several transformed copies of each sample in a batch",
    .close = orch_training_close,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
