/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions that rows can teach: what is held out together, and which features would give it
 * away. */
#include "predictors/learn/scenario.h"

#include "lib/devices/gpus.h"
#include "predictors/features/feature_names.h"
#include "predictors/features/features.h"

#include <math.h>
#include <string.h>

#define COUNTS_MIN 3
#define FAMILIES_MIN 3
#define OWN_SHARE 0.1
#define FEW_SHARE 0.1 /* of the rows that a level has in the mean */
/* Columns whose levels may be unseen. */
static const char *const NOVEL[] = {"gpu", "accel", "net", "model", "network", "task", NULL};

static bool is_hidden(const char *name, const void *data)
{
    const GPtrArray *hidden = data;
    for (guint i = 0; i < hidden->len; i++)
        if (strcmp(hidden->pdata[i], name) == 0)
            return true;
    return false;
}

struct orch_rows *orch_scenario_rows(const struct orch_scenario *q, const struct orch_rows *rows)
{
    struct orch_rows *out = g_new(struct orch_rows, 1);
    *out = *rows;
    out->matrix = orch_matrix_without(rows->matrix, is_hidden, q->hidden);
    return out; /* borrows everything but the matrix: free with orch_scenario_rows_free */
}

void orch_scenario_rows_free(struct orch_rows *view)
{
    orch_matrix_free(view->matrix);
    g_free(view);
}

void orch_member_release(struct orch_member *m)
{
    orch_whitebox_free(m->white);
    orch_model_free(m->model);
    orch_matched_free(m->matched);
    m->white = NULL;
    m->model = NULL;
    m->matched = NULL;
}

void orch_scenario_free(struct orch_scenario *q)
{
    if (!q)
        return;
    g_free(q->column);
    g_free(q->deferred);
    g_ptr_array_unref(q->known);
    g_ptr_array_unref(q->few);
    g_ptr_array_unref(q->hidden);
    g_ptr_array_unref(q->facts);
    g_array_unref(q->candidates);
    for (int i = 0; i < q->member_count; i++)
        orch_member_release(&q->members[i]);
    orch_conformal_release(&q->interval);
    g_free(q);
}

struct orch_scenario *orch_scenario_new(const char *column)
{
    struct orch_scenario *q = g_new0(struct orch_scenario, 1);
    q->column = g_strdup(column);
    q->known = g_ptr_array_new_with_free_func(g_free);
    q->few = g_ptr_array_new_with_free_func(g_free);
    q->hidden = g_ptr_array_new_with_free_func(g_free);
    q->facts = g_ptr_array_new_with_free_func(g_free);
    q->candidates = g_array_new(FALSE, FALSE, sizeof(struct orch_model_candidate));
    return q;
}

/* A column of numbers as texts, which stay. */
static char **counts_of(const struct orch_matrix *matrix, int column)
{
    const double *values = orch_matrix_column(matrix, column);
    char **out = g_new0(char *, matrix->rows + 1);
    for (size_t i = 0; i < matrix->rows; i++) {
        g_autofree char *text = g_strdup_printf("%.9g", values[i]);
        out[i] = (char *)(uintptr_t)g_intern_string(text);
    }
    return out;
}

char **orch_scenario_groups(const struct orch_scenario *q, const struct orch_rows *rows)
{
    int column = q->column ? orch_matrix_find(rows->matrix, q->column) : -1;
    if (q->has_one_group || !q->column || (column < 0 && !rows->groups))
        return NULL;
    if (column >= 0 && !orch_matrix_feature(rows->matrix, column)->levels)
        return counts_of(rows->matrix, column);
    char **groups = column >= 0 ? orch_levels_of(rows->matrix, column)
                                : g_memdup2(rows->groups, (rows->rows + 1) * sizeof(char *));
    if (column >= 0 ? orch_feature_is_gpu(q->column) : rows->groups_are_gpus)
        orch_folds_name_chips(groups, rows->rows);
    return groups;
}

/* Notes the levels, those with few rows among them, and counts what is held out together. */
static void note_levels(struct orch_scenario *q, const struct orch_rows *rows, char *const *levels)
{
    g_autofree char **groups = orch_scenario_groups(q, rows);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows->rows; i++) {
        size_t count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, levels[i]));
        g_hash_table_insert(counts, levels[i], GSIZE_TO_POINTER(count + 1));
        if (!count)
            g_ptr_array_add(q->known, g_strdup(levels[i]));
        if (groups)
            g_hash_table_add(seen, groups[i]);
    }
    q->group_count = g_hash_table_size(seen);
    for (guint k = 0; k < q->known->len; k++) {
        size_t count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, q->known->pdata[k]));
        if ((double)(count * q->known->len) < FEW_SHARE * (double)rows->rows)
            g_ptr_array_add(q->few, g_strdup(q->known->pdata[k]));
    }
}

bool orch_scenario_is_processor(const char *name)
{
    static const char *const words[] = {"cpu", "xeon", "epyc", NULL};
    const struct orch_gpu_spec *spec = orch_gpu_find(name);
    g_auto(GStrv) said = g_str_tokenize_and_fold(name, NULL, NULL);
    bool says_so = false;
    for (int i = 0; said[i]; i++)
        says_so |= g_strv_contains(words, said[i]);
    return spec ? spec->unit == ORCH_GPU_HOST : says_so;
}

static guint count_chips(const GPtrArray *gpus)
{
    g_autoptr(GHashTable) chips = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < gpus->len; i++)
        if (!orch_scenario_is_processor(gpus->pdata[i]))
            g_hash_table_add(chips, (gpointer)(uintptr_t)orch_gpu_chip(gpus->pdata[i]));
    return g_hash_table_size(chips);
}

/* True if a tenth of the rows has a level of this category (software, a library) that one chip
 * alone was measured with, unless it only names the chip. */
static bool is_own_setting(char *const *levels, char *const *chips, size_t rows)
{
    static char many[] = "";
    g_autoptr(GHashTable) of = g_hash_table_new(g_str_hash, g_str_equal);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        const char *chip = g_hash_table_lookup(of, levels[i]);
        bool is_new = chip && strcmp(chip, chips[i]) != 0;
        g_hash_table_insert(of, levels[i], is_new ? many : chips[i]);
    }
    for (size_t i = 0; i < rows; i++)
        count += g_hash_table_lookup(of, levels[i]) != many;
    return (double)count >= OWN_SHARE * (double)rows && (count < rows || g_hash_table_size(of) > 2);
}

static bool have_own_settings(const struct orch_rows *rows, char *const *gpus)
{
    const struct orch_matrix *m = rows->matrix;
    g_autofree char **chips = g_memdup2(gpus, (rows->rows + 1) * sizeof(char *));
    orch_folds_name_chips(chips, rows->rows);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
        if (!f->levels || g_strv_contains(NOVEL, f->name) || !strcmp(f->name, ORCH_FAMILY_COLUMN))
            continue;
        g_autofree char **levels = orch_levels_of(m, c);
        if (is_own_setting(levels, chips, rows->rows))
            return true;
    }
    return false;
}

/* True if leaving a chip out cannot show how times change from GPU to GPU: a single one was
 * measured (processors beside it do not count; a device that the table of GPUs does not have is a
 * chip of its own), or two whose settings change with them. */
static bool shows_no_change(const struct orch_rows *rows, const GPtrArray *known, char *const *gpus)
{
    guint chips = count_chips(known);
    return chips == 1 ||
           (chips == 2 && !orch_rows_have_kernels(rows) && have_own_settings(rows, gpus));
}

/* True if each level of a category occurs in one group only, so that it identifies the group. */
static bool names_group(char *const *levels, char *const *groups, size_t rows)
{
    g_autoptr(GHashTable) of = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        const char *group = g_hash_table_lookup(of, levels[i]);
        if (group && strcmp(group, groups[i]) != 0)
            return false;
        g_hash_table_insert(of, levels[i], groups[i]);
    }
    return true;
}

static void hide_names(struct orch_scenario *q, const struct orch_rows *rows, char *const *groups)
{
    const struct orch_matrix *m = rows->matrix;
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        if (!orch_matrix_feature(m, c)->levels)
            continue;
        g_autofree char **levels = orch_levels_of(m, c);
        if (names_group(levels, groups, rows->rows))
            g_ptr_array_add(q->hidden, g_strdup(orch_matrix_feature(m, c)->name));
    }
}

/* True if a feature is constant within each group. */
static bool is_one_a_group(const double *column, char *const *groups, size_t rows)
{
    g_autoptr(GHashTable) of = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        const double *first = g_hash_table_lookup(of, groups[i]);
        if (!first)
            g_hash_table_insert(of, groups[i], (gpointer)(uintptr_t)&column[i]);
        else if (!(isnan(*first) && isnan(column[i])) &&
                 !(fabs(*first - column[i]) <= 1e-9 * fabs(*first)))
            return false;
    }
    return true;
}

static void note_facts(struct orch_scenario *q, const struct orch_rows *rows, char *const *groups)
{
    const struct orch_matrix *m = rows->matrix;
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const char *name = orch_matrix_feature(m, c)->name;
        bool of_gpu = strcmp(name, "gpu") == 0 || g_str_has_prefix(name, "gpu ");
        bool is_fact =
            groups ? is_one_a_group(orch_matrix_column(m, c), groups, rows->rows) : of_gpu;
        if (is_fact)
            g_ptr_array_add(q->facts, g_strdup(name));
    }
}

/* Numbers of GPUs: more of them than were measured are another question, if three numbers say how
 * times change. */
static void list_counts(struct orch_learned *l, const struct orch_rows *rows)
{
    for (int c = 0; c < orch_matrix_cols(rows->matrix) && l->count < ORCH_SCENARIOS_MAX; c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(rows->matrix, c);
        if (f->levels || !orch_feature_is_gpu_count(f->name))
            continue;
        struct orch_scenario *q = orch_scenario_new(f->name);
        g_autofree char **counts = orch_scenario_groups(q, rows);
        note_levels(q, rows, counts);
        if (q->group_count < COUNTS_MIN) {
            orch_scenario_free(q);
            return;
        }
        g_ptr_array_add(q->facts, g_strdup(f->name)); /* some candidates ignore the number */
        l->scenarios[l->count++] = q;
        return;
    }
}

/* Families of networks: a network whose family was not measured either is another question, if
 * there are families to leave out and some of several networks. */
static void list_families(struct orch_learned *l, const struct orch_rows *rows)
{
    int column = orch_matrix_find(rows->matrix, ORCH_FAMILY_COLUMN);
    const struct orch_scenario *nets = l->count > 1 ? l->scenarios[l->count - 1] : NULL;
    if (column < 0 || !nets || nets->has_one_group || !orch_feature_is_net(nets->column) ||
        l->count >= ORCH_SCENARIOS_MAX)
        return;
    g_autofree char **levels = orch_levels_of(rows->matrix, column);
    struct orch_scenario *q = orch_scenario_new(ORCH_FAMILY_COLUMN);
    note_levels(q, rows, levels);
    if (q->group_count < FAMILIES_MIN || q->group_count >= nets->group_count) {
        orch_scenario_free(q);
        return;
    }
    hide_names(q, rows, levels);
    note_facts(q, rows, levels);
    l->scenarios[l->count++] = q;
}

void orch_scenarios_list(struct orch_learned *l, const struct orch_rows *rows,
                         const struct orch_learn_options *o)
{
    if (o->by_group && rows->groups) {
        struct orch_scenario *q = l->scenarios[l->count++] = orch_scenario_new("group");
        note_levels(q, rows, rows->groups);
        q->has_one_group = q->group_count < 2;
        hide_names(q, rows, rows->groups);
        note_facts(q, rows, rows->groups);
        return;
    }
    l->scenarios[l->count++] = orch_scenario_new(NULL);
    note_facts(l->scenarios[0], rows, NULL);
    for (size_t k = 0; NOVEL[k] && l->count < ORCH_SCENARIOS_MAX; k++) {
        int column = orch_matrix_find(rows->matrix, NOVEL[k]);
        if (column < 0 || !orch_matrix_feature(rows->matrix, column)->levels)
            continue;
        g_autofree char **levels = orch_levels_of(rows->matrix, column);
        struct orch_scenario *q = orch_scenario_new(NOVEL[k]);
        note_levels(q, rows, levels);
        q->has_one_group = q->group_count < 2 || (orch_feature_is_gpu(q->column) &&
                                                  shows_no_change(rows, q->known, levels));
        if (q->has_one_group)
            g_ptr_array_add(q->hidden, g_strdup(NOVEL[k]));
        else
            hide_names(q, rows, levels);
        note_facts(q, rows, levels);
        l->scenarios[l->count++] = q;
    }
    list_families(l, rows);
    list_counts(l, rows);
}

int orch_learned_scenarios(const struct orch_learned *l)
{
    return l->count;
}

struct orch_question orch_learned_question(const struct orch_learned *l, int question)
{
    const struct orch_scenario *q = l->scenarios[question];
    return (struct orch_question){q->column, q->candidates,  q->error,
                                  q->median, q->is_baseline, q->has_one_group};
}

const char *orch_learn_box_name(enum orch_learn_box box)
{
    static const char *const names[] = {"black", "grey",    "bare grey", "specs",  "stripped",
                                        "plain", "kernels", "rates",     "matched"};
    return names[box];
}

const char *orch_model_candidate_name(const struct orch_model_candidate *t)
{
    if (t->kind)
        return t->kind->name;
    return t->box == ORCH_BOX_MATCHED ? "rows" : "analytical model";
}

char *orch_learned_text(const struct orch_learned *l, int question)
{
    GString *text = g_string_new(NULL);
    const GArray *candidates = l->scenarios[question]->candidates;
    for (guint i = 0; i < candidates->len && i < ORCH_MEMBERS_MAX - 1; i++) {
        const struct orch_model_candidate *t =
            &g_array_index(candidates, struct orch_model_candidate, i);
        if (t->weight > 0)
            g_string_append_printf(text, "%s%.2f %s %s", text->len ? " + " : "", t->weight,
                                   orch_learn_box_name(t->box), orch_model_candidate_name(t));
    }
    return g_string_free(text, FALSE);
}
