/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/parallel_best.h"

#include "lib/base/error.h"

#include <math.h>

#define MICRO_MOST 64     /* parts of a batch */
#define MICRO_FOR_STAGE 4 /* as a pipeline has them (steps/parallel.h) */

struct search {
    const struct orch_time_question *q;
    struct orch_step_tiers *tiers;
    const struct orch_candidate *c;
    int64_t devices, samples; /* of a step */
    GArray *choices;
    GPtrArray *shares; /* which ways have in common */
    GError *why;       /* why the first impossible way is so */
};

/* One way; false where it is impossible. */
static bool estimate(struct search *s, const struct orch_parallel *p,
                     struct orch_parallel_choice *out)
{
    struct orch_time_question own = *s->q;
    struct orch_step_answer a = {0};
    own.is_parallel = true;
    own.parallel = *p;
    own.parallel.shares = s->shares;
    own.strong = false;
    int64_t batch = s->samples / orch_parallel_replicas(p);
    GError *why = NULL;
    bool ok = orch_candidate_estimate(&own, s->tiers, s->c, s->devices, batch, &a, &why);
    if (ok)
        *out = (struct orch_parallel_choice){.parallel = *p,
                                             .batch = batch,
                                             .step_s = a.step.total_s.mid,
                                             .samples_per_s = a.step.images_per_s,
                                             .memory_bytes = a.step.memory_bytes,
                                             .fits = a.step.fits};
    orch_step_answer_clear(&a);
    if (why && !s->why)
        s->why = g_steal_pointer(&why);
    g_clear_error(&why);
    return ok;
}

/* In as few parts of the batch as fit: each further one costs time. The least memory is that of
 * most parts, so a way of which these do not fit is tried no further. */
static void try_way(struct search *s, struct orch_parallel p)
{
    struct orch_parallel_choice one;
    int64_t batch = s->samples / orch_parallel_replicas(&p);
    int64_t least = p.pp > 1 ? MICRO_FOR_STAGE * p.pp : 1;
    while (least > 1 && batch % least)
        least--;
    int64_t most = least;
    while (most * 2 <= MIN(batch, MAX(MICRO_MOST, least)) && batch % (most * 2) == 0)
        most *= 2;
    p.micro_batches = most;
    if (!estimate(s, &p, &one))
        return;
    bool fits = one.fits;
    for (int64_t parts = least; fits && parts < most; parts *= 2) {
        struct orch_parallel_choice other;
        p.micro_batches = parts;
        if (!estimate(s, &p, &other) || !other.fits)
            continue;
        one = other;
        break;
    }
    g_array_append_val(s->choices, one);
}

static void try_experts(struct search *s, struct orch_parallel p)
{
    int64_t replicas = orch_parallel_replicas(&p);
    for (int64_t ep = 1; ep <= (s->c->prior.kernels.has_experts ? replicas : 1); ep++) {
        p.ep = ep;
        if (replicas % ep == 0)
            try_way(s, p);
    }
}

static void try_all(struct search *s)
{
    int64_t node = s->q->per_node ? s->q->per_node : orch_link_within(s->c->gpu)->gpus;
    for (int64_t tp = 1; tp <= MIN(node, s->devices); tp++)
        for (int64_t pp = 1; s->devices % tp == 0 && pp <= s->devices / tp; pp++) {
            int64_t replicas = s->devices / tp / pp;
            if (s->devices % (tp * pp) || node % tp)
                continue;
            struct orch_parallel p = {.dp = replicas, .fsdp = 1, .tp = tp, .pp = pp};
            try_experts(s, p);
            p.dp = 1;
            p.fsdp = replicas;
            if (replicas > 1)
                try_experts(s, p);
        }
}

/* Those that fit first; the fastest of these; of equals that which needs less memory. */
static int by_time(gconstpointer a, gconstpointer b)
{
    const struct orch_parallel_choice *x = a, *y = b;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->step_s < y->step_s || x->step_s > y->step_s)
        return x->step_s < y->step_s ? -1 : 1;
    return x->memory_bytes < y->memory_bytes ? -1 : x->memory_bytes > y->memory_bytes;
}

/* Keeps, of those that fit, or of all where none does, each that needs less memory than all faster
 * ones. */
static GArray *front_of(const GArray *choices)
{
    GArray *front = g_array_new(false, false, sizeof(struct orch_parallel_choice));
    bool any = choices->len && g_array_index(choices, struct orch_parallel_choice, 0).fits;
    double least = (double)INFINITY;
    for (guint i = 0; i < choices->len; i++) {
        struct orch_parallel_choice one = g_array_index(choices, struct orch_parallel_choice, i);
        if (one.fits != any || one.memory_bytes >= least)
            continue;
        least = one.memory_bytes;
        g_array_append_val(front, one);
    }
    g_array_index(front, struct orch_parallel_choice, any ? 0 : front->len - 1).is_best = true;
    return front;
}

bool orch_parallel_best(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                        const struct orch_candidate *c, int64_t devices, int64_t batch,
                        GArray **out, GError **error)
{
    struct search s = {.q = q,
                       .tiers = tiers,
                       .c = c,
                       .devices = devices,
                       .samples = devices * batch,
                       .choices = g_array_new(false, false, sizeof(struct orch_parallel_choice)),
                       .shares = orch_parallel_shares_new()};
    try_all(&s);
    g_array_sort(s.choices, by_time);
    bool ok = s.choices->len > 0;
    if (ok)
        *out = front_of(s.choices);
    else if (s.why)
        g_propagate_error(error, g_steal_pointer(&s.why));
    g_clear_error(&s.why);
    g_array_unref(s.choices);
    g_ptr_array_unref(s.shares);
    return ok;
}

char *orch_parallel_format(const struct orch_parallel *p)
{
    const struct {
        const char *name;
        int64_t value;
    } ways[] = {{"dp", p->dp}, {"fsdp", p->fsdp}, {"ep", p->ep},
                {"tp", p->tp}, {"pp", p->pp},     {"micro", p->micro_batches}};
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
        if (ways[i].value > 1)
            g_string_append_printf(text, "%s%s=%" G_GINT64_FORMAT, text->len ? "," : "",
                                   ways[i].name, ways[i].value);
    return g_strdup(text->len ? text->str : "dp=1");
}
