/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a run from elsewhere before it is written. The limits are far beyond those of a run that
 * is recorded locally; all else is verified by the digest. */
#include "store/join/join_internal.h"
#include "store/write/run_fields.h"

#include "lib/base/json.h"
#include "lib/wire/bounds.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 16 << 20, ROWS_MAX = 100000, RUN_TEXT_MAX = 48 << 20 };

bool orch_store_text_fits(const char *text, size_t most)
{
    if (!text)
        return true;
    size_t length = strnlen(text, most + 1);
    return length <= most && g_utf8_validate(text, (gssize)length, NULL);
}

/** Sums the bytes of a run's texts; `fault` describes the first invalid one. */
struct tally {
    size_t bytes;
    char *fault;
};

static void add(struct tally *tally, const char *what, const char *text, size_t most)
{
    if (tally->fault || !text)
        return;
    if (!orch_store_text_fits(text, most))
        tally->fault = g_strdup_printf("its %s is not UTF-8 or longer than %zu bytes", what, most);
    else
        tally->bytes += strlen(text);
    if (!tally->fault && tally->bytes > RUN_TEXT_MAX)
        tally->fault = g_strdup_printf("its texts are longer than %d MiB", RUN_TEXT_MAX >> 20);
}

static void add_name(struct tally *tally, const char *what, const char *name)
{
    if (!name && !tally->fault)
        tally->fault = g_strdup_printf("a %s has no name", what);
    add(tally, what, name, STORE_NAME_MAX);
}

static void add_head(struct tally *tally, const struct orch_record *r)
{
    for (int i = 0; i < STORE_RUN_FIELD_COUNT; i++) {
        const struct store_run_field *field = &store_run_fields[i];
        bool is_short = field->kind == STORE_FIELD_NAME || field->kind == STORE_FIELD_TEXT;
        if (store_field_is_text(field->kind))
            add(tally, field->what, *(const char *const *)((const char *)r + field->in_record),
                is_short ? STORE_NAME_MAX : TEXT_MAX);
    }
}

static void add_rows(struct tally *tally, const struct orch_record *r)
{
    for (size_t i = 0; i < r->param_count; i++) {
        add_name(tally, "parameter", r->params[i].name);
        add_name(tally, "parameter's type", r->params[i].type);
        add(tally, "parameter", r->params[i].value ? r->params[i].value : "\xff", TEXT_MAX);
    }
    for (size_t i = 0; i < r->input_count; i++) {
        add_name(tally, "input", r->inputs[i].name);
        add(tally, "input", r->inputs[i].from_key, STORE_NAME_MAX);
        add(tally, "input", r->inputs[i].sha256, STORE_NAME_MAX);
    }
    for (size_t i = 0; i < r->result_count; i++)
        add_name(tally, "result", r->results[i].name);
    for (size_t i = 0; i < r->artifact_count; i++)
        add_name(tally, "artifact", r->artifacts[i].name);
    for (size_t i = 0; i < r->metric_count; i++) {
        add_name(tally, "metric", r->metrics[i].name);
        add(tally, "metric's unit", r->metrics[i].unit, STORE_NAME_MAX);
        add(tally, "metric's direction", r->metrics[i].better, STORE_NAME_MAX);
    }
}

static const char *count_fault(const struct orch_record *r)
{
    if (r->param_count > ROWS_MAX || r->input_count > ROWS_MAX || r->result_count > ROWS_MAX ||
        r->artifact_count > ROWS_MAX || r->metric_count > ROWS_MAX)
        return "it has more than 100000 rows of one kind";
    for (size_t i = 0; i < r->artifact_count; i++)
        if (!r->artifacts[i].sha256 || !orch_sha256_is_valid(r->artifacts[i].sha256))
            return "the digest of an artifact is not valid";
    return NULL;
}

static char *facts_fault(const char *text)
{
    if (!text || strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
        return NULL;
    g_autoptr(json_t) facts = orch_json_parse(text, strlen(text), TEXT_MAX, NULL);
    return orch_bound_facts_fault(facts);
}

/* Checks that the numbers are in range. A NaN wall time means unknown. */
static char *number_fault(const struct orch_record *r)
{
    const struct {
        enum orch_bounded which;
        double value;
    } numbers[] = {
        {ORCH_BOUNDED_STARTED_NS, (double)r->started_ns},
        {ORCH_BOUNDED_ENDED_NS, (double)r->ended_ns},
        {ORCH_BOUNDED_REPEAT, r->repeat},
        {ORCH_BOUNDED_ATTEMPT, r->attempt},
        {ORCH_BOUNDED_EXIT_CODE, r->exit_code},
        {ORCH_BOUNDED_SIGNAL, r->signal},
        {ORCH_BOUNDED_WALL_MS, isnan(r->wall_ms) ? 0 : r->wall_ms},
    };
    char *fault = NULL;
    for (size_t i = 0; !fault && i < G_N_ELEMENTS(numbers); i++)
        fault = orch_bound_fault(numbers[i].which, numbers[i].value);
    for (size_t i = 0; !fault && i < r->artifact_count; i++)
        fault = orch_bound_fault(ORCH_BOUNDED_BYTES, (double)r->artifacts[i].bytes);
    fault = fault ? fault : facts_fault(r->facts);
    return fault ? fault : facts_fault(r->machine_facts);
}

char *orch_store_record_fault(const struct orch_record *record)
{
    const char *fault = count_fault(record);
    if (!fault && (!record->state || !*record->state))
        fault = "it has no state";
    if (fault)
        return g_strdup(fault);
    g_autofree char *number = number_fault(record);
    if (number)
        return g_strdup_printf("its %s", number);
    struct tally tally = {0};
    add_head(&tally, record);
    add_rows(&tally, record);
    return tally.fault;
}
