/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/trial_record.h"
#include "store/write/run_fields.h"

#include "lib/base/json.h"

#include <string.h>

/* True for the fields in a trial's record. The command line is stored there as a text; the facts
 * are objects, which the caller reads. */
static bool is_in_trial(const struct store_run_field *field)
{
    return field->kind == STORE_FIELD_TEXT || field->kind == STORE_FIELD_BOOL ||
           field->kind == STORE_FIELD_SEED || field->kind == STORE_FIELD_INT ||
           strcmp(field->text, "argv") == 0;
}

/* The fields of the source code's state are in an object of their own, "source". */
static const char *trial_key(const struct store_run_field *field, bool *out_in_source)
{
    *out_in_source = g_str_has_prefix(field->text, "source_");
    return *out_in_source ? field->shown : field->text;
}

void orch_record_from_trial(const json_t *trial, struct orch_record *out)
{
    for (int i = 0; i < STORE_RUN_FIELD_COUNT; i++) {
        const struct store_run_field *field = &store_run_fields[i];
        void *at = (char *)out + field->in_record;
        if (!is_in_trial(field))
            continue;
        bool in_source;
        const char *key = trial_key(field, &in_source);
        const json_t *object = in_source ? json_object_get(trial, "source") : trial;
        guint64 seed = 0;
        if (field->kind == STORE_FIELD_BOOL) {
            *(bool *)at = json_is_true(json_object_get(object, key));
        } else if (field->kind == STORE_FIELD_SEED) {
            orch_json_get_u64(json_object_get(object, key), &seed);
            *(uint64_t *)at = seed;
        } else if (field->kind == STORE_FIELD_INT) {
            *(int *)at = (int)orch_json_int(object, key, 1);
        } else {
            *(const char **)at = orch_json_text(object, key, NULL);
        }
    }
}

/* `at`: the field of a record. */
static json_t *value_json(enum store_field_kind kind, const void *at)
{
    switch (kind) {
    case STORE_FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case STORE_FIELD_SEED:
        return orch_json_u64(*(const uint64_t *)at);
    case STORE_FIELD_INT:
        return json_integer(*(const int *)at);
    default:
        return json_string(*(const char *const *)at);
    }
}

json_t *orch_record_to_trial(const struct orch_record *record)
{
    json_t *trial = json_object(), *source = json_object();
    for (int i = 0; i < STORE_RUN_FIELD_COUNT; i++) {
        const struct store_run_field *field = &store_run_fields[i];
        const void *at = (const char *)record + field->in_record;
        bool in_source;
        const char *key = trial_key(field, &in_source);
        if (is_in_trial(field) && (!store_field_is_text(field->kind) || *(const char *const *)at))
            json_object_set_new(in_source ? source : trial, key, value_json(field->kind, at));
    }
    if (record->source_tree)
        json_object_set(trial, "source", source);
    json_decref(source);
    return trial;
}
