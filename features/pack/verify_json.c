/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/verify.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/reals.h"

#include <math.h>
#include <string.h>

/* ---- findings ----------------------------------------------------------------------------------
 */

static json_t *texts_json(const GPtrArray *texts)
{
    json_t *out = json_array();
    for (guint i = 0; i < texts->len; i++)
        json_array_append_new(out, json_string(texts->pdata[i]));
    return out;
}

static json_t *item_json(const struct orch_rechecked *item)
{
    json_t *places = json_array();
    for (guint i = 0; i < item->disagreements->len; i++) {
        const struct orch_disagreement *d = item->disagreements->pdata[i];
        json_array_append_new(places, json_pack("{s:s, s:s, s:s}", "place", d->place, "said",
                                                d->recorded, "found", d->found));
    }
    const char *outcome = item->differs ? "differs" : item->unchecked ? "not checked" : "confirmed";
    return json_pack("{s:s?, s:s?, s:s, s:s, s:i, s:i, s:i, s:s?, s:o}", "question", item->question,
                     "title", item->title, "kind", item->kind, "outcome", outcome, "confirmed",
                     (int)item->confirmed, "differs", (int)item->differs, "not_checked",
                     (int)item->left, "why", item->unchecked, "differences", places);
}

/* The questions of the report with their points, in order: [{"question", "points"}]. */
static json_t *parts_json(const struct orch_verified *verified)
{
    json_t *parts = json_array();
    const struct orch_expansion *expansion = verified->expansion;
    for (guint i = 0; expansion && i < expansion->report->len; i++) {
        const struct orch_report_item *item = expansion->report->pdata[i];
        json_t *found = NULL;
        for (size_t j = 0; item->question && !found && j < json_array_size(parts); j++) {
            json_t *part = json_array_get(parts, j);
            if (strcmp(orch_json_text(part, "question", ""), item->question) == 0)
                found = part;
        }
        if (item->question && !found)
            json_array_append_new(parts, json_pack("{s:s s:o}", "question", item->question,
                                                   "points", orch_json_finite(item->points)));
        else if (found)
            json_object_set_new(found, "points",
                                orch_json_finite(item->points + json_number_value(json_object_get(
                                                                    found, "points"))));
    }
    return parts;
}

json_t *orch_verified_json(const struct orch_pack *pack, const struct orch_verified *verified)
{
    json_t *items = json_array();
    for (guint i = 0; i < verified->items->len; i++)
        json_array_append_new(items, item_json(verified->items->pdata[i]));
    const json_t *recipe = orch_pack_member(pack, "recipe");
    json_t *collaborators = json_object_get(pack->json, "collaborators");
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s?, s:s, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o, "
        "s:o, s:o, s:o, s:o}",
        "signature", pack->signed_by ? pack->signed_by : "none", "who",
        orch_json_text(pack->json, "who", ""), "recipe", orch_json_text(recipe, "name", ""), "made",
        orch_json_text(pack->json, "made", ""), "commit", orch_json_text(recipe, "commit", NULL),
        "pack", pack->digest, "good", (int)orch_verified_is_good(verified), "confirmed",
        (int)verified->confirmed, "differs", (int)verified->differs, "not_checked",
        (int)verified->left, "runs", (int)pack->runs_good, "files", (int)pack->files_good, "trees",
        (int)pack->trees_good, "trials", (int)verified->pinned.trials, "trials_done",
        (int)verified->pinned.done, "page", (int)verified->is_page_good, "collaborators",
        collaborators ? json_incref(collaborators) : json_array(), "items", items, "parts",
        parts_json(verified), "problems", texts_json(verified->problems), "notes",
        texts_json(verified->notes));
}

/* ---- what the runs measured --------------------------------------------------------------------
 */

/* Two digests over the points of a run: of the values, and of their times within the run. */
struct sums {
    GChecksum *values, *times;
    GArray *t_ms; /* double: the times of all points, of whatever metric */
    int64_t points;
};

/* How surprising it would be, in bits, if another run had the same times by chance. Repeats of a
 * deterministic trial differ by at least about 1 % of each gap between two moments, and times have
 * a resolution of 1 us, so one in 1 + g / 100 pairs of runs has an equal gap of g us. Points in the
 * same microsecond, of one metric or of several, add nothing. */
static double surprise(GArray *t_ms)
{
    double bits = 0, before = 0;
    g_array_sort(t_ms, orch_compare_reals);
    for (guint i = 0; i < t_ms->len; i++) {
        double now = g_array_index(t_ms, double, i);
        bits += now > before ? log2(1 + 1e3 * (now - before) / 100) : 0;
        before = now;
    }
    return bits;
}

static void add_series(struct sums *sums, const struct orch_series *series)
{
    g_checksum_update(sums->values, (const guchar *)series->name, -1);
    g_checksum_update(sums->times, (const guchar *)series->name, -1);
    sums->points += (int64_t)series->count;
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->t_ms[i]))
            g_array_append_val(sums->t_ms, series->t_ms[i]);
    g_checksum_update(sums->values, (const guchar *)series->value,
                      (gssize)(series->count * sizeof *series->value));
    g_checksum_update(sums->times, (const guchar *)series->t_ms,
                      (gssize)(series->count * sizeof *series->t_ms));
}

static bool sum_points(struct orch_store *store, int64_t run_id, struct sums *sums, GError **error)
{
    g_autoptr(GPtrArray) summaries = orch_store_own_summaries(store, run_id, error);
    for (guint i = 0; summaries && i < summaries->len; i++) {
        const struct orch_metric_summary *summary = summaries->pdata[i];
        struct orch_series *series = orch_store_series(store, run_id, summary->name, error);
        if (!series)
            return false;
        add_series(sums, series);
        orch_series_free(series);
    }
    return summaries;
}

static json_t *run_facts(struct orch_store *store, const struct orch_run *run, GError **error)
{
    struct sums sums = {g_checksum_new(G_CHECKSUM_SHA256), g_checksum_new(G_CHECKSUM_SHA256),
                        g_array_new(FALSE, FALSE, sizeof(double)), 0};
    json_t *out = NULL;
    if (sum_points(store, run->id, &sums, error)) {
        g_autofree char *wall = g_strdup_printf("%a", run->wall_ms);
        g_autofree char *started = g_strdup_printf("%" G_GINT64_FORMAT, run->started_ns);
        out = json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:i, s:s?, s:s, s:s, s:o, s:I, s:o, s:s, s:s}", "key",
            run->key, "digest", run->digest, "fingerprint", run->fingerprint, "who", run->who,
            "experiment", run->experiment, "repeat", run->repeat, "machine", run->machine_key,
            "started", started, "wall", wall, "wall_ms",
            orch_json_finite(isfinite(run->wall_ms) ? run->wall_ms : 0.0), "points",
            (json_int_t)sums.points, "times_bits", orch_json_finite(surprise(sums.t_ms)), "values",
            g_checksum_get_string(sums.values), "times", g_checksum_get_string(sums.times));
    }
    g_checksum_free(sums.values);
    g_checksum_free(sums.times);
    g_array_unref(sums.t_ms);
    return out;
}

json_t *orch_pack_facts(const struct orch_pack *pack, GError **error)
{
    struct orch_store *store = orch_store_open(pack->db, ORCH_STORE_READ, error);
    struct orch_run_query query = {.with_hidden = true, .oldest_first = true};
    g_autoptr(GPtrArray) runs = store ? orch_store_runs(store, &query, NULL, error) : NULL;
    json_t *out = runs ? json_array() : NULL;
    for (guint i = 0; runs && out && i < runs->len; i++) {
        json_t *facts = run_facts(store, runs->pdata[i], error);
        if (facts)
            json_array_append_new(out, facts);
        else
            g_clear_pointer(&out, json_decref);
    }
    orch_store_close(store);
    return out;
}
