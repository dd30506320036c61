/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/job_parts.h"

#include <string.h>

#define LABEL_CHARS_MAX 63
#define TRIAL_CHARS 16

void orch_job_put(json_t *object, const char *name, const char *text)
{
    if (text)
        json_object_set_new(object, name, json_string(text));
}

void orch_job_put_count(json_t *object, const char *name, int64_t count)
{
    if (count)
        json_object_set_new(object, name, json_integer(count));
}

void orch_job_put_part(json_t *object, const char *name, json_t *part)
{
    if (json_object_size(part) || json_array_size(part))
        json_object_set(object, name, part);
    json_decref(part);
}

char *orch_job_description(const struct orch_job *job)
{
    return g_strdup_printf("orch trial '%s' of recipe '%s', plugin '%s'", job->label, job->recipe,
                           job->plugin);
}

static char *strict_label(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *p = text; *p && out->len < LABEL_CHARS_MAX; p++)
        g_string_append_c(out, g_ascii_isalnum(*p) || *p == '_' ? (char)g_ascii_tolower(*p) : '-');
    return g_string_free(out, FALSE);
}

json_t *orch_job_labels(const struct orch_job *job, bool strict)
{
    g_autofree char *trial = g_strndup(job->fingerprint, TRIAL_CHARS);
    const struct {
        const char *name, *text;
    } labels[] = {{"recipe", job->recipe},
                  {"experiment", job->experiment},
                  {"plugin", job->plugin},
                  {"trial", *trial ? trial : NULL},
                  {"commit", job->commit}};
    json_t *out = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
        if (!labels[i].text)
            continue;
        g_autofree char *label = strict ? strict_label(labels[i].text) : g_strdup(labels[i].text);
        json_object_set_new(out, labels[i].name, json_string(label));
    }
    return out;
}

json_t *orch_job_pairs(const json_t *object, const char *name_key, const char *value_key)
{
    json_t *out = json_array();
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
        json_array_append_new(out, json_pack("{s:s s:O}", name_key, name, value_key, value));
    return out;
}

const char *orch_job_uri_path(const char *uri)
{
    const char *colon = uri ? strstr(uri, "://") : NULL;
    return colon ? colon + 3 : uri;
}
