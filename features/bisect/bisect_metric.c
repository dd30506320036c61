/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_metric.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

/* Words of names that tell which direction is better. */
static const struct {
    const char *word;
    bool is_max;
} WORDS[] = {{"loss", false},     {"error", false},  {"err", false},      {"perplexity", false},
             {"ppl", false},      {"nll", false},    {"mse", false},      {"rmse", false},
             {"mae", false},      {"time", false},   {"seconds", false},  {"s", false},
             {"ms", false},       {"us", false},     {"ns", false},       {"latency", false},
             {"bytes", false},    {"memory", false}, {"accuracy", true},  {"acc", true},
             {"top1", true},      {"top5", true},    {"precision", true}, {"recall", true},
             {"f1", true},        {"auc", true},     {"auroc", true},     {"iou", true},
             {"miou", true},      {"dice", true},    {"map", true},       {"reward", true},
             {"throughput", true}};

/* The last word that is known decides: "error_recall" is a recall. */
static bool direction_of(const char *name, bool *out_is_max)
{
    g_auto(GStrv) words = g_strsplit_set(name, "_./- ", -1);
    bool is_known = false;
    for (int i = 0; words[i]; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(WORDS); k++)
            if (g_ascii_strcasecmp(words[i], WORDS[k].word) == 0) {
                *out_is_max = WORDS[k].is_max;
                is_known = true;
            }
    if (strstr(name, "_per_s")) /* images_per_s */
        *out_is_max = true;
    return is_known;
}

bool orch_bisect_metric_direct(struct orch_bisect_metric *metric, bool min, bool max,
                               GError **error)
{
    if (min && max) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give one of them",
                       "options '--min' and '--max' cannot be combined");
        return false;
    }
    metric->is_max = max;
    if (min || max || direction_of(metric->name, &metric->is_max))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "--min: the smaller the better; --max: the larger the better",
                   "which values of '%s' are better is not known", metric->name);
    return false;
}

bool orch_bisect_metric_is_timing(const struct orch_bisect_metric *metric)
{
    return strcmp(metric->name, "wall_s") == 0 || orch_unit_is_timing(metric->unit, NULL);
}

bool orch_bisect_metric_is_ratio(const struct orch_bisect_metric *metric, const double *values,
                                 size_t count)
{
    struct orch_metric_kind kind = orch_metric_kind_of(metric->name, metric->unit);
    bool is_ratio = kind.scale == ORCH_SCALE_LOG || orch_bisect_metric_is_timing(metric);
    for (size_t i = 0; i < count; i++)
        is_ratio = is_ratio && values[i] > 0;
    return is_ratio;
}

double orch_bisect_metric_badness(const struct orch_bisect_metric *metric, bool is_ratio,
                                  double value)
{
    double scaled = is_ratio ? log(value) : value;
    return metric->is_max ? -scaled : scaled;
}
