/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/export_job.h"

#include "lib/base/json.h"

#include <string.h>

#define VALUE_CHARS 60

struct side {
    const struct orch_job_platform *platform;
    json_t *document;
};

/* The value of a field for people: a scalar as it is, anything else as JSON, shortened. */
static char *value_text(const json_t *value)
{
    if (json_is_string(value) && g_utf8_strlen(json_string_value(value), -1) <= VALUE_CHARS)
        return g_strdup(json_string_value(value));
    char *all = json_dumps(value, JSON_ENCODE_ANY);
    g_autofree char *start =
        g_utf8_substring(all ? all : "", 0, MIN(g_utf8_strlen(all ? all : "", -1), VALUE_CHARS));
    bool is_long = all && strlen(start) < strlen(all);
    free(all);
    return g_strconcat(start, is_long ? "..." : "", NULL);
}

static void add_side_row(struct orch_table *table, const struct side *side, unsigned field)
{
    const char *path = side->platform->fields[field];
    const json_t *value = path ? orch_job_lookup(side->document, path) : NULL;
    orch_table_add(table, ORCH_JOB_FIELD_NAMES[field], NULL);
    orch_table_add(table, side->platform->name, NULL);
    orch_table_add(table, path ? path : "-", path ? NULL : json_null());
    if (!value) {
        orch_table_add(table, "-", json_null());
        return;
    }
    g_autofree char *text = value_text(value);
    orch_table_add(table, text, json_deep_copy(value));
}

/* Makes the document, and warns of what it lacks. */
static json_t *document_or_warn(const struct orch_export_job *e,
                                const struct orch_job_platform *platform)
{
    g_autoptr(GError) error = NULL;
    struct orch_job *job = orch_cli_job_make(e, platform, &error);
    json_t *document = platform->make(job);
    if (!error)
        orch_job_schema_check(platform->rules, document, platform->document, &error);
    if (error)
        orch_cli_warn(e->cli, "%s: %s", platform->name, error->message);
    orch_job_free(job);
    return document;
}

void orch_cli_job_compare(const struct orch_export_job *e)
{
    static const char *const headers[] = {"field", "platform", "in the document", "value", NULL};
    struct orch_table *table = orch_table_new(headers);
    g_autoptr(GArray) sides = g_array_new(FALSE, FALSE, sizeof(struct side));
    for (unsigned i = 0; ORCH_JOB_PLATFORMS[i]; i++) {
        struct side side = {ORCH_JOB_PLATFORMS[i], document_or_warn(e, ORCH_JOB_PLATFORMS[i])};
        g_array_append_val(sides, side);
    }
    for (unsigned field = 0; field < ORCH_JOB_FIELDS; field++)
        for (guint i = 0; i < sides->len; i++)
            add_side_row(table, &g_array_index(sides, struct side, i), field);
    orch_cli_table_print(e->cli, table, "fields");
    for (guint i = 0; i < sides->len; i++)
        json_decref(g_array_index(sides, struct side, i).document);
}
