/* SPDX-License-Identifier: MIT */
#include "core/host/text_metrics.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { LINE_MAX_BYTES = 65536, PAIRS_MAX = 256 };

/* One declared metric. */
struct found_metric {
    const struct orch_metric_spec *spec;
    GRegex *pattern;   /* regex mode; NULL: has none */
    int64_t next_step; /* when a line says none */
};

struct text_metrics {
    enum orch_metrics_from mode;
    struct intake *intake;
    struct found_metric *metrics;
    guint count;
    GString *line;
    bool skipping; /* the line is too long to be looked at */
};

struct text_metrics *text_metrics_new(const struct orch_manifest *manifest, struct intake *intake)
{
    if (manifest->kind != ORCH_PLUGIN_WRAPPED || manifest->metrics_from == ORCH_METRICS_PROTOCOL)
        return NULL;
    struct text_metrics *metrics = g_new0(struct text_metrics, 1);
    metrics->mode = manifest->metrics_from;
    metrics->intake = intake;
    metrics->count = manifest->metrics->len;
    metrics->metrics = g_new0(struct found_metric, metrics->count + 1);
    metrics->line = g_string_new(NULL);
    for (guint i = 0; i < metrics->count; i++) {
        const struct orch_metric_spec *spec = manifest->metrics->pdata[i];
        metrics->metrics[i].spec = spec;
        if (metrics->mode == ORCH_METRICS_REGEX && spec->pattern)
            metrics->metrics[i].pattern =
                g_regex_new(spec->pattern, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
    }
    return metrics;
}

void text_metrics_free(struct text_metrics *metrics)
{
    if (!metrics)
        return;
    for (guint i = 0; i < metrics->count; i++)
        if (metrics->metrics[i].pattern)
            g_regex_unref(metrics->metrics[i].pattern);
    g_free(metrics->metrics);
    g_string_free(metrics->line, TRUE);
    g_free(metrics);
}

/* ---- values -----------------------------------------------------------------------------------
 */

static struct found_metric *find(struct text_metrics *metrics, const char *name)
{
    for (guint i = 0; i < metrics->count; i++)
        if (strcmp(metrics->metrics[i].spec->name, name) == 0)
            return &metrics->metrics[i];
    return NULL;
}

/* Words that count steps and are no metrics themselves, unless declared. */
static bool counts_steps(struct text_metrics *metrics, const char *name)
{
    bool any = metrics->intake->manifest->any_metric;
    return !find(metrics, name) &&
           (strcmp(name, "step") == 0 || (any && g_ascii_strcasecmp(name, "epoch") == 0) ||
            (any && g_ascii_strcasecmp(name, "step") == 0));
}

/* As find; under `metrics: any` a new name ("Accuracy" as "accuracy") is taken in. */
static struct found_metric *find_or_adopt(struct text_metrics *metrics, const char *name)
{
    struct found_metric *found = find(metrics, name);
    if (found || !metrics->intake->manifest->any_metric || counts_steps(metrics, name))
        return found;
    g_autofree char *lower = g_ascii_strdown(name, -1);
    const struct orch_metric_spec *spec = intake_metric(metrics->intake, lower);
    if (!spec)
        return NULL;
    if ((found = find(metrics, lower)))
        return found;
    metrics->metrics = g_renew(struct found_metric, metrics->metrics, metrics->count + 1);
    metrics->metrics[metrics->count] = (struct found_metric){.spec = spec};
    return &metrics->metrics[metrics->count++];
}

/* A number as programs print it, nan and inf included. */
static bool parse_number(const char *text, double *out)
{
    if (orch_real_parse(text, out))
        return true;
    static const struct {
        const char *text;
        double value;
    } words[] = {{"nan", NAN},        {"-nan", NAN},          {"inf", INFINITY},
                 {"-inf", -INFINITY}, {"infinity", INFINITY}, {"-infinity", -INFINITY}};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(text, words[i].text) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

/* `step` below 0: the line says none, so this metric's points are counted. */
static void report(struct text_metrics *metrics, struct found_metric *metric, int64_t step,
                   double value)
{
    int64_t at = step >= 0 ? step : metric->next_step;
    metric->next_step = at + 1;
    intake_value(metrics->intake, metric->spec, at, value);
}

static int64_t step_of(double value)
{
    return value >= 0 && value < 9e15 && floor(value) == value ? (int64_t)value : -1;
}

/* ---- lines: JSON objects ----------------------------------------------------------------------
 */

static bool take_object(struct text_metrics *metrics, const char *line, size_t length)
{
    if (line[0] != '{')
        return false;
    g_autoptr(json_t) object = orch_json_parse(line, length, LINE_MAX_BYTES, NULL);
    if (!json_is_object(object))
        return false;
    double number;
    int64_t step = -1;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (counts_steps(metrics, name) && orch_json_get_real(value, &number))
            step = step_of(number);
    }
    json_object_foreach(object, name, value)
    {
        struct found_metric *metric = find_or_adopt(metrics, name);
        if (metric && orch_json_get_real(value, &number))
            report(metrics, metric, step, number);
    }
    return true;
}

/* ---- lines: pairs -----------------------------------------------------------------------------
 */

struct pair {
    char *name;
    double value;
};

/* Finds "name value", "name=value" and "name: value" among the words of a line; cuts `line` up. */
static unsigned find_pairs(char *line, struct pair pairs[PAIRS_MAX])
{
    static const char separators[] = " \t\r,;=:|";
    unsigned count = 0;
    char *name = NULL, *state = NULL;
    for (char *word = strtok_r(line, separators, &state); word && count < PAIRS_MAX;
         word = strtok_r(NULL, separators, &state)) {
        double value;
        if (name && parse_number(word, &value)) {
            pairs[count++] = (struct pair){name, value};
            name = NULL;
        } else {
            name = word;
        }
    }
    return count;
}

static void take_pairs(struct text_metrics *metrics, char *line)
{
    struct pair pairs[PAIRS_MAX];
    unsigned count = find_pairs(line, pairs);
    int64_t step = -1;
    for (unsigned i = 0; i < count; i++)
        if (counts_steps(metrics, pairs[i].name))
            step = step_of(pairs[i].value);
    for (unsigned i = 0; i < count; i++) {
        struct found_metric *metric = find_or_adopt(metrics, pairs[i].name);
        if (metric)
            report(metrics, metric, step, pairs[i].value);
    }
}

/* ---- expressions ------------------------------------------------------------------------------
 */

static void take_matches(struct text_metrics *metrics, const char *line, size_t length)
{
    for (guint i = 0; i < metrics->count; i++) {
        struct found_metric *metric = &metrics->metrics[i];
        GMatchInfo *match = NULL;
        double value;
        if (metric->pattern &&
            g_regex_match_full(metric->pattern, line, (gssize)length, 0, 0, &match, NULL)) {
            g_autofree char *text = g_match_info_fetch(match, 1);
            if (text && parse_number(text, &value))
                report(metrics, metric, -1, value);
        }
        if (match)
            g_match_info_free(match);
    }
}

/* ---- the stream -------------------------------------------------------------------------------
 */

static void take_line(struct text_metrics *metrics)
{
    GString *line = metrics->line;
    if (!metrics->skipping && line->len) {
        if (metrics->mode == ORCH_METRICS_REGEX)
            take_matches(metrics, line->str, line->len);
        else if (!take_object(metrics, line->str, line->len))
            take_pairs(metrics, line->str);
    }
    g_string_truncate(line, 0);
    metrics->skipping = false;
}

void text_metrics_feed(struct text_metrics *metrics, const char *bytes, size_t length)
{
    while (metrics && length) {
        const char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length;
        if (metrics->line->len + part > LINE_MAX_BYTES)
            metrics->skipping = true;
        if (!metrics->skipping)
            g_string_append_len(metrics->line, bytes, (gssize)part);
        if (!newline)
            return;
        take_line(metrics);
        bytes += part + 1;
        length -= part + 1;
    }
}

void text_metrics_finish(struct text_metrics *metrics)
{
    if (metrics)
        take_line(metrics);
}
