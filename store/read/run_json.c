/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/read/run_json.h"
#include "store/write/run_fields.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/trial.h"

#include <string.h>

enum { JSON_BYTES_MAX = 16 << 20 }; /* maximum bytes of facts or a command line */

/* ---- fields -----------------------------------------------------------------------------------
 */

static json_t *parsed(const char *text)
{
    json_t *value = text ? orch_json_parse(text, strlen(text), JSON_BYTES_MAX, NULL) : NULL;
    return value ? value : json_null();
}

static json_t *time_json(int64_t utc_ns)
{
    g_autofree char *text = orch_time_format(utc_ns, true);
    return json_string(text);
}

/* `at`: the field of a run. */
static json_t *value_json(enum store_field_kind kind, const void *at)
{
    switch (kind) {
    case STORE_FIELD_JSON:
        return parsed(*(const char *const *)at);
    case STORE_FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case STORE_FIELD_SEED:
        return orch_json_u64(*(const uint64_t *)at);
    case STORE_FIELD_INT:
    case STORE_FIELD_EXIT:
    case STORE_FIELD_SIGNAL:
        return json_integer(*(const int *)at);
    case STORE_FIELD_TIME:
        return time_json(*(const int64_t *)at);
    case STORE_FIELD_MS:
        return orch_json_finite(*(const double *)at / 1e3);
    default:
        return orch_json_text_or_null(*(const char *const *)at);
    }
}

/* Of the captured tree; a git tree by SHA-256 has none. */
static json_t *swhid_json(const struct orch_run *run)
{
    bool has_one = run->source_tree && strlen(run->source_tree) == 40;
    return has_one ? json_sprintf("swh:1:dir:%s", run->source_tree) : json_null();
}

static json_t *fact(const char *facts_text, const char *name)
{
    g_autoptr(json_t) facts = parsed(facts_text);
    json_t *value = json_object_get(facts, name);
    return value ? json_incref(value) : json_null();
}

static json_t *setting_json(const struct orch_run *run)
{
    json_t *coords = fact(run->facts, "coords");
    return json_is_object(coords) ? coords : json_object();
}

static json_t *seed31_json(const struct orch_run *run)
{
    return json_integer(orch_trial_seed31(run->seed));
}

static json_t *cpu_json(const struct orch_run *run)
{
    return fact(run->machine_facts, "cpu_model");
}

static json_t *host_json(const struct orch_run *run)
{
    return fact(run->machine_facts, "hostname");
}

static json_t *gpu_json(const struct orch_run *run)
{
    g_autoptr(json_t) gpus = fact(run->machine_facts, "gpus");
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < json_array_size(gpus); i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "",
                               orch_json_text(json_array_get(gpus, i), "model", "?"));
    return text->len ? json_string(text->str) : json_null();
}

/** A field and where its value comes from: a member of struct orch_run, or a function. */
struct field {
    const char *name;
    enum store_field_kind kind;
    size_t offset;
    json_t *(*compute)(const struct orch_run *run); /* NULL: the value is the member */
};

#define FIELD(kind, member, table, column, shown, what)                                            \
    {shown, STORE_FIELD_##kind, offsetof(struct orch_run, member), NULL},
#define MEMBER(kind, member, shown)                                                                \
    {                                                                                              \
        shown, STORE_FIELD_##kind, offsetof(struct orch_run, member), NULL                         \
    }

static const struct field FIELDS[] = {
    STORE_RUN_FIELDS(FIELD) MEMBER(TEXT, digest, "digest"),
    MEMBER(BOOL, hidden, "removed"),
    MEMBER(BOOL, purged, "purged"),
    {"swhid", STORE_FIELD_TEXT, 0, swhid_json},
    {"seed31", STORE_FIELD_INT, 0, seed31_json},
    {"setting", STORE_FIELD_JSON, 0, setting_json},
    {"gpu", STORE_FIELD_TEXT, 0, gpu_json},
    {"cpu", STORE_FIELD_TEXT, 0, cpu_json},
    {"host", STORE_FIELD_TEXT, 0, host_json},
};

const char *orch_run_json_field(size_t index)
{
    return index < G_N_ELEMENTS(FIELDS) ? FIELDS[index].name : NULL;
}

static json_t *field_json(const struct field *field, const struct orch_run *run)
{
    if (field->compute)
        return field->compute(run);
    if (field->offset == offsetof(struct orch_run, source_dirty) && !run->source_tree)
        return json_null(); /* unknown without a captured tree */
    return value_json(field->kind, (const char *)run + field->offset);
}

json_t *orch_run_json_value(const struct orch_run *run, const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FIELDS); i++)
        if (strcmp(FIELDS[i].name, name) == 0)
            return field_json(&FIELDS[i], run);
    return NULL;
}

/* ---- related data -----------------------------------------------------------------------------
 */

static bool put_notes(struct orch_store *store, const struct orch_run *run, json_t *out,
                      GError **error)
{
    GError *problem = NULL;
    g_autoptr(GPtrArray) tags = orch_store_tags(store, run->key, error);
    g_autoptr(GPtrArray) notes = tags ? orch_store_notes(store, run->key, error) : NULL;
    g_autofree char *name = notes ? orch_store_name(store, run->key, &problem) : NULL;
    if (problem)
        g_propagate_error(error, problem);
    if (!notes || problem)
        return false;
    json_t *tag_list = json_array(), *note_list = json_array();
    for (guint i = 0; i < tags->len; i++)
        json_array_append_new(tag_list, json_string(tags->pdata[i]));
    for (guint i = 0; i < notes->len; i++) {
        const struct orch_stored_note *note = notes->pdata[i];
        if (strcmp(note->kind, "note") == 0)
            json_array_append_new(note_list, json_pack("{s:s? s:b}", "text", note->text, "public",
                                                       (int)note->is_public));
    }
    json_object_set_new(out, "name", orch_json_text_or_null(name));
    json_object_set_new(out, "tags", tag_list);
    json_object_set_new(out, "notes", note_list);
    return true;
}

/* Who removed the run, and why; null when it is not removed. */
static bool put_removal(struct orch_store *store, const struct orch_run *run, json_t *out,
                        GError **error)
{
    struct orch_hidden *hidden = run->hidden ? orch_store_hidden(store, run->key, error) : NULL;
    if (run->hidden && !hidden)
        return false;
    json_t *removal = json_null();
    if (hidden) {
        g_autofree char *when = orch_time_format(hidden->made_ns, true);
        removal = json_pack("{s:s? s:s? s:s s:b}", "who", hidden->who, "reason", hidden->why,
                            "when", when, "public", (int)hidden->is_public);
    }
    orch_hidden_free(hidden);
    json_object_set_new(out, "removal", removal);
    return true;
}

static bool put_values(struct orch_store *store, const struct orch_run *run, json_t *out,
                       GError **error)
{
    json_t *params = orch_store_params(store, run->id, error);
    g_autoptr(GPtrArray) rows = params ? orch_store_result_rows(store, run->id, error) : NULL;
    if (!rows) {
        json_decref(params);
        return false;
    }
    json_t *results = json_object(), *units = json_object();
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_stored_result *row = rows->pdata[i];
        json_object_set_new(results, row->name, orch_json_real(row->value));
        if (row->unit && *row->unit)
            json_object_set_new(units, row->name, json_string(row->unit));
    }
    json_object_set_new(out, "params", params);
    json_object_set_new(out, "results", results);
    json_object_set_new(out, "units", units);
    return true;
}

static bool put_files(struct orch_store *store, const struct orch_run *run, json_t *out,
                      GError **error)
{
    g_autoptr(GPtrArray) artifacts = orch_store_artifacts(store, run->id, error);
    g_autoptr(GPtrArray) inputs = artifacts ? orch_store_inputs(store, run->id, error) : NULL;
    if (!inputs)
        return false;
    json_t *artifact_list = json_array(), *input_list = json_array();
    for (guint i = 0; i < artifacts->len; i++) {
        const struct orch_stored_artifact *a = artifacts->pdata[i];
        json_array_append_new(artifact_list,
                              json_pack("{s:s s:s s:I s:b}", "name", a->name, "sha256", a->sha256,
                                        "bytes", (json_int_t)a->bytes, "here", (int)a->here));
    }
    for (guint i = 0; i < inputs->len; i++) {
        const struct orch_stored_input *in = inputs->pdata[i];
        json_array_append_new(input_list, json_pack("{s:s s:s? s:s?}", "name", in->name, "run",
                                                    in->from_key, "sha256", in->sha256));
    }
    json_object_set_new(out, "artifacts", artifact_list);
    json_object_set_new(out, "inputs", input_list);
    return true;
}

json_t *orch_run_json(struct orch_store *store, const struct orch_run *run, GError **error)
{
    json_t *out = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(FIELDS); i++)
        json_object_set_new(out, FIELDS[i].name, field_json(&FIELDS[i], run));
    if (put_notes(store, run, out, error) && put_removal(store, run, out, error) &&
        put_values(store, run, out, error) && put_files(store, run, out, error))
        return out;
    json_decref(out);
    return NULL;
}

json_t *orch_summary_json(const struct orch_metric_summary *m)
{
    return json_pack("{s:s s:s? s:s? s:I s:o s:o s:o s:o s:o s:I s:I s:I}", "name", m->name, "unit",
                     m->unit, "better", m->better, "points", (json_int_t)m->count, "first",
                     orch_json_real(m->first), "last", orch_json_real(m->last), "min",
                     orch_json_real(m->min), "max", orch_json_real(m->max), "mean",
                     orch_json_real(m->mean), "last_step", (json_int_t)m->last_step, "min_step",
                     (json_int_t)m->min_step, "max_step", (json_int_t)m->max_step);
}
