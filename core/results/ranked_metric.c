/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/ranked_metric.h"

#include "lib/wire/direction.h"
#include "lib/wire/system_metrics.h"
#include "store/read/listing.h"

#include <ctype.h>
#include <string.h>

/* Words of names that say what is measured, the most telling first. */
static const char *const WORDS[] = {"accuracy",   "acc",   "f1",     "auc",    "map",
                                    "score",      "bleu",  "reward", "return", "loss",
                                    "perplexity", "error", "rmse",   "mse",    "mae"};
/* Of two equal measures, that of data that were not trained on. */
static const char *const HELD_OUT[] = {"test", "val", "valid", "validation", "eval"};

static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = name; (p = strstr(p, word)); p++)
        if ((p == name || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[length]))
            return true;
    return false;
}

/* The candidate so far. */
struct choice {
    struct orch_ranked_metric metric;
    int points;
};

static void consider(struct choice *choice, const char *name, const char *unit, const char *better,
                     bool is_result)
{
    if (g_str_has_prefix(name, ORCH_SYSTEM_PREFIX))
        return;
    g_autofree char *lower = g_ascii_strdown(name, -1);
    size_t word = 0;
    while (word < G_N_ELEMENTS(WORDS) && !has_word(lower, WORDS[word]))
        word++;
    const enum orch_better way = orch_direction_of(name, unit, orch_better_parse(better)).better;
    const char *option = way == ORCH_BETTER_NONE ? " --max" : "";
    int points = 10 * (int)(G_N_ELEMENTS(WORDS) - word) + (*option ? 0 : 5) + is_result;
    for (size_t i = 0; i < G_N_ELEMENTS(HELD_OUT); i++)
        points += has_word(lower, HELD_OUT[i]) ? 2 : 0;
    if (choice->metric.name && points <= choice->points)
        return;
    g_free(choice->metric.name);
    *choice = (struct choice){{g_strdup(name), option}, points};
}

static bool consider_all(struct choice *choice, struct orch_store *store, int64_t run_id,
                         GError **error)
{
    g_autoptr(GPtrArray) metrics = orch_store_metric_names(store, run_id, error);
    g_autoptr(GPtrArray) results = metrics ? orch_store_result_rows(store, run_id, error) : NULL;
    for (guint i = 0; results && i < results->len; i++) {
        const struct orch_stored_result *result = results->pdata[i];
        consider(choice, result->name, result->unit, result->better, true);
    }
    for (guint i = 0; results && i < metrics->len; i++) {
        const struct orch_known_name *metric = metrics->pdata[i];
        consider(choice, metric->name, metric->unit, metric->better, false);
    }
    return results != NULL;
}

bool orch_ranked_metric_find(struct orch_store *store, struct orch_ranked_metric *out,
                             GError **error)
{
    const struct orch_run_query query = {.ended_well = true, .without_imported = true, .limit = 1};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, error);
    struct choice choice = {{NULL, ""}, 0};
    bool ok = runs != NULL;
    if (ok && runs->len)
        ok = consider_all(&choice, store, ((const struct orch_run *)runs->pdata[0])->id, error);
    if (ok)
        *out = choice.metric;
    else
        g_free(choice.metric.name);
    return ok;
}
