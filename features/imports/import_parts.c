/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/imports/import_json.h"

#include "lib/loggers/log_values.h"

#include <math.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 << 20 };

bool orch_import_number(const json_t *value, double *out)
{
    if (json_is_string(value))
        return orch_log_number(json_string_value(value), out) && !isfinite(*out);
    *out = json_number_value(value);
    return json_is_number(value);
}

/* The value as text, without the quotes of a JSON string. The caller frees. */
static char *text_of(const json_t *value)
{
    return json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
}

void orch_import_add_param(struct orch_imported_run *run, const char *name, const json_t *value)
{
    g_autofree char *text = value ? text_of(value) : NULL;
    if (text)
        orch_imported_param(run, name, text);
}

void orch_import_add_label(struct orch_imported_run *run, const char *name, const json_t *value)
{
    g_autofree char *text = value && !json_is_null(value) ? text_of(value) : NULL;
    if (text)
        orch_imported_label(run, name, text);
}

void orch_import_add_result(struct orch_imported_run *run, const char *name, const json_t *value)
{
    double number;
    if (orch_import_number(value, &number))
        orch_imported_result(run, name, number);
}

/* Adds the members of an object, those of inner objects as "a.b". */
void orch_import_members(struct orch_imported_run *run, const char *prefix, const json_t *object,
                         int depth, orch_import_add *add)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        g_autofree char *name =
            *prefix ? g_strdup_printf("%.*s.%s", ORCH_IMPORTED_LABEL_MAX, prefix, key)
                    : g_strdup(key);
        if (json_object_size(value) && depth < ORCH_IMPORT_DEPTH_MAX)
            orch_import_members(run, name, value, depth + 1, add);
        else
            add(run, name, value);
    }
}

void orch_import_series(struct orch_imported_run *run, const char *name, const json_t *series)
{
    const json_t *steps = json_object_get(series, "steps"),
                 *values = json_object_get(series, "values");
    const json_t *times = json_object_get(series, "times");
    for (size_t i = 0; i < MIN(json_array_size(steps), json_array_size(values)); i++) {
        const json_t *time = json_array_get(times, i), *step = json_array_get(steps, i);
        double value, at = json_number_value(step);
        if (!orch_import_number(json_array_get(values, i), &value) || !json_is_number(step) ||
            !(fabs(at) < 1e15))
            continue;
        int64_t time_ns = json_is_number(time) ? orch_imported_ns(run, ORCH_BOUNDED_TIME_NS,
                                                                  json_number_value(time), 1e9)
                                               : 0;
        orch_imported_point(run, name, (int64_t)floor(at), time_ns, value);
    }
}

json_t *orch_import_document(const char *folder, const char *name, GPtrArray *warnings)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = orch_import_text(path, FILE_BYTES_MAX, warnings);
    json_t *json = text ? orch_log_json(text, strlen(text), FILE_BYTES_MAX) : NULL;
    if (text && !json)
        orch_import_warn(warnings, "'%s' is not JSON, or cut off", path);
    return json;
}
