/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/learning_curve.h"

#include <math.h>

enum series { EPISODE_RETURN, MEAN_RETURN, TIMED_RETURN, EPSILON, LOSS, MEAN_VALUE };
static const char *const SERIES[] = {"episode_return", "mean_return", "timed_return",
                                     "epsilon",        "loss",        "mean_value"};

struct point {
    int64_t series, step;
    double value;
};

/* The times of timed_return are the same in all runs, so that runs can be averaged: 16 ms apart,
 * from 2 s on 64 in each doubling of the time. */
static int64_t time_after(int64_t ms)
{
    int64_t apart = 16;
    while (apart * 128 <= ms)
        apart *= 2;
    return (ms / apart + 1) * apart;
}

void orch_learning_curve_init(struct orch_learning_curve *c, const struct orch_host *host,
                              int64_t envs, int64_t steps, double solved_return)
{
    *c = (struct orch_learning_curve){.host = host,
                                      .envs = envs,
                                      .returns = g_new0(double, envs),
                                      .solved_return = solved_return,
                                      .best = -INFINITY,
                                      .solved_step = -1,
                                      .solved_ms = -1,
                                      .start_us = g_get_monotonic_time(),
                                      .next_ms = time_after(0),
                                      .steps = steps,
                                      .step_every = MAX(steps / ORCH_CURVE_POINTS, 1),
                                      .points = g_array_new(FALSE, FALSE, sizeof(struct point))};
}

void orch_learning_curve_clear(struct orch_learning_curve *c)
{
    g_free(c->returns);
    c->returns = NULL;
    if (c->points)
        g_array_unref(c->points);
    c->points = NULL;
}

static void report(struct orch_learning_curve *c, enum series series, int64_t step, double value)
{
    const struct point point = {series, step, value};
    g_array_append_val(c->points, point);
    c->host->metric(c->host, SERIES[series], step, value);
}

static int64_t learning_curve_ms(const struct orch_learning_curve *c)
{
    return (g_get_monotonic_time() - c->start_us) / 1000;
}

static double learning_curve_mean(const struct orch_learning_curve *c)
{
    const int64_t count = MIN(c->episodes, ORCH_CURVE_WINDOW);
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += c->last[i];
    return count > 0 ? sum / (double)count : (double)NAN;
}

static void end_episode(struct orch_learning_curve *c, int64_t step, double value)
{
    c->last[c->episodes++ % ORCH_CURVE_WINDOW] = value;
    if (c->episodes <= ORCH_CURVE_EPISODES)
        report(c, EPISODE_RETURN, c->episodes, value);
    if (c->episodes < ORCH_CURVE_WINDOW)
        return;
    const double mean = learning_curve_mean(c);
    c->best = fmax(c->best, mean);
    if (c->solved_step < 0 && mean >= c->solved_return) {
        c->solved_step = step;
        c->solved_ms = learning_curve_ms(c);
    }
}

void orch_learning_curve_lane(struct orch_learning_curve *c, int64_t step, int64_t env,
                              float reward, uint8_t end)
{
    c->returns[env] += (double)reward;
    if (end == 0)
        return;
    end_episode(c, step, c->returns[env]);
    c->returns[env] = 0;
}

void orch_learning_curve_step(struct orch_learning_curve *c, int64_t step, const float *rewards,
                              const uint8_t *ends)
{
    for (int64_t i = 0; i < c->envs; i++)
        orch_learning_curve_lane(c, step, i, rewards[i], ends[i]);
}

void orch_learning_curve_update(struct orch_learning_curve *c, double loss, double mean_value)
{
    c->loss += loss;
    c->value += mean_value;
    c->updates++;
}

static void report_times(struct orch_learning_curve *c, bool is_last)
{
    const int64_t ms = learning_curve_ms(c);
    for (; c->next_ms <= ms; c->next_ms = time_after(c->next_ms))
        report(c, TIMED_RETURN, c->next_ms, learning_curve_mean(c));
    if (is_last)
        report(c, TIMED_RETURN, c->next_ms, learning_curve_mean(c));
}

void orch_learning_curve_point(struct orch_learning_curve *c, int64_t step, double epsilon,
                               bool now)
{
    if (step < c->next_point && !now)
        return;
    const int64_t at = !now              ? step / c->step_every * c->step_every
                       : step > c->steps ? c->steps
                                         : step;
    if (c->episodes > 0)
        report_times(c, now);
    if (at + c->step_every <= c->next_point)
        return; /* the end lies on the last point */
    c->next_point = at + c->step_every;
    if (c->episodes > 0)
        report(c, MEAN_RETURN, at, learning_curve_mean(c));
    report(c, EPSILON, at, epsilon);
    if (c->updates > 0) {
        report(c, LOSS, at, c->loss / (double)c->updates);
        report(c, MEAN_VALUE, at, c->value / (double)c->updates);
    }
    c->loss = c->value = 0;
    c->updates = 0;
}

bool orch_learning_curve_is_solved(const struct orch_learning_curve *c)
{
    return c->solved_step >= 0;
}

void orch_learning_curve_finish(const struct orch_learning_curve *c, int64_t step)
{
    const struct orch_host *host = c->host;
    host->result(host, "episodes", (double)c->episodes);
    host->result(host, "frames", (double)step);
    if (c->episodes > 0)
        host->result(host, "final_return", learning_curve_mean(c));
    if (c->episodes >= ORCH_CURVE_WINDOW)
        host->result(host, "best_return", c->best);
    if (!isnan(c->solved_return))
        host->result(host, "solved", orch_learning_curve_is_solved(c) ? 1 : 0);
    if (!orch_learning_curve_is_solved(c))
        return;
    host->result(host, "steps_to_solve", (double)c->solved_step);
    host->result(host, "time_to_solve", (double)c->solved_ms / 1000);
}

double orch_learning_curve_finish_learner(const struct orch_learning_curve *c, int64_t step,
                                          const struct orch_learner_counts *n)
{
    const struct orch_host *host = c->host;
    const double time_s = fmax((double)(g_get_monotonic_time() - c->start_us) / 1e6, 1e-6);
    orch_learning_curve_finish(c, step);
    host->result(host, "updates", (double)n->updates);
    host->result(host, "training_time", time_s);
    host->result(host, "frames_per_s", (double)step / time_s);
    host->result(host, "buffer_bytes", (double)n->buffer_bytes);
    if (n->learning_us > 0) {
        host->result(host, "samples_per_s",
                     (double)(n->updates * n->batch) / ((double)n->learning_us / 1e6));
        host->result(host, "waiting_share", (double)n->waiting_us / (double)n->learning_us);
    }
    return time_s;
}

/* ---- checkpoints ------------------------------------------------------------------------------
 */

void orch_learning_curve_list(struct orch_learning_curve *c, struct orch_saved *saved)
{
    orch_saved_field(saved, "returns", c->returns, (size_t)c->envs * sizeof *c->returns);
    orch_saved_field(saved, "last_returns", c->last, sizeof c->last);
    orch_saved_field(saved, "episodes", &c->episodes, sizeof c->episodes);
    orch_saved_field(saved, "best_return", &c->best, sizeof c->best);
    orch_saved_field(saved, "solved_step", &c->solved_step, sizeof c->solved_step);
    orch_saved_field(saved, "solved_ms", &c->solved_ms, sizeof c->solved_ms);
    orch_saved_field(saved, "next_point", &c->next_point, sizeof c->next_point);
    orch_saved_field(saved, "next_ms", &c->next_ms, sizeof c->next_ms);
    orch_saved_field(saved, "elapsed_us", &c->elapsed_us, sizeof c->elapsed_us);
    orch_saved_field(saved, "point_loss", &c->loss, sizeof c->loss);
    orch_saved_field(saved, "point_value", &c->value, sizeof c->value);
    orch_saved_field(saved, "point_updates", &c->updates, sizeof c->updates);
    orch_saved_array(saved, "points", c->points);
}

void orch_learning_curve_stop(struct orch_learning_curve *c)
{
    c->elapsed_us = g_get_monotonic_time() - c->start_us;
}

void orch_learning_curve_go_on(struct orch_learning_curve *c)
{
    c->start_us = g_get_monotonic_time() - c->elapsed_us;
}

void orch_learning_curve_resume(struct orch_learning_curve *c)
{
    for (guint i = 0; i < c->points->len; i++) {
        const struct point *p = &g_array_index(c->points, struct point, i);
        if (p->series >= 0 && p->series < (int64_t)G_N_ELEMENTS(SERIES))
            c->host->metric(c->host, SERIES[p->series], p->step, p->value);
    }
    orch_learning_curve_go_on(c);
}

void orch_learning_curve_cut(struct orch_learning_curve *c)
{
    for (int64_t i = 0; i < c->envs; i++)
        c->returns[i] = 0;
}
