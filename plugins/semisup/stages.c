/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/semisup/stages.h"

#include "plugins/common/training/feed.h"
#include "plugins/common/training/step_points.h"
#include "plugins/common/training/validation.h"
#include "plugins/common/training/work.h"

#include <math.h>

enum { POINTS = 50, SMOKE_STEPS = 2, CANCEL_STEPS = 16, SCORED_IMAGES = 256 };

/* ---- training ---------------------------------------------------------------------------------
 */

static struct orch_feed *stage_feed(const struct orch_session *s,
                                    const struct orch_semisup_stage *stage, GError **error)
{
    const struct orch_training *t = s->training;
    struct orch_loader_options options = {.batch = (int)s->batch,
                                          .threads = (int)t->loader_threads,
                                          .shuffle = true,
                                          .seed = s->host->derive_seed(s->host, stage->stream)};
    return orch_work_transforms(t, &options.transforms, error)
               ? orch_feed_session_images(s, stage->subset, &options, error)
               : NULL;
}

struct progress {
    const struct orch_session *session;
    const struct orch_semisup_stage *stage;
    struct orch_schedule schedule; /* over steps */
    int64_t steps, done, reported; /* reported: steps up to the previous point */
    struct orch_semisup_end end;
    bool is_cancelled;
};

/* Reports the loss where a point is due. */
static bool after_step(struct progress *p, GError **error)
{
    const struct orch_session *s = p->session;
    const int64_t every = MAX(1, (p->steps + POINTS - 1) / POINTS);
    p->done++;
    if (p->done % CANCEL_STEPS == 0)
        p->is_cancelled = s->host->cancelled(s->host);
    if (p->done % every && p->done < p->steps)
        return true;
    struct orch_torch_totals totals;
    if (!s->torch->totals_take(s->model, &totals, error))
        return false;
    const double loss = orch_totals_loss(&totals);
    s->host->metric(s->host, p->stage->metric, p->done, loss);
    p->end = (struct orch_semisup_end){isfinite(loss), p->reported + 1, p->done};
    p->reported = p->done;
    return true;
}

static bool goes_on(const struct progress *p)
{
    return p->done < p->steps && p->end.is_finite && !p->is_cancelled;
}

static bool train_epoch(struct progress *p, struct orch_feed *feed, int64_t epoch, GError **error)
{
    const struct orch_session *s = p->session;
    struct orch_feed_batch batch;
    GError *problem = NULL;
    feed->start(feed->ctx, epoch);
    while (goes_on(p) && feed->next(feed->ctx, &batch, &problem)) {
        s->torch->rate_set(s->model, orch_schedule_rate(&p->schedule, (double)p->done));
        if (!s->torch->train(s->model, &batch.input, error) || !after_step(p, error))
            return false;
    }
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

bool orch_semisup_train(const struct orch_session *s, const struct orch_semisup_stage *stage,
                        struct orch_semisup_end *out, GError **error)
{
    struct progress p = {.session = s,
                         .stage = stage,
                         .steps = s->host->smoke(s->host) ? SMOKE_STEPS : stage->steps,
                         .end.is_finite = true};
    p.schedule = (struct orch_schedule){
        .kind = ORCH_SCHEDULE_COSINE, .lr = stage->lr, .epochs = (double)p.steps};
    struct orch_torch_totals dropped;
    struct orch_feed *feed = stage_feed(s, stage, error);
    s->host->phase(s->host, stage->phase);
    bool ok = feed && s->torch->totals_take(s->model, &dropped, error);
    for (int64_t epoch = 0; ok && goes_on(&p); epoch++)
        ok = train_epoch(&p, feed, epoch, error);
    orch_feed_free(feed);
    *out = p.end;
    return ok;
}

/* ---- scores -----------------------------------------------------------------------------------
 */

static void softmax(float *row, int64_t classes)
{
    double most = (double)row[0], sum = 0;
    for (int64_t c = 1; c < classes; c++)
        most = fmax(most, (double)row[c]);
    for (int64_t c = 0; c < classes; c++)
        sum += exp((double)row[c] - most);
    for (int64_t c = 0; c < classes; c++)
        row[c] = (float)(exp((double)row[c] - most) / sum);
}

static bool score_all(const struct orch_session *s, struct orch_feed *feed, int64_t classes,
                      float *out, GError **error)
{
    struct orch_feed_batch batch;
    GError *problem = NULL;
    feed->start(feed->ctx, 0);
    while (feed->next(feed->ctx, &batch, &problem)) {
        if (!s->torch->logits(s->model, &batch.input, out, error))
            return false;
        for (int64_t i = 0; i < batch.input.count; i++, out += classes)
            softmax(out, classes);
    }
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

float *orch_semisup_scores(const struct orch_session *s, const struct orch_subset *subset,
                           GError **error)
{
    struct orch_loader_options options = {.batch = SCORED_IMAGES,
                                          .threads = (int)s->training->loader_threads,
                                          .transforms = orch_work_normalisation(s->training)};
    float *scores = g_new(float, (gsize)(subset->count * subset->classes) + 1);
    struct orch_feed *feed = orch_feed_session_images(s, subset, &options, error);
    s->host->phase(s->host, "scoring unlabelled images");
    bool ok = feed && score_all(s, feed, subset->classes, scores, error);
    orch_feed_free(feed);
    if (!ok)
        g_clear_pointer(&scores, g_free);
    return scores;
}

bool orch_semisup_accuracy(const struct orch_session *s, double *out, GError **error)
{
    struct orch_torch_totals totals;
    if (!orch_validate(s, s->val_part, NULL, &totals, error))
        return false;
    *out = (double)totals.correct / (double)MAX(1, totals.images);
    return true;
}
