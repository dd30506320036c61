/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run from elsewhere must be before it is written. The limits are far beyond what a run that
 * was recorded here can have; its digest decides the rest. */
#include "store/join_internal.h"

#include <math.h>
#include <string.h>

/* An exabyte: no artifact is larger, and a number as large can be said of none. */
#define ARTIFACT_BYTES_MAX (INT64_C(1) << 60)

enum { TEXT_MAX = 16 << 20, ROWS_MAX = 100000, RUN_TEXT_MAX = 48 << 20 };

bool store_text_fits(const char *text, size_t most)
{
    if (!text)
        return true;
    size_t length = strnlen(text, most + 1);
    return length <= most && g_utf8_validate(text, (gssize)length, NULL);
}

/** Adds up the texts of a run; `fault` is the first that does not do. */
struct tally {
    size_t bytes;
    char *fault;
};

static void add(struct tally *tally, const char *what, const char *text, size_t most)
{
    if (tally->fault || !text)
        return;
    if (!store_text_fits(text, most))
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
    const struct {
        const char *what, *text;
    } texts[] = {
        {"recipe key", r->recipe_key},
        {"recipe", r->recipe},
        {"experiment", r->experiment},
        {"plugin", r->plugin},
        {"version", r->plugin_version},
        {"build", r->build},
        {"tree", r->source_tree},
        {"commit", r->source_commit},
        {"branch", r->source_branch},
        {"remote", r->source_remote},
        {"fingerprint", r->fingerprint},
        {"place", r->where_key},
        {"state", r->state},
        {"machine", r->machine_key},
        {"author", r->who},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        add(tally, texts[i].what, texts[i].text, STORE_NAME_MAX);
    add(tally, "reason", r->reason, TEXT_MAX);
    add(tally, "description of the machine", r->machine_facts, TEXT_MAX);
    add(tally, "command line", r->argv, TEXT_MAX);
    add(tally, "facts", r->facts, TEXT_MAX);
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
        if (!r->artifacts[i].sha256 || !orch_sha256_is_valid(r->artifacts[i].sha256) ||
            r->artifacts[i].bytes < 0 || r->artifacts[i].bytes > ARTIFACT_BYTES_MAX)
            return "the digest or size of an artifact is none";
    return NULL;
}

static const char *number_fault(const struct orch_record *r)
{
    if (r->started_ns < 0 || r->ended_ns < 0)
        return "its times are before 1970";
    if (r->repeat < 0 || r->attempt < 0 || r->signal < 0)
        return "its repeat, attempt or signal is negative";
    if (isinf(r->wall_ms) || r->wall_ms < 0)
        return "its duration is none";
    return NULL;
}

char *store_record_fault(const struct orch_record *record)
{
    const char *fault = number_fault(record);
    fault = fault ? fault : count_fault(record);
    if (!fault && (!record->state || !*record->state))
        fault = "it has no state";
    if (fault)
        return g_strdup(fault);
    struct tally tally = {0};
    add_head(&tally, record);
    add_rows(&tally, record);
    return tally.fault;
}
