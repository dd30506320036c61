/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/heldout.h"

#include "lib/base/error.h"
#include "predictors/random.h"

#include <math.h>
#include <string.h>

#define FOLDS 5
#define ROWS_MIN 12 /* to learn from */

/* What the judging works on. */
struct court {
    const struct orch_rows *rows;
    struct orch_learn_options options;
    int *folds;
    int judged; /* folds */
    GPtrArray *names;
    size_t *seen, *aside;
    size_t seen_count, aside_count;
    struct orch_answer *answers; /* by row; NaN: not asked */
    GError *last;                /* why a model could not be fitted */
};

static bool is_of(const struct court *c, size_t row, const char *group)
{
    return strcmp(c->rows->groups[row], group) == 0;
}

static void forget_answers(struct court *c)
{
    for (size_t i = 0; i < c->rows->rows; i++)
        c->answers[i].value = (double)NAN;
}

/* Learns from the rows seen, answers for those aside. */
static void ask(struct court *c, bool by_group)
{
    if (c->seen_count < ROWS_MIN || !c->aside_count)
        return;
    struct orch_learn_options options = c->options;
    options.by_group = by_group;
    struct orch_rows *seen = orch_rows_pick(c->rows, c->seen, c->seen_count);
    struct orch_rows *aside = orch_rows_pick(c->rows, c->aside, c->aside_count);
    g_autofree struct orch_answer *answers = g_new(struct orch_answer, c->aside_count);
    g_autoptr(GError) unable = NULL;
    struct orch_learned *learned = orch_learn(seen, &options, &unable);
    if (learned) {
        orch_learned_predict(learned, aside, answers);
        for (size_t i = 0; i < c->aside_count; i++)
            c->answers[c->aside[i]] = answers[i];
    } else if (!c->last) {
        c->last = g_steal_pointer(&unable);
    }
    orch_learned_free(learned);
    orch_rows_free(seen);
    orch_rows_free(aside);
}

static struct orch_score score(const struct court *c, const char *group)
{
    g_autofree size_t *which = g_new(size_t, c->rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < c->rows->rows; i++)
        if (!isnan(c->answers[i].value) && (!group || is_of(c, i, group)))
            which[count++] = i;
    struct orch_score none = {0};
    return count ? orch_score_of(c->rows->target, c->answers, which, count) : none;
}

/* ---- the three questions -----------------------------------------------------------------------
 */

static void split(struct court *c, int fold, const char *group)
{
    c->seen_count = c->aside_count = 0;
    for (size_t i = 0; i < c->rows->rows; i++) {
        if (group && !is_of(c, i, group))
            continue;
        if (c->folds[i] == fold)
            c->aside[c->aside_count++] = i;
        else
            c->seen[c->seen_count++] = i;
    }
}

static void ask_own(struct court *c)
{
    for (guint g = 0; g < c->names->len; g++) {
        for (int fold = 0; fold < c->judged; fold++) {
            split(c, fold, c->names->pdata[g]);
            ask(c, false);
        }
    }
}

static void ask_all(struct court *c)
{
    for (int fold = 0; fold < c->judged; fold++) {
        split(c, fold, NULL);
        ask(c, false);
    }
}

static void ask_left_out(struct court *c)
{
    for (guint g = 0; c->names->len > 1 && g < c->names->len; g++) {
        c->seen_count = c->aside_count = 0;
        for (size_t i = 0; i < c->rows->rows; i++) {
            if (is_of(c, i, c->names->pdata[g]))
                c->aside[c->aside_count++] = i;
            else
                c->seen[c->seen_count++] = i;
        }
        ask(c, c->names->len > 2);
    }
}

static void clear_group(gpointer group)
{
    g_free(((struct orch_heldout_group *)group)->name);
}

static GArray *list_groups(const struct court *c)
{
    GArray *out = g_array_new(FALSE, TRUE, sizeof(struct orch_heldout_group));
    g_array_set_clear_func(out, clear_group);
    for (guint g = 0; g <= c->names->len; g++) {
        struct orch_heldout_group group = {0};
        const char *name = g < c->names->len ? c->names->pdata[g] : NULL;
        group.name = g_strdup(name);
        for (size_t i = 0; i < c->rows->rows; i++)
            group.rows += !name || is_of(c, i, name);
        g_array_append_val(out, group);
    }
    return out;
}

static void judge(struct court *c, struct orch_heldout *out)
{
    void (*const questions[])(struct court *) = {ask_own, ask_all, ask_left_out};
    for (int q = 0; q < 3; q++) {
        forget_answers(c);
        questions[q](c);
        for (guint g = 0; g < out->groups->len; g++) {
            struct orch_heldout_group *group =
                &g_array_index(out->groups, struct orch_heldout_group, g);
            struct orch_score *scores[] = {&group->own, &group->all, &group->left_out};
            *scores[q] = score(c, group->name);
        }
    }
}

static void court_init(struct court *c, const struct orch_rows *rows,
                       const struct orch_learn_options *options)
{
    size_t n = MAX(rows->rows, 1);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    *c = (struct court){.rows = rows,
                        .options = *options,
                        .folds = g_new(int, n),
                        .judged = rows->rows > ORCH_HELDOUT_ROWS ? 1 : FOLDS,
                        .names = g_ptr_array_new(),
                        .seen = g_new(size_t, n),
                        .aside = g_new(size_t, n),
                        .answers = g_new0(struct orch_answer, n)};
    uint64_t random = orch_random_stream(options->seed, 13);
    for (size_t i = 0; i < rows->rows; i++) {
        c->folds[i] = (int)orch_random_below(&random, FOLDS);
        if (g_hash_table_add(known, rows->groups[i]))
            g_ptr_array_add(c->names, rows->groups[i]);
    }
}

static void court_clear(struct court *c)
{
    g_free(c->folds);
    g_ptr_array_unref(c->names);
    g_free(c->seen);
    g_free(c->aside);
    g_free(c->answers);
    g_clear_error(&c->last);
}

struct orch_heldout *orch_heldout_judge(const struct orch_rows *rows,
                                        const struct orch_learn_options *options, GError **error)
{
    if (!rows->groups) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the rows have no groups to hold out");
        return NULL;
    }
    struct court court;
    court_init(&court, rows, options);
    struct orch_heldout *out = g_new0(struct orch_heldout, 1);
    out->folds = court.judged;
    out->groups = list_groups(&court);
    judge(&court, out);
    const struct orch_heldout_group *all =
        &g_array_index(out->groups, struct orch_heldout_group, out->groups->len - 1);
    if (!all->own.n && !all->all.n && !all->left_out.n) {
        if (court.last)
            g_propagate_error(error, g_steal_pointer(&court.last));
        else
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%zu rows are too few to learn from",
                           rows->rows);
        orch_heldout_free(out);
        out = NULL;
    }
    court_clear(&court);
    return out;
}

void orch_heldout_free(struct orch_heldout *heldout)
{
    if (!heldout)
        return;
    g_array_unref(heldout->groups);
    g_free(heldout);
}
