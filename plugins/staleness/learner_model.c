/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A learner has at most one gradient under way, so the next event is the earliest arrival among the
 * learners, and a queue of events is not needed. */
#include "plugins/staleness/learner_model.h"

#define NEVER INT64_MAX

struct learner {
    int64_t read_ns, arrival_ns; /* of the gradient under way; arrival_ns NEVER: none */
    int64_t cost_ns;             /* of its pull, computing and push */
    int64_t held_ns;             /* arrival of the gradient after which the learner is held */
    int64_t next_ns;             /* computing of the gradient that has not been begun */
    int64_t version_read, lead;
    int64_t applied; /* gradients */
    bool is_held, is_finished;
};

struct simulation {
    const struct orch_staleness_model *model;
    struct orch_staleness_run *run;
    struct learner *learners;
};

/* Gradients applied of the slowest learner that has gradients left; INT64_MAX: none has. */
static int64_t slowest(const struct simulation *s)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < s->model->learners; i++)
        if (!s->learners[i].is_finished)
            least = MIN(least, s->learners[i].applied);
    return least;
}

/* Asks for the duration of the learner's next gradient. False: it has none, and is finished. */
static bool draw_next(struct simulation *s, int i)
{
    struct learner *l = &s->learners[i];
    l->next_ns = s->model->gradient_ns(s->model->ctx, i, l->applied);
    l->is_finished = l->next_ns < 0;
    l->arrival_ns = NEVER;
    return !l->is_finished;
}

/* The learner reads the weights now and computes the gradient that draw_next announced. */
static void pull(struct simulation *s, int i, int64_t now_ns)
{
    const struct orch_staleness_model *m = s->model;
    struct learner *l = &s->learners[i];
    l->read_ns = now_ns;
    l->cost_ns = m->pull_ns + l->next_ns + m->push_ns;
    l->arrival_ns = now_ns + l->cost_ns;
    l->version_read = s->run->versions;
    l->lead = l->applied - slowest(s);
    l->is_held = false;
}

/* Records the learner's gradient as applied at `now_ns` to version `before`. */
static void record(struct simulation *s, int i, int64_t before, int64_t now_ns)
{
    struct learner *l = &s->learners[i];
    const struct orch_staleness_update update = {.learner = i,
                                                 .gradient = l->applied,
                                                 .read_ns = l->read_ns,
                                                 .applied_ns = now_ns,
                                                 .version_read = l->version_read,
                                                 .version_before = before,
                                                 .lead = l->lead};
    g_array_append_val(s->run->updates, update);
    s->run->learning_s += (double)l->cost_ns / 1e9;
    s->run->end_ns = now_ns;
    l->applied++;
}

static void add_waiting(struct simulation *s, int64_t time_ns)
{
    s->run->waiting_s += (double)time_ns / 1e9;
}

static bool is_over(const struct simulation *s)
{
    return (int64_t)s->run->updates->len >= s->model->gradients;
}

/* ---- asynchronous, with and without a bound ---------------------------------------------------
 */

/* Lets the learners pull that the bound does not hold any more, in the order of their numbers. */
static void release_held(struct simulation *s, int64_t now_ns)
{
    const int64_t least = slowest(s);
    for (int i = 0; i < s->model->learners; i++) {
        struct learner *l = &s->learners[i];
        if (!l->is_held ||
            (s->model->mode == ORCH_STALENESS_BOUNDED && l->applied - least > s->model->bound))
            continue;
        add_waiting(s, now_ns - l->held_ns);
        pull(s, i, now_ns);
    }
}

static int next_arrival(const struct simulation *s)
{
    int next = -1;
    for (int i = 0; i < s->model->learners; i++)
        if (s->learners[i].arrival_ns < (next < 0 ? NEVER : s->learners[next].arrival_ns))
            next = i;
    return next;
}

static void run_asynchronous(struct simulation *s)
{
    int64_t free_ns = 0; /* when the server has applied all that arrived so far */
    for (int i; !is_over(s) && (i = next_arrival(s)) >= 0;) {
        struct learner *l = &s->learners[i];
        free_ns = MAX(free_ns, l->arrival_ns) + s->model->update_ns;
        record(s, i, s->run->versions, free_ns);
        s->run->versions++;
        l->held_ns = l->arrival_ns;
        l->is_held = draw_next(s, i);
        if (!l->is_held)
            add_waiting(s, free_ns - l->held_ns);
        release_held(s, free_ns);
    }
    for (int i = 0; i < s->model->learners; i++)
        if (s->learners[i].is_held)
            add_waiting(s, s->run->end_ns - s->learners[i].held_ns);
}

/* ---- synchronous ------------------------------------------------------------------------------
 */

static void run_synchronous(struct simulation *s)
{
    const int learners = s->model->learners;
    while (!is_over(s)) {
        int64_t last_ns = 0;
        for (int i = 0; i < learners; i++) {
            if (s->learners[i].is_finished)
                return;
            last_ns = MAX(last_ns, s->learners[i].arrival_ns);
        }
        last_ns += s->model->update_ns;
        for (int i = 0; i < learners; i++) {
            add_waiting(s, last_ns - s->learners[i].arrival_ns);
            record(s, i, s->run->versions, last_ns);
        }
        s->run->versions++;
        for (int i = 0; i < learners; i++)
            draw_next(s, i);
        for (int i = 0; i < learners; i++)
            if (!s->learners[i].is_finished)
                pull(s, i, last_ns);
    }
}

/* ---- public -----------------------------------------------------------------------------------
 */

void orch_staleness_simulate(const struct orch_staleness_model *model,
                             struct orch_staleness_run *out)
{
    struct simulation s = {
        .model = model, .run = out, .learners = g_new0(struct learner, model->learners)};
    *out = (struct orch_staleness_run){
        .updates = g_array_new(FALSE, FALSE, sizeof(struct orch_staleness_update))};
    for (int i = 0; i < model->learners; i++)
        draw_next(&s, i);
    for (int i = 0; i < model->learners; i++)
        if (!s.learners[i].is_finished)
            pull(&s, i, 0);
    if (model->mode == ORCH_STALENESS_SYNCHRONOUS)
        run_synchronous(&s);
    else
        run_asynchronous(&s);
    g_free(s.learners);
}

void orch_staleness_clear(struct orch_staleness_run *run)
{
    if (run->updates)
        g_array_unref(run->updates);
    *run = (struct orch_staleness_run){0};
}
