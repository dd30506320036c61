/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the metrics that the line of a running trial shows. */
#include "core/schedule/schedule.h"

#include "lib/base/unit.h"
#include "lib/wire/printed_words.h"

#include <string.h>

enum rank { REPORTED, DECLARED, USUAL, OTHER, SECONDARY };

static bool is_one_of(const char *word, const char *const *words)
{
    return g_strv_contains(words, word);
}

static const char *last_word(const char *name)
{
    const char *last = name;
    for (; *name; name++)
        if (strchr("_/.", *name))
            last = name + 1;
    return last;
}

/* Times, counters and settings: what a program prints beside its results. */
static bool is_secondary(const struct orch_metric_spec *spec, const char *name)
{
    static const char *const words[] = {
        "time",    "elapsed", "eta",   "seconds", "s",       "ms",    "lr",       "epoch", "step",
        "samples", "tokens",  "size",  "layer",   "layers",  "head",  "heads",    "embd",  "seed",
        "workers", "epochs",  "iters", "steps",   "dropout", "decay", "momentum", NULL};
    bool is_rate;
    return is_one_of(last_word(name), words) ||
           (spec && orch_unit_is_timing(spec->unit, &is_rate) && !is_rate);
}

/* True when a part of the name is one that training programs commonly use: loss_train, train/loss.
 */
static bool is_usual(const char *name)
{
    g_auto(GStrv) parts = g_strsplit_set(name, "_/.", -1);
    for (char **part = parts; *part; part++)
        if (orch_printed_name_is_usual(*part))
            return true;
    return false;
}

/* True when an item of the report names the metric as its value, alone or as a part of a formula.
 */
static bool is_reported(const struct orch_expansion *expansion, const char *name)
{
    for (guint i = 0; i < expansion->report->len; i++) {
        const struct orch_report_item *item = expansion->report->pdata[i];
        const json_t *value = json_object_get(item->spec, "value");
        g_autofree char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
        const char *at = text ? strstr(text, name) : NULL;
        size_t n = strlen(name);
        if (at && at > text && !g_ascii_isalnum(at[-1]) && !g_ascii_isalnum(at[n]) && at[n] != '_')
            return true;
    }
    return false;
}

unsigned orch_running_rank(const struct orch_running *running,
                           const struct orch_expansion *expansion, const char *name)
{
    const struct orch_manifest *manifest = running->item->cell->experiment->manifest;
    const struct orch_metric_spec *spec = orch_manifest_metric(manifest, name);
    if (is_reported(expansion, name))
        return REPORTED;
    if (is_secondary(spec, name))
        return SECONDARY;
    if (spec)
        return DECLARED;
    return is_usual(name) ? USUAL : OTHER;
}

void orch_running_show(struct orch_running *running, const struct orch_expansion *expansion,
                       const char *metric, double value)
{
    struct orch_running_value *values = running->values;
    for (unsigned i = 0; i < running->value_count; i++)
        if (strcmp(values[i].name, metric) == 0) {
            values[i].value = value;
            return;
        }
    unsigned rank = orch_running_rank(running, expansion, metric);
    unsigned at = running->value_count;
    while (at > 0 && values[at - 1].rank > rank)
        at--;
    if (at == ORCH_RUNNING_VALUES)
        return;
    if (running->value_count < ORCH_RUNNING_VALUES)
        running->value_count++;
    memmove(&values[at + 1], &values[at], (running->value_count - at - 1) * sizeof *values);
    g_strlcpy(values[at].name, metric, sizeof values[at].name);
    values[at].value = value;
    values[at].rank = rank;
}
