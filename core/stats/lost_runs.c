/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/lost_runs.h"

#include "core/stats/same_trial.h"
#include "core/stats/seeds.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <string.h>

#define NAMED_MAX 3
#define SHORT_KEY 8

struct row {
    const struct orch_run *run;
    enum orch_lost_why why;
    char *setting, *trial;
};

struct orch_lost_runs {
    struct orch_store *store;
    GPtrArray *rows; /* struct row *, in the order of adding */
};

static void row_free(void *pointer)
{
    struct row *row = pointer;
    g_free(row->setting);
    g_free(row->trial);
    g_free(row);
}

struct orch_lost_runs *orch_lost_runs_new(struct orch_store *store)
{
    struct orch_lost_runs *lost = g_new0(struct orch_lost_runs, 1);
    lost->store = store;
    lost->rows = g_ptr_array_new_with_free_func(row_free);
    return lost;
}

void orch_lost_runs_free(struct orch_lost_runs *lost)
{
    if (!lost)
        return;
    g_ptr_array_unref(lost->rows);
    g_free(lost);
}

enum orch_lost_why orch_lost_why_of(const char *state)
{
    static const struct {
        enum orch_verdict verdict;
        enum orch_lost_why why;
    } rows[] = {{ORCH_VERDICT_FAILED, ORCH_LOST_FAILED},
                {ORCH_VERDICT_CRASHED, ORCH_LOST_FAILED},
                {ORCH_VERDICT_TIMEOUT, ORCH_LOST_FAILED},
                {ORCH_VERDICT_PROTOCOL, ORCH_LOST_FAILED},
                {ORCH_VERDICT_PRUNED, ORCH_LOST_PRUNED}};
    const enum orch_verdict verdict = orch_verdict_parse(state);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].verdict == verdict)
            return rows[i].why;
    return ORCH_LOST_WHYS;
}

/* The texts that are equal for runs of one setting, and of one trial. */
static struct row *row_of(struct orch_store *store, const struct orch_run *run, GError **error)
{
    g_autoptr(json_t) params = orch_run_open_params(store, run, error);
    if (!params)
        return NULL;
    struct row *row = g_new0(struct row, 1);
    row->run = run;
    row->trial = orch_run_trial_text(run, params, false);
    orch_seed_names_remove(params);
    row->setting = orch_run_repeats_text(run, params);
    return row;
}

bool orch_lost_runs_add(struct orch_lost_runs *lost, const struct orch_run *run,
                        enum orch_lost_why why, GError **error)
{
    struct row *row = row_of(lost->store, run, error);
    if (!row)
        return false;
    row->why = why;
    g_ptr_array_add(lost->rows, row);
    return true;
}

bool orch_lost_find(const struct orch_lost_runs *lost, const GPtrArray *runs, struct orch_lost *out,
                    GError **error)
{
    g_autoptr(GHashTable) settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) trials = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    *out = (struct orch_lost){0};
    for (int why = 0; why < ORCH_LOST_WHYS; why++)
        out->runs[why] = g_ptr_array_new();
    for (guint i = 0; lost->rows->len && i < runs->len; i++) {
        struct row *row = row_of(lost->store, runs->pdata[i], error);
        if (!row)
            return false;
        g_hash_table_add(settings, g_steal_pointer(&row->setting));
        g_hash_table_add(trials, g_steal_pointer(&row->trial));
        row_free(row);
    }
    for (guint i = 0; i < lost->rows->len; i++) {
        const struct row *row = lost->rows->pdata[i];
        if (g_hash_table_contains(settings, row->setting) &&
            g_hash_table_add(trials, g_strdup(row->trial)))
            g_ptr_array_add(out->runs[row->why], (gpointer)(uintptr_t)row->run);
    }
    out->trials = g_hash_table_size(trials);
    return true;
}

void orch_lost_clear(struct orch_lost *lost)
{
    for (int why = 0; why < ORCH_LOST_WHYS; why++)
        g_clear_pointer(&lost->runs[why], g_ptr_array_unref);
}

static void append_keys(GString *text, const GPtrArray *runs)
{
    g_string_append(text, " (");
    for (guint i = 0; i < MIN(runs->len, NAMED_MAX); i++) {
        const char *key = ((const struct orch_run *)runs->pdata[i])->key;
        const size_t length = strlen(key);
        g_string_append_printf(text, "%s%s", i ? " " : "",
                               key + (length > SHORT_KEY ? length - SHORT_KEY : 0));
    }
    if (runs->len > NAMED_MAX)
        g_string_append_printf(text, " +%u", runs->len - NAMED_MAX);
    g_string_append_c(text, ')');
}

char *orch_lost_text(const struct orch_lost *lost, const char *whose)
{
    static const char *const words[ORCH_LOST_WHYS][2] = {
        {"failed", "failed"}, {"was pruned", "were pruned"}, {"has no number", "have no number"}};
    GString *text = g_string_new(NULL);
    for (int why = 0; why < ORCH_LOST_WHYS; why++) {
        const GPtrArray *runs = lost->runs[why];
        if (!runs || !runs->len)
            continue;
        g_string_append_printf(text, "%s%u ", text->len ? ", and " : "", runs->len);
        if (!strstr(text->str, " of "))
            g_string_append_printf(text, "of %s %u runs ", whose, lost->trials);
        g_string_append(text, words[why][runs->len > 1]);
        append_keys(text, runs);
    }
    return g_string_free(text, text->len == 0);
}
