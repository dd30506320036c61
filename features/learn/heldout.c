/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/heldout.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "lib/devices/gpus.h"

#include <math.h>
#include <string.h>

#define FOLDS 5
#define ROWS_MIN 12 /* training rows needed */

/* State of one evaluation. */
struct evaluation {
    const struct orch_rows *rows;
    struct orch_learn_options options;
    int *folds;
    int fold_count; /* number of folds evaluated */
    GPtrArray *names;
    size_t *seen, *held_out;
    size_t seen_count, held_out_count;
    struct orch_answer *predictions; /* by row; value is NaN if not predicted */
    GError *last;                    /* first reason why a model could not be fitted */
};

static bool is_of(const struct evaluation *c, size_t row, const char *group)
{
    return strcmp(c->rows->groups[row], group) == 0;
}

/* True for a row that says much of the group: its own, or of a GPU of the same chip. */
static bool is_like(const struct evaluation *c, size_t row, const char *group)
{
    if (is_of(c, row, group) || !c->rows->groups_are_gpus)
        return is_of(c, row, group);
    return strcmp(orch_gpu_chip(c->rows->groups[row]), orch_gpu_chip(group)) == 0;
}

static void clear_answers(struct evaluation *c)
{
    for (size_t i = 0; i < c->rows->rows; i++)
        c->predictions[i].value.mid = (double)NAN;
}

/* Trains on the rows `seen` and predicts the rows `held_out`. */
static void train_and_predict(struct evaluation *c, bool by_group)
{
    if (c->seen_count < ROWS_MIN || !c->held_out_count)
        return;
    struct orch_learn_options options = c->options;
    options.by_group = by_group;
    struct orch_rows *seen = orch_rows_pick(c->rows, c->seen, c->seen_count);
    struct orch_rows *held_out = orch_rows_pick(c->rows, c->held_out, c->held_out_count);
    g_autofree struct orch_answer *predictions = g_new(struct orch_answer, c->held_out_count);
    g_autoptr(GError) unable = NULL;
    struct orch_learned *learned = orch_learn(seen, &options, &unable);
    if (learned) {
        orch_learned_predict(learned, held_out, predictions);
        for (size_t i = 0; i < c->held_out_count; i++)
            c->predictions[c->held_out[i]] = predictions[i];
    } else if (!c->last) {
        c->last = g_steal_pointer(&unable);
    }
    orch_learned_free(learned);
    orch_rows_free(seen);
    orch_rows_free(held_out);
}

static struct orch_score score(const struct evaluation *c, const char *group)
{
    g_autofree size_t *which = g_new(size_t, c->rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < c->rows->rows; i++)
        if (!isnan(c->predictions[i].value.mid) && (!group || is_of(c, i, group)))
            which[count++] = i;
    struct orch_score none = {0};
    return count ? orch_score_of(c->rows->target, c->predictions, which, count) : none;
}

/* ---- the three ways of training -------------------------------------------------------------- */

static void split(struct evaluation *c, int fold, const char *group)
{
    c->seen_count = c->held_out_count = 0;
    for (size_t i = 0; i < c->rows->rows; i++) {
        if (group && !is_of(c, i, group))
            continue;
        if (c->folds[i] == fold)
            c->held_out[c->held_out_count++] = i;
        else
            c->seen[c->seen_count++] = i;
    }
}

static void evaluate_own(struct evaluation *c)
{
    for (guint g = 0; g < c->names->len; g++) {
        for (int fold = 0; fold < c->fold_count; fold++) {
            split(c, fold, c->names->pdata[g]);
            train_and_predict(c, false);
        }
    }
}

static void evaluate_all(struct evaluation *c)
{
    for (int fold = 0; fold < c->fold_count; fold++) {
        split(c, fold, NULL);
        train_and_predict(c, false);
    }
}

static void evaluate_left_out(struct evaluation *c)
{
    for (guint g = 0; c->names->len > 1 && g < c->names->len; g++) {
        c->seen_count = c->held_out_count = 0;
        for (size_t i = 0; i < c->rows->rows; i++) {
            if (is_of(c, i, c->names->pdata[g]))
                c->held_out[c->held_out_count++] = i;
            else if (!is_like(c, i, c->names->pdata[g]))
                c->seen[c->seen_count++] = i;
        }
        train_and_predict(c, c->names->len > 2);
    }
}

static void clear_group(gpointer group)
{
    g_free(((struct orch_heldout_group *)group)->name);
}

static GArray *list_groups(const struct evaluation *c)
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

static void evaluate(struct evaluation *c, struct orch_heldout *out)
{
    void (*const evaluators[])(struct evaluation *) = {evaluate_own, evaluate_all,
                                                       evaluate_left_out};
    for (int q = 0; q < 3; q++) {
        clear_answers(c);
        evaluators[q](c);
        for (guint g = 0; g < out->groups->len; g++) {
            struct orch_heldout_group *group =
                &g_array_index(out->groups, struct orch_heldout_group, g);
            struct orch_score *scores[] = {&group->own, &group->all, &group->left_out};
            *scores[q] = score(c, group->name);
        }
    }
}

static void evaluation_init(struct evaluation *c, const struct orch_rows *rows,
                            const struct orch_learn_options *options)
{
    size_t n = MAX(rows->rows, 1);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    *c = (struct evaluation){.rows = rows,
                             .options = *options,
                             .folds = g_new(int, n),
                             .fold_count = rows->rows > ORCH_HELDOUT_ROWS ? 1 : FOLDS,
                             .names = g_ptr_array_new(),
                             .seen = g_new(size_t, n),
                             .held_out = g_new(size_t, n),
                             .predictions = g_new0(struct orch_answer, n)};
    uint64_t random = orch_random_stream(options->seed, 13);
    for (size_t i = 0; i < rows->rows; i++) {
        c->folds[i] = (int)orch_random_below(&random, FOLDS);
        if (g_hash_table_add(known, rows->groups[i]))
            g_ptr_array_add(c->names, rows->groups[i]);
    }
}

static void evaluation_clear(struct evaluation *c)
{
    g_free(c->folds);
    g_ptr_array_unref(c->names);
    g_free(c->seen);
    g_free(c->held_out);
    g_free(c->predictions);
    g_clear_error(&c->last);
}

struct orch_heldout *orch_heldout_evaluate(const struct orch_rows *rows,
                                           const struct orch_learn_options *options, GError **error)
{
    if (!rows->groups) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the rows have no groups to hold out");
        return NULL;
    }
    struct evaluation evaluation;
    evaluation_init(&evaluation, rows, options);
    struct orch_heldout *out = g_new0(struct orch_heldout, 1);
    out->folds = evaluation.fold_count;
    out->groups = list_groups(&evaluation);
    evaluate(&evaluation, out);
    const struct orch_heldout_group *all =
        &g_array_index(out->groups, struct orch_heldout_group, out->groups->len - 1);
    if (!all->own.n && !all->all.n && !all->left_out.n) {
        if (evaluation.last)
            g_propagate_error(error, g_steal_pointer(&evaluation.last));
        else
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%zu rows are too few to train on",
                           rows->rows);
        orch_heldout_free(out);
        out = NULL;
    }
    evaluation_clear(&evaluation);
    return out;
}

void orch_heldout_free(struct orch_heldout *heldout)
{
    if (!heldout)
        return;
    g_array_unref(heldout->groups);
    g_free(heldout);
}
