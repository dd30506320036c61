/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves learned predictors as JSON and loads them: questions with their ensembles and intervals,
 * and the landmarks for distances. */
#include "predictors/learn/scenario.h"
#include "predictors/numbers/dense.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------------------------------
 */

static json_t *save_texts(const GPtrArray *texts)
{
    json_t *list = json_array();
    for (guint i = 0; texts && i < texts->len; i++)
        json_array_append_new(list, json_string(texts->pdata[i]));
    return list;
}

static void load_texts(const json_t *saved, const char *name, GPtrArray *out)
{
    const json_t *list = json_object_get(saved, name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        g_ptr_array_add(out, g_strdup(text ? text : ""));
    }
}

/* ---- candidates
 * ------------------------------------------------------------------------------------
 */

static json_t *save_candidate(const struct orch_model_candidate *t)
{
    return json_pack("{s:s, s:o, s:i, s:f, s:f, s:b}", "kind", t->kind ? t->kind->name : "",
                     "knobs", orch_hyperparams_save(&t->hyperparams), "box", (int)t->box, "error",
                     isfinite(t->mean_relative_error) ? t->mean_relative_error : -1.0, "weight",
                     t->weight, "baseline", (int)t->is_baseline);
}

static bool load_candidate(const json_t *saved, struct orch_model_candidate *out, GError **error)
{
    int64_t box;
    const char *kind = orch_load_text(saved, "kind", error);
    *out = (struct orch_model_candidate){0};
    if (!kind || !orch_load_int(saved, "box", 0, ORCH_BOX_COUNT - 1, &box, error) ||
        !orch_load_real(saved, "error", &out->mean_relative_error, error) ||
        !orch_load_real(saved, "weight", &out->weight, error))
        return false;
    out->kind = *kind ? orch_model_find(kind, error) : NULL;
    out->hyperparams = orch_hyperparams_load(json_object_get(saved, "knobs"));
    out->box = (enum orch_learn_box)box;
    out->is_baseline = json_is_true(json_object_get(saved, "baseline"));
    if (out->mean_relative_error < 0)
        out->mean_relative_error = (double)INFINITY;
    return !*kind || out->kind;
}

/* ---- members -----------------------------------------------------------------------------------
 */

static json_t *save_whitebox(const struct orch_whitebox *w)
{
    if (!w)
        return json_null();
    json_t *terms = json_object();
    for (int t = 0; t < w->count; t++)
        json_object_set_new(terms, w->names[t], json_real(w->coefficients[t]));
    return json_pack("{s:f, s:b, s:s*, s:o}", "factor", w->factor, "of_rates", (int)w->is_of_rates,
                     "base", w->base, "terms", terms);
}

/* Keeps the order of the terms; the constant "1" comes first. */
static struct orch_whitebox *load_whitebox(const json_t *saved, GError **error)
{
    const json_t *terms = orch_load_object(saved, "terms", error);
    double factor;
    const char *name;
    json_t *value;
    if (!terms || !orch_load_real(saved, "factor", &factor, error))
        return NULL;
    struct orch_whitebox *w = g_new0(struct orch_whitebox, 1);
    w->factor = factor;
    w->base = orch_whitebox_base(json_string_value(json_object_get(saved, "base")));
    w->is_of_rates = json_is_true(json_object_get(saved, "of_rates"));
    if (json_object_size(terms)) {
        w->names[0] = g_strdup("1");
        w->coefficients[0] = json_number_value(json_object_get(terms, "1"));
        w->count = 1;
    }
    json_object_foreach((json_t *)(uintptr_t)terms, name, value)
    {
        if (strcmp(name, "1") == 0 || w->count == ORCH_WHITE_TERMS_MAX)
            continue;
        w->names[w->count] = g_strdup(name);
        w->coefficients[w->count++] = json_number_value(value);
    }
    return w;
}

/* NULL: not of that box. JSON null: there were no rows to learn from, so it predicts nothing. */
static json_t *save_matched(const struct orch_member *m)
{
    if (m->candidate.box != ORCH_BOX_MATCHED)
        return NULL;
    return m->matched ? orch_matched_save(m->matched) : json_null();
}

static bool load_matched(const json_t *saved, struct orch_member *out, GError **error)
{
    const json_t *matched = json_object_get(saved, "matched");
    if (out->candidate.box != ORCH_BOX_MATCHED || json_is_null(matched))
        return true;
    out->matched = json_is_object(matched) ? orch_matched_load(matched, error) : NULL;
    return out->matched ||
           (!json_is_object(matched) && orch_load_fail("matched", "is missing", error));
}

static json_t *save_member(const struct orch_member *m, enum orch_save_style style)
{
    return json_pack("{s:o, s:o, s:o, s:o*, s:f, s:f}", "trial", save_candidate(&m->candidate),
                     "white", save_whitebox(m->white), "model",
                     m->model ? orch_model_save(m->model, style) : json_null(), "matched",
                     save_matched(m), "low", m->low, "high", m->high);
}

static bool load_member(const json_t *saved, struct orch_member *out, GError **error)
{
    const json_t *white = json_object_get(saved, "white"), *model = json_object_get(saved, "model");
    *out = (struct orch_member){0};
    const json_t *candidate = orch_load_object(saved, "trial", error);
    if (!candidate || !load_candidate(candidate, &out->candidate, error) ||
        !orch_load_real(saved, "low", &out->low, error) ||
        !orch_load_real(saved, "high", &out->high, error))
        return false;
    if (!json_is_object(white) && !json_is_object(model))
        return orch_load_fail("model", "is missing", error);
    if (json_is_object(white) && !(out->white = load_whitebox(white, error)))
        return false;
    if (json_is_object(model) && !(out->model = orch_model_load(model, error)))
        return false;
    if (!load_matched(saved, out, error))
        return false;
    bool is_black = out->candidate.box == ORCH_BOX_BLACK || out->candidate.box == ORCH_BOX_PLAIN;
    return is_black || out->white || orch_load_fail("white", "is missing", error);
}

/* ---- intervals ---------------------------------------------------------------------------------
 */

static json_t *save_interval(const struct orch_conformal *w, enum orch_save_style style)
{
    return json_pack("{s:o, s:f}", "difficulty",
                     w->difficulty ? orch_model_save(w->difficulty, style) : json_null(), "factor",
                     w->factor);
}

static bool load_interval(const json_t *saved, struct orch_conformal *out, GError **error)
{
    const json_t *difficulty = json_object_get(saved, "difficulty");
    if (!saved || !orch_load_real(saved, "factor", &out->factor, error))
        return false;
    return !json_is_object(difficulty) || (out->difficulty = orch_model_load(difficulty, error));
}

/* ---- questions ---------------------------------------------------------------------------------
 */

static json_t *save_scenario(struct orch_scenario *q, enum orch_save_style style)
{
    json_t *candidates = json_array(), *members = json_array(), *o = json_object();
    orch_scenario_ready(q, NULL);
    for (guint i = 0; i < q->candidates->len; i++)
        json_array_append_new(candidates, save_candidate(&g_array_index(
                                              q->candidates, struct orch_model_candidate, i)));
    for (int i = 0; i < q->member_count; i++)
        json_array_append_new(members, save_member(&q->members[i], style));
    json_object_set_new(o, "column", orch_json_text_or_null(q->column));
    json_object_set_new(o, "known", save_texts(q->known));
    json_object_set_new(o, "few", save_texts(q->few));
    json_object_set_new(o, "hidden", save_texts(q->hidden));
    json_object_set_new(o, "facts", save_texts(q->facts));
    json_object_set_new(o, "baseline", json_boolean(q->is_baseline));
    json_object_set_new(o, "lone", json_boolean(q->has_one_group));
    json_object_set_new(o, "error", json_real(isfinite(q->error) ? q->error : -1));
    json_object_set_new(o, "median", json_real(isfinite(q->median) ? q->median : -1));
    json_object_set_new(o, "judged", json_integer((json_int_t)q->heldout_rows));
    json_object_set_new(o, "width", save_interval(&q->interval, style));
    json_object_set_new(o, "trials", candidates);
    json_object_set_new(o, "members", members);
    return o;
}

static bool load_candidates(struct orch_scenario *q, const json_t *saved, GError **error)
{
    const json_t *candidates = orch_load_list(saved, "trials", error);
    for (size_t i = 0; i < json_array_size(candidates); i++) {
        struct orch_model_candidate candidate;
        if (!load_candidate(json_array_get(candidates, i), &candidate, error))
            return false;
        g_array_append_val(q->candidates, candidate);
    }
    return candidates;
}

/* The large part: interval and members. */
static bool load_members(struct orch_scenario *q, const json_t *saved, GError **error)
{
    const json_t *members = orch_load_list(saved, "members", error);
    if (!members || !load_interval(json_object_get(saved, "width"), &q->interval, error))
        return false;
    if (!json_array_size(members) || json_array_size(members) > ORCH_MEMBERS_MAX)
        return orch_load_fail("members", "has the wrong length", error);
    for (size_t i = 0; i < json_array_size(members); i++)
        if (!load_member(json_array_get(members, i), &q->members[q->member_count++], error))
            return false;
    return true;
}

static bool load_question(struct orch_scenario *q, const json_t *saved, GError **error)
{
    int64_t heldout_rows;
    load_texts(saved, "known", q->known);
    load_texts(saved, "few", q->few);
    load_texts(saved, "hidden", q->hidden);
    load_texts(saved, "facts", q->facts);
    q->is_baseline = json_is_true(json_object_get(saved, "baseline"));
    q->has_one_group = json_is_true(json_object_get(saved, "lone"));
    if (!orch_load_real(saved, "error", &q->error, error) ||
        !orch_load_real(saved, "median", &q->median, error) ||
        !orch_load_int(saved, "judged", 0, INT64_MAX, &heldout_rows, error))
        return false;
    q->heldout_rows = (size_t)heldout_rows;
    q->error = q->error < 0 ? (double)INFINITY : q->error;
    q->median = q->median < 0 ? (double)NAN : q->median;
    return load_candidates(q, saved, error) &&
           (json_is_true(json_object_get(saved, "behind")) || load_members(q, saved, error));
}

bool orch_scenario_ready(struct orch_scenario *q, GError **error)
{
    if (!q->deferred)
        return true;
    json_t *saved = json_loads(q->deferred, 0, NULL);
    bool ok = load_members(q, saved, error);
    json_decref(saved);
    if (ok) {
        g_clear_pointer(&q->deferred, g_free);
        return true;
    }
    for (int i = 0; i < q->member_count; i++)
        orch_member_release(&q->members[i]);
    q->member_count = 0;
    orch_conformal_release(&q->interval);
    return false;
}

bool orch_learned_ready(struct orch_learned *l, GError **error)
{
    for (int k = 0; k < l->count; k++)
        if (!orch_scenario_ready(l->scenarios[k], error))
            return false;
    return true;
}

/* ---- nearness ----------------------------------------------------------------------------------
 */

static json_t *save_nearness(const struct orch_nearness *n, enum orch_save_style style)
{
    json_t *ranges = json_array();
    for (guint k = 0; k < n->ranges->len; k++) {
        const struct orch_range *r = &g_array_index(n->ranges, struct orch_range, k);
        json_array_append_new(ranges, json_pack("{s:s, s:f, s:f, s:f}", "name", r->name, "low",
                                                r->low, "high", r->high, "reach", r->reach));
    }
    return json_pack("{s:o, s:o, s:f, s:o}", "coder", orch_coder_save(n->coder, style), "landmarks",
                     orch_save_floats(n->landmarks, n->count * (size_t)n->cols, style), "usual",
                     n->usual, "ranges", ranges);
}

static bool load_ranges(struct orch_nearness *n, const json_t *saved, GError **error)
{
    const json_t *ranges = orch_load_list(saved, "ranges", error);
    n->ranges = orch_ranges_new();
    for (size_t k = 0; k < json_array_size(ranges); k++) {
        const json_t *one = json_array_get(ranges, k);
        struct orch_range range = {0};
        const char *name = orch_load_text(one, "name", error);
        if (!name || !orch_load_real(one, "low", &range.low, error) ||
            !orch_load_real(one, "high", &range.high, error) ||
            !orch_load_real(one, "reach", &range.reach, error))
            return false;
        if (!(range.low >= 0) || !(range.high >= range.low) || !(range.reach > 0))
            return orch_load_fail("ranges", "are inconsistent", error);
        range.name = g_strdup(name);
        g_array_append_val(n->ranges, range);
    }
    return ranges != NULL;
}

static struct orch_nearness *load_nearness(const json_t *saved, GError **error)
{
    struct orch_nearness *n = g_new0(struct orch_nearness, 1);
    size_t values = SIZE_MAX;
    n->coder = orch_coder_load(json_object_get(saved, "coder"), error);
    n->landmarks = n->coder && orch_load_real(saved, "usual", &n->usual, error)
                       ? orch_load_floats(saved, "landmarks", &values, error)
                       : NULL;
    n->cols = n->coder ? orch_coder_cols(n->coder) : 0;
    bool ok = n->landmarks && n->usual > 0 && (n->cols ? values % (size_t)n->cols == 0 : !values);
    bool ranges_ok = load_ranges(n, saved, ok ? error : NULL);
    n->count = ok && n->cols ? values / (size_t)n->cols : 0;
    n->norms = g_new(float, MAX(n->count, 1));
    for (size_t k = 0; k < n->count; k++) {
        const float *landmark = n->landmarks + k * (size_t)n->cols;
        n->norms[k] = orch_dot_float(landmark, landmark, (size_t)n->cols);
    }
    if (ok && ranges_ok)
        return n;
    if (n->landmarks && !ok)
        orch_load_fail("landmarks", "are inconsistent", error);
    orch_nearness_free(n);
    return NULL;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

char *orch_learned_save_deferred(json_t *saved)
{
    GString *lines = g_string_new(NULL);
    size_t k;
    json_t *question;
    json_array_foreach(json_object_get(saved, "questions"), k, question)
    {
        if (!k)
            continue;
        json_t *heavy = json_pack("{s:O, s:O}", "members", json_object_get(question, "members"),
                                  "width", json_object_get(question, "width"));
        char *text = json_dumps(heavy, JSON_COMPACT);
        g_string_append_printf(lines, "\n%s", text);
        free(text);
        json_decref(heavy);
        json_object_del(question, "members");
        json_object_del(question, "width");
        json_object_set_new(question, "behind", json_true());
    }
    return g_string_free(lines, FALSE);
}

bool orch_learned_load_deferred(struct orch_learned *l, char *const *lines, GError **error)
{
    for (int k = 1; k < l->count; k++) {
        if (l->scenarios[k]->member_count)
            continue;
        if (!*lines)
            return orch_load_fail("members", "are missing", error);
        l->scenarios[k]->deferred = g_strdup(*lines++);
    }
    return true;
}

json_t *orch_learned_save(const struct orch_learned *l, enum orch_save_style style)
{
    json_t *scenarios = json_array();
    for (int i = 0; i < l->count; i++)
        json_array_append_new(scenarios, save_scenario(l->scenarios[i], style));
    return json_pack("{s:o, s:o}", "questions", scenarios, "nearness",
                     save_nearness(l->nearness, style));
}

struct orch_learned *orch_learned_load(const json_t *saved, GError **error)
{
    struct orch_learned *l = g_new0(struct orch_learned, 1);
    const json_t *scenarios = orch_load_list(saved, "questions", error);
    size_t count = json_array_size(scenarios);
    bool ok = scenarios && ((count > 0 && count <= ORCH_SCENARIOS_MAX) ||
                            orch_load_fail("questions", "has the wrong length", error));
    for (size_t i = 0; ok && i < count; i++) {
        const json_t *question = json_array_get(scenarios, i);
        const char *column = json_string_value(json_object_get(question, "column"));
        l->scenarios[l->count++] = orch_scenario_new(column);
        ok = (i == 0 || column || orch_load_fail("column", "is missing", error)) &&
             load_question(l->scenarios[i], question, error);
    }
    l->nearness = ok ? load_nearness(json_object_get(saved, "nearness"), error) : NULL;
    if (l->nearness)
        return l;
    orch_learned_free(l);
    return NULL;
}
