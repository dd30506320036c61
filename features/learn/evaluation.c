/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/evaluation.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- the tables --------------------------------------------------------------------------------
 */

/* Checks that there are rows to evaluate on, and groups to leave out. */
static bool check_tables(const struct orch_evaluation_request *r, const struct orch_evaluation *e,
                         GError **error)
{
    bool varies = false;
    for (size_t i = 1; e->train->groups && i < e->train->rows; i++)
        varies |= strcmp(e->train->groups[i], e->train->groups[0]) != 0;
    if (!e->test->rows)
        orch_error_set(error, ORCH_ERROR_USAGE, "add rows below its header",
                       "table '%s' has no rows to test on", r->test);
    else if (r->by_group && !varies && e->train->rows)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave --by-group out, or add rows of other groups",
                       "all rows of '%s' have the same '%s', so no group can be left out", r->train,
                       r->group);
    else
        return true;
    return false;
}

/* Lists columns that were learned from but are missing in the test rows, which makes predictions
 * poor. */
static void list_missing(struct orch_evaluation *e)
{
    const struct orch_matrix *learned = e->train->matrix, *test_matrix = e->test->matrix;
    for (int c = 0; c < orch_matrix_cols(learned); c++) {
        const char *name = orch_matrix_feature(learned, c)->name;
        if (orch_matrix_find(test_matrix, name) < 0 && !strchr(name, ' '))
            g_ptr_array_add(e->missing, (gpointer)(uintptr_t)name);
    }
}

bool orch_evaluation_read(const struct orch_evaluation_request *r, struct orch_evaluation *out,
                          GError **error)
{
    struct orch_rows_options options = {.target = r->target, .drop = r->drop, .group = r->group};
    *out = (struct orch_evaluation){.missing = g_ptr_array_new()};
    out->train = orch_rows_read(r->train, &options, error);
    options.like = out->train ? out->train->matrix : NULL;
    out->test = out->train ? orch_rows_read(r->test, &options, error) : NULL;
    if (!out->test || !check_tables(r, out, error))
        return false;
    list_missing(out);
    return true;
}

void orch_evaluation_clear(struct orch_evaluation *e)
{
    orch_rows_free(e->train);
    orch_rows_free(e->test);
    orch_learned_free(e->learned);
    g_free(e->answers);
    if (e->missing)
        g_ptr_array_unref(e->missing);
    *e = (struct orch_evaluation){0};
}

/* ---- training ----------------------------------------------------------------------------------
 */

static bool find_box(const char *name, enum orch_learn_target *out, GError **error)
{
    static const char *const names[] = {"black", "grey", "best"};
    *out = ORCH_LEARN_BEST;
    for (int i = 0; name && i < 3; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum orch_learn_target)i;
            return true;
        }
    }
    if (name)
        orch_error_set(error, ORCH_ERROR_USAGE, "use grey, black or best",
                       "option '--box': unknown value '%s'", name);
    return !name;
}

bool orch_evaluation_learn(struct orch_evaluation *e, const struct orch_evaluation_request *r,
                           struct orch_learn_options *options, GError **error)
{
    int64_t begin = orch_mono_ns();
    if (!find_box(r->box, &options->target, error))
        return false;
    e->learned = orch_learn(e->train, options, error);
    if (!e->learned)
        return false;
    e->fit_s = (double)(orch_mono_ns() - begin) / 1e9;
    e->answers = g_new(struct orch_answer, MAX(e->test->rows, 1));
    begin = orch_mono_ns();
    orch_learned_predict(e->learned, e->test, e->answers);
    e->predict_us = (double)(orch_mono_ns() - begin) / 1e3 / (double)MAX(e->test->rows, 1);
    return true;
}

/* ---- results -----------------------------------------------------------------------------------
 */

GPtrArray *orch_evaluation_groups(const struct orch_evaluation *e)
{
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; e->test->groups && i < e->test->rows; i++)
        if (g_hash_table_add(seen, e->test->groups[i]))
            g_ptr_array_add(names, e->test->groups[i]);
    return names;
}

struct orch_score orch_evaluation_score(const struct orch_evaluation *e, const char *group)
{
    g_autofree size_t *which = g_new(size_t, MAX(e->test->rows, 1));
    size_t count = 0;
    if (!group)
        return orch_score_of(e->test->target, e->answers, NULL, e->test->rows);
    for (size_t i = 0; i < e->test->rows; i++)
        if (strcmp(e->test->groups[i], group) == 0)
            which[count++] = i;
    return orch_score_of(e->test->target, e->answers, which, count);
}

bool orch_evaluation_write(const struct orch_evaluation *e, const char *path, GError **error)
{
    g_autoptr(GString) text = g_string_new("target,value,low,high,distance,extrapolates\n");
    for (size_t i = 0; i < e->test->rows; i++) {
        const struct orch_answer *a = &e->answers[i];
        double values[] = {e->test->target[i], a->value.mid, a->value.low, a->value.high,
                           a->distance};
        for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
            char number[G_ASCII_DTOSTR_BUF_SIZE];
            g_string_append_printf(text, "%s,",
                                   g_ascii_formatd(number, sizeof number, "%.9g", values[k]));
        }
        g_string_append_printf(text, "%d\n", a->extrapolates);
    }
    return orch_file_write(path, text->str, text->len, false, error);
}
