/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/epochs.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/weights/weights.h"
#include "plugins/common/training/average.h"
#include "plugins/common/training/checkpoint.h"
#include "plugins/common/training/graphs.h"
#include "plugins/common/training/image_growth.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/step_points.h"
#include "plugins/common/training/validation.h"

#include <math.h>

/* ---- the target accuracy ------------------------------------------------------------------------
 */

/* The time is that of whole epochs: nothing is interpolated between the validations. */

static bool is_reached(const struct orch_training *t, double best)
{
    return t->target_accuracy > 0 && best >= t->target_accuracy;
}

/* Returns whether the training stops because `best`, its best validation accuracy so far, reaches
 * its target. */
static bool target_ends(const struct orch_training *t, double best)
{
    return t->stop_at_target && is_reached(t, best);
}

/* Notes in `clocks` the target's epoch and times, if `epoch` (from 0) has just brought `best` to
 * it. */
static void target_time(const struct orch_training *t, double best, int64_t epoch,
                        struct orch_training_clocks *clocks)
{
    if (clocks->target_epoch || !is_reached(t, best))
        return;
    clocks->target_epoch = (double)epoch + 1;
    clocks->target_training_s = clocks->training_s;
    clocks->target_validation_s = clocks->validation_s;
}

/* Reports the results of a training with a target: reached_target, and, where `best` reaches it,
 * the epoch and the times of `clocks`. Without a target it reports nothing. `best` is 0 for a
 * training that diverged: its target counts as not reached. */
static void target_report(const struct orch_session *s, double best,
                          const struct orch_training_clocks *clocks)
{
    const struct orch_host *host = s->host;
    if (!(s->training->target_accuracy > 0))
        return;
    bool reached = is_reached(s->training, best);
    host->result(host, "reached_target", reached);
    if (!reached)
        return;
    host->result(host, "epochs_to_accuracy", clocks->target_epoch);
    host->result(host, "time_to_accuracy", clocks->target_training_s);
    host->result(host, "time_to_accuracy_with_validation",
                 clocks->target_training_s + clocks->target_validation_s);
}

/* ---- epochs -------------------------------------------------------------------------------------
 */

/** Steps between reports of progress, and between questions whether the trial is cancelled. */
enum { PROGRESS_STEPS = 16 };

/* State of one training. */
struct loop {
    const struct orch_session *session;
    const struct orch_host *host;
    const struct orch_features *features; /* NULL: images */
    const struct orch_training_parts *parts;
    struct orch_feed *feed;
    struct orch_step *step;
    bool is_graphs_noted; /* why steps are not replayed */
    struct orch_training_clocks clocks;
    double best;
    int64_t best_epoch;
    struct orch_torch_totals last_val; /* the last epoch of this attempt; 0 images: none yet */
    double last_score;                 /* its accuracy, or what the judge says */
    struct orch_points points;
};

/* ---- steps ------------------------------------------------------------------------------------
 */

static double accuracy_of(const struct orch_torch_totals *totals)
{
    return (double)totals->correct / (double)MAX(1, totals->images);
}

/* Calls the observer, and reports the loss if a point is due. Batch `number` (from 0) of the epoch
 * has just been trained on. */
static bool after_step(struct loop *l, int64_t epoch, int64_t number, GError **error)
{
    int64_t step = epoch * l->feed->batches + number + 1;
    struct orch_moment moment = {.session = l->session, .epoch = epoch, .step = step};
    double over = (double)step / (double)(l->session->epochs * l->feed->batches);
    if (!orch_average_after_step(l->session, step, over, error))
        return false;
    if (l->parts->after_step && !l->parts->after_step(l->parts->ctx, &moment, error))
        return false;
    return orch_points_after_step(&l->points, step, error);
}

/* Returns early, with true, if the trial is cancelled. */
static bool train_batches(struct loop *l, int64_t epoch, GError **error)
{
    const struct orch_session *s = l->session;
    struct orch_feed_batch batch;
    GError *problem = NULL;
    l->feed->start(l->feed->ctx, epoch);
    for (int64_t number = 0; l->feed->next(l->feed->ctx, &batch, &problem); number++) {
        double at = (double)epoch + batch.at;
        s->torch->rate_set(s->model, orch_schedule_rate(&s->schedule, at));
        batch.input.side = orch_growth_side(s, at);
        if (!l->step->learn(l->step->ctx, s, &batch.input, error) ||
            !after_step(l, epoch, number, error))
            return false;
        if (number % PROGRESS_STEPS == 0) {
            l->host->progress(l->host, at, (double)s->epochs);
            if (l->host->cancelled(l->host))
                return true;
        }
    }
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

/* train_batches, and what it has learned from in the sums of the epoch. If it fails, the points of
 * the steps before are reported where they can be read. */
static bool train_epoch(struct loop *l, int64_t epoch, GError **error)
{
    orch_points_start_epoch(&l->points, epoch * l->feed->batches);
    bool ok = train_batches(l, epoch, error);
    return orch_points_end_epoch(&l->points, ok ? error : NULL) && ok;
}

/* Evaluates on the validation images of each epoch. */
static bool validate_part(struct loop *l, GError **error)
{
    const struct orch_judge *judge = l->parts->judge;
    if (judge)
        return judge->validate(l->parts->ctx, l->session, &l->last_val, &l->last_score, error);
    if (!orch_validate(l->session, l->session->val_part, l->features ? l->features->val_part : NULL,
                       &l->last_val, error))
        return false;
    l->last_score = accuracy_of(&l->last_val);
    return true;
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static void report_score(const struct loop *l, int64_t epoch)
{
    const struct orch_host *host = l->host;
    if (l->parts->judge) {
        if (!isnan(l->last_score))
            host->metric(host, l->parts->judge->val, epoch + 1, l->last_score);
        return;
    }
    host->metric(host, "train_accuracy", epoch + 1, accuracy_of(&l->points.epoch));
    host->metric(host, "val_accuracy", epoch + 1, l->last_score);
    host->metric(host, "val_error", epoch + 1, 1 - l->last_score);
}

static void report_epoch(struct loop *l, int64_t epoch, double seconds)
{
    const struct orch_host *host = l->host;
    const struct orch_torch_totals *train = &l->points.epoch, *val = &l->last_val;
    host->metric(host, "train_loss", epoch + 1, orch_totals_loss(train));
    host->metric(host, "val_loss", epoch + 1, orch_totals_loss(val));
    report_score(l, epoch);
    host->metric(host, "epoch_time", epoch + 1, seconds);
    host->metric(host, "images_per_s", epoch + 1, (double)train->images / seconds);
    host->metric(host, "lr", epoch + 1, orch_schedule_rate(&l->session->schedule, (double)epoch));
    host->progress(host, (double)epoch + 1, (double)l->session->epochs);
    if (!isnan(l->last_score) && (l->last_score > l->best || l->best_epoch == 0)) {
        l->best = l->last_score;
        l->best_epoch = epoch + 1;
    }
}

static bool observe_epoch(struct loop *l, int64_t epoch, double seconds, GError **error)
{
    struct orch_moment moment = {.session = l->session,
                                 .epoch = epoch,
                                 .step = (epoch + 1) * l->feed->batches,
                                 .train = &l->points.epoch,
                                 .val = &l->last_val,
                                 .training_s = seconds};
    return !l->parts->after_epoch || l->parts->after_epoch(l->parts->ctx, &moment, error);
}

/* Names the steps of the point at which the loss stopped being finite; it may be the one that the
 * epoch's end did not complete. */
static void fail_not_finite(const struct loop *l, int64_t epoch)
{
    const struct orch_points *p = &l->points;
    const int64_t last = p->bad_last ? p->bad_last : (epoch + 1) * l->feed->batches;
    const int64_t first = p->bad_last ? p->bad_first : p->reported + 1;
    g_autofree char *steps =
        first < last
            ? g_strdup_printf("steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, first, last)
            : g_strdup_printf("step %" G_GINT64_FORMAT, last);
    g_autofree char *text = g_strdup_printf(
        "the training loss is not finite, for the first time in %s (epoch %" G_GINT64_FORMAT
        "); try a lower lr",
        steps, epoch + 1);
    l->host->fail(l->host, text);
}

/* Runs and reports one epoch with its validation. `*out_status`: ORCH_OK to continue. */
static bool one_epoch(struct loop *l, int64_t epoch, int *out_status, GError **error)
{
    const struct orch_host *host = l->host;
    int64_t begin = orch_mono_ns();
    *out_status = ORCH_OK;
    host->phase(host, "training");
    if (!train_epoch(l, epoch, error))
        return false;
    double seconds = (double)(orch_mono_ns() - begin) / 1e9;
    if (host->cancelled(host)) {
        *out_status = ORCH_CANCELLED;
        return true;
    }
    l->clocks.training_s += seconds;
    l->is_graphs_noted = l->is_graphs_noted || orch_graphs_note(l->session);
    host->phase(host, "validating");
    begin = orch_mono_ns();
    if (!validate_part(l, error))
        return false;
    l->clocks.validation_s += (double)(orch_mono_ns() - begin) / 1e9;
    report_epoch(l, epoch, seconds);
    target_time(l->session->training, l->best, epoch, &l->clocks);
    if (!isfinite(orch_totals_loss(&l->points.epoch))) {
        fail_not_finite(l, epoch);
        *out_status = ORCH_DIVERGED;
    }
    return observe_epoch(l, epoch, seconds, error);
}

static int all_epochs(struct loop *l, GError **error)
{
    const struct orch_session *s = l->session;
    g_autofree char *path = orch_checkpoint_path(s);
    struct orch_torch_progress progress;
    int64_t saved_ns = orch_mono_ns();
    int status = ORCH_OK;
    if (!orch_checkpoint_resume(s, l->parts, path, &progress, &l->clocks, error))
        return -1;
    l->clocks.training_s += s->prepare_s + (l->features ? l->features->seconds : 0);
    l->best = progress.best;
    l->best_epoch = progress.best_epoch;
    for (int64_t epoch = progress.epoch;
         epoch < s->epochs && status == ORCH_OK && !target_ends(s->training, l->best); epoch++) {
        if (!one_epoch(l, epoch, &status, error))
            return -1;
        progress = (struct orch_torch_progress){epoch + 1, l->best, l->best_epoch};
        bool is_due = (double)(orch_mono_ns() - saved_ns) / 1e9 >= s->training->checkpoint_every;
        if (status == ORCH_OK && path && is_due) {
            if (!orch_checkpoint_write(s, l->parts, path, &progress, &l->clocks, error))
                return -1;
            saved_ns = orch_mono_ns();
        }
    }
    return status;
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* Reports the steps since the last point, where a target ended the training before its last step.
 */
static void last_point(struct loop *l)
{
    if (l->points.point.images)
        l->host->metric(l->host, "step_loss", l->best_epoch * l->feed->batches,
                        orch_totals_loss(&l->points.point));
}

static bool save_weights(const struct loop *l, GError **error)
{
    const struct orch_session *s = l->session;
    const struct orch_training_parts *parts = l->parts;
    struct orch_weights *weights = orch_torch_state_copy(s->torch, orch_average_judged(s), error);
    bool ok = weights && (!parts->label || parts->label(parts->ctx, weights, error)) &&
              orch_weights_save(weights, "weights.safetensors", false, error);
    orch_weights_free(weights);
    if (ok)
        s->host->artifact(s->host, "weights", "weights.safetensors");
    return ok;
}

/* Validates on the last epoch's images and, if asked, on all; else `all` has 0 images. An attempt
 * that resumed after the last epoch has not validated yet. */
static bool validate_end(struct loop *l, struct orch_torch_totals *all, GError **error)
{
    const struct orch_session *s = l->session;
    if (!l->last_val.images && !validate_part(l, error))
        return false;
    *all = (struct orch_torch_totals){0};
    if (l->parts->judge)
        return true;
    bool is_all = s->val_part->count == s->val->count;
    if (is_all)
        *all = l->last_val;
    if (is_all || !s->training->full_validation)
        return true;
    return orch_validate(s, s->val, l->features ? l->features->val : NULL, all, error);
}

/* The score of the last epoch and the best one are of the same images, so that the best is never
 * below the last; full_accuracy uses all validation images. */
static void report_scores(const struct loop *l, const struct orch_torch_totals *all)
{
    const struct orch_host *host = l->host;
    const struct orch_judge *judge = l->parts->judge;
    if (!isnan(l->last_score))
        host->result(host, judge ? judge->final : "final_accuracy", l->last_score);
    host->result(host, "final_loss", orch_totals_loss(&l->last_val));
    if (all->images) {
        host->result(host, "full_accuracy", accuracy_of(all));
        host->result(host, "full_loss", orch_totals_loss(all));
    }
    if (!l->best_epoch)
        return;
    host->result(host, judge ? judge->best : "best_accuracy", l->best);
    host->result(host, "best_epoch", (double)l->best_epoch);
}

/* Returns ORCH_OK, ORCH_CANCELLED, or -1 with an error. */
static int finish(struct loop *l, GError **error)
{
    const struct orch_host *host = l->host;
    struct orch_torch_totals all;
    host->phase(host, "final validation");
    last_point(l);
    if (!validate_end(l, &all, error) || !save_weights(l, error))
        return -1;
    report_scores(l, &all);
    if (!l->parts->judge)
        orch_graphs_report(l->session);
    host->result(host, "training_time", l->clocks.training_s);
    host->result(host, "validation_time", l->clocks.validation_s);
    const struct orch_training_parts *parts = l->parts;
    return parts->after_training ? parts->after_training(parts->ctx, l->session,
                                                         all.images ? &all : &l->last_val, error)
                                 : ORCH_OK;
}

/* ---- all together ------------------------------------------------------------------------------
 */

int orch_epochs_run(const struct orch_session *s, const struct orch_features *features,
                    const struct orch_training_parts *parts, GError **error)
{
    struct loop l = {.session = s, .host = s->host, .features = features, .parts = parts};
    l.feed =
        parts->feed ? parts->feed(parts->ctx, s, error) : orch_feed_training(s, features, error);
    l.step = !l.feed       ? NULL
             : parts->step ? parts->step(parts->ctx, s, error)
                           : orch_step_classify();
    int status = -1;
    if (l.step) {
        orch_points_init(&l.points, s, l.step, l.feed->batches);
        status = all_epochs(&l, error);
    }
    if (status == ORCH_OK)
        status = finish(&l, error);
    if (status == ORCH_OK || status == ORCH_DIVERGED)
        target_report(s, status == ORCH_OK ? l.best : 0, &l.clocks);
    orch_points_clear(&l.points);
    orch_step_free(l.step);
    orch_feed_free(l.feed);
    return status;
}
