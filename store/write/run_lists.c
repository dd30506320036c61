/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/run_lists.h"

#include <string.h>

#define NAME(type, member)                                                                         \
    {                                                                                              \
#member, STORE_VALUE_NAME, offsetof(struct type, member)                                   \
    }
#define TEXT(type, member)                                                                         \
    {                                                                                              \
#member, STORE_VALUE_TEXT, offsetof(struct type, member)                                   \
    }
#define INT64(type, member)                                                                        \
    {                                                                                              \
#member, STORE_VALUE_INT64, offsetof(struct type, member)                                  \
    }
#define REAL(type, member)                                                                         \
    {                                                                                              \
#member, STORE_VALUE_REAL, offsetof(struct type, member)                                   \
    }

static const struct store_member PARAM[] = {
    NAME(orch_named_text, name), NAME(orch_named_text, type), NAME(orch_named_text, value), {0}};
static const struct store_member INPUT[] = {
    NAME(orch_input_row, name), TEXT(orch_input_row, from_key), TEXT(orch_input_row, sha256), {0}};
static const struct store_member RESULT[] = {NAME(store_result, name),
                                             NAME(store_result, unit),
                                             NAME(store_result, better),
                                             REAL(store_result, value),
                                             {0}};
static const struct store_member ARTIFACT[] = {NAME(orch_artifact_row, name),
                                               NAME(orch_artifact_row, sha256),
                                               INT64(orch_artifact_row, bytes),
                                               {0}};

/* `a` and `b`: the columns behind the name; `more`: of further ones, their names, a place for each
 * and what replaces them. */
#define KIND(table, a, b, more, place, update, type, members_)                                     \
    {                                                                                              \
        .plural = table "s",                                                                       \
        .of_run = "SELECT name, " a ", " b more " FROM " table " WHERE run = ? ORDER BY name",     \
        .from_run = "SELECT run, name, " a ", " b more " FROM " table                              \
                    " WHERE run >= ?1 ORDER BY run, name",                                         \
        .put = "INSERT INTO " table "(run, name, " a ", " b more ") VALUES(?, ?, ?, ?" place ")"   \
               " ON CONFLICT DO UPDATE SET " a " = excluded." a ", " b " = excluded." b update,    \
        .remove = "DELETE FROM " table " WHERE run = ?", .row_bytes = sizeof(struct type),         \
        .members = members_,                                                                       \
    }

const struct store_row_kind store_row_kinds[STORE_ROWS] = {
    [STORE_PARAMS] = KIND("param", "type", "value", "", "", "", orch_named_text, PARAM),
    [STORE_INPUTS] = KIND("input", "from_key", "sha256", "", "", "", orch_input_row, INPUT),
    [STORE_RESULTS] = KIND("result", "unit", "better", ", value", ", ?", ", value = excluded.value",
                           store_result, RESULT),
    [STORE_ARTIFACTS] =
        KIND("artifact", "sha256", "bytes", "", "", "", orch_artifact_row, ARTIFACT),
};

struct orch_metric_row orch_store_declared(const struct orch_record *record, const char *name)
{
    struct orch_metric_row row = {name, "", "none"};
    for (size_t i = 0; i < record->metric_count; i++) {
        if (strcmp(record->metrics[i].name, name) != 0)
            continue;
        row.unit = record->metrics[i].unit ? record->metrics[i].unit : row.unit;
        row.better = record->metrics[i].better ? record->metrics[i].better : row.better;
        break;
    }
    return row;
}

static struct store_result *results_of(const struct orch_record *record)
{
    struct store_result *results = g_new(struct store_result, record->result_count);
    for (size_t i = 0; i < record->result_count; i++) {
        struct orch_metric_row row = orch_store_declared(record, record->results[i].name);
        results[i] =
            (struct store_result){row.name, record->results[i].value, row.unit, row.better};
    }
    return results;
}

const void *orch_store_rows_of_record(const struct orch_record *record, enum store_rows kind,
                                      size_t *out_count, void **out_own)
{
    *out_own = NULL;
    switch (kind) {
    case STORE_PARAMS:
        *out_count = record->param_count;
        return record->params;
    case STORE_INPUTS:
        *out_count = record->input_count;
        return record->inputs;
    case STORE_ARTIFACTS:
        *out_count = record->artifact_count;
        return record->artifacts;
    default:
        *out_count = record->result_count;
        return *out_own = results_of(record);
    }
}
