/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/step_points.h"

#include <math.h>
#include <string.h>

/** Maximum points of a training; and minimum steps per point on a GPU, where marking a point is
 * four kernels more. */
enum { POINTS = 400, GPU_STEPS = 8 };

void orch_points_init(struct orch_points *p, const struct orch_session *session,
                      const struct orch_step *step, int64_t batches)
{
    bool is_gpu = strcmp(session->device, "cpu") != 0;
    int64_t steps = batches * session->epochs;
    *p = (struct orch_points){.session = session,
                              .step = step,
                              .last_step = steps,
                              .steps_per_point =
                                  MAX((steps + POINTS - 1) / POINTS, is_gpu ? GPU_STEPS : 1),
                              .is_marked = is_gpu && step->mark,
                              .marks = g_array_new(FALSE, FALSE, sizeof(int64_t))};
}

void orch_points_clear(struct orch_points *p)
{
    g_clear_pointer(&p->marks, g_array_unref);
}

double orch_totals_loss(const struct orch_torch_totals *totals)
{
    return totals->loss / (double)MAX(1, totals->images);
}

void orch_totals_add(struct orch_torch_totals *sum, const struct orch_torch_totals *part)
{
    sum->images += part->images;
    sum->correct += part->correct;
    sum->loss += part->loss;
}

/* Adds sums of the step to those of the epoch and of the current point. */
static bool take(struct orch_points *p, GError **error)
{
    struct orch_torch_totals part;
    if (!p->step->take(p->step->ctx, p->session, &part, error))
        return false;
    orch_totals_add(&p->epoch, &part);
    orch_totals_add(&p->point, &part);
    return true;
}

static bool report(struct orch_points *p, int64_t step, GError **error)
{
    const struct orch_host *host = p->session->host;
    if (!take(p, error))
        return false;
    const double loss = orch_totals_loss(&p->point);
    host->metric(host, "step_loss", step, loss);
    if (!isfinite(loss) && !p->bad_last) {
        p->bad_first = p->reported + 1;
        p->bad_last = step;
    }
    p->reported = step;
    p->point = (struct orch_torch_totals){0};
    return true;
}

void orch_points_start_epoch(struct orch_points *p, int64_t steps)
{
    if (!p->point.images)
        p->reported = steps;
    p->epoch = (struct orch_torch_totals){0};
}

bool orch_points_after_step(struct orch_points *p, int64_t step, GError **error)
{
    if (step % p->steps_per_point && step != p->last_step)
        return true;
    if (!p->is_marked)
        return report(p, step, error);
    if (!p->step->mark(p->step->ctx, p->session, error))
        return false;
    g_array_append_val(p->marks, step);
    return true;
}

bool orch_points_end_epoch(struct orch_points *p, GError **error)
{
    bool ok = true;
    for (guint i = 0; ok && i < p->marks->len; i++)
        ok = report(p, g_array_index(p->marks, int64_t, i), error);
    g_array_set_size(p->marks, 0);
    return ok && take(p, error);
}
