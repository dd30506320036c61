/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_options.h"

#include "core/plan/plan.h"
#include "lib/base/text.h"

#include <math.h>

#define MIB (INT64_C(1) << 20)

/* Rounding keeps trials with nearly equal forecasts in one array, and leaves the scheduler whole
 * minutes to fill. */
static const struct {
    double up_to_s, step_s;
} TIME_STEPS[] = {{600, 60}, {7200, 300}, {86400, 900}, {INFINITY, 3600}};

enum { MEMORY_STEP_MIB = 256, HOST_MIB = 64 };
/* The largest of a few runs is no bound: a quarter more. */
static const double MEMORY_RESERVE = 1.25;
/* Starting orch-host and loading libraries from a cold shared folder. */
static const double START_S = 60;

static unsigned cores_of(const struct orch_experiment *experiment)
{
    return MAX(1u, experiment->cores);
}

char *orch_slurm_place(const struct orch_expansion *expansion,
                       const struct orch_experiment *experiment)
{
    const struct orch_slurm_settings *settings = orch_slurm_settings_of(expansion);
    unsigned gpus = orch_experiment_gpus(experiment);
    GString *text = g_string_new("slurm");
    g_string_append_printf(text, " %s", settings->partition ? settings->partition : "default");
    if (settings->constraint)
        g_string_append_printf(text, " %s", settings->constraint);
    if (gpus)
        g_string_append_printf(text, ", %u GPU%s%s%s", gpus, orch_plural(gpus),
                               settings->gpu_type ? " " : "",
                               settings->gpu_type ? settings->gpu_type : "");
    unsigned cores = cores_of(experiment);
    g_string_append_printf(text, ", %u thread%s", cores, orch_plural(cores));
    return g_string_free(text, FALSE);
}

static double round_time(double seconds)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(TIME_STEPS); i++)
        if (seconds <= TIME_STEPS[i].up_to_s)
            return ceil(seconds / TIME_STEPS[i].step_s) * TIME_STEPS[i].step_s;
    return seconds;
}

double orch_slurm_margin_s(const struct orch_slurm_settings *settings, double time_s)
{
    double margin_s = settings->margin_s >= 0 ? settings->margin_s : ORCH_SLURM_MARGIN_S;
    return time_s > 0 ? fmin(margin_s, time_s / 2) : margin_s;
}

void orch_slurm_request_make(const struct orch_slurm_settings *settings,
                             const struct orch_experiment *experiment, double p95_s,
                             int64_t p95_bytes, struct orch_slurm_request *out)
{
    *out =
        (struct orch_slurm_request){0, 0, "default of the partition", "default of the partition"};
    if (experiment->time_s > 0) {
        out->time_s = experiment->time_s;
        out->time_from = "resources.time";
    } else if (isfinite(p95_s) && p95_s > 0) {
        out->time_s = p95_s + START_S + orch_slurm_margin_s(settings, 0);
        out->time_from = "95 % forecast";
    } else if (settings->time_s > 0) {
        out->time_s = settings->time_s;
        out->time_from = "slurm.time";
    }
    out->time_s = round_time(out->time_s);
    if (experiment->memory_bytes > 0) { /* orch-host ends the trial at its own limit, and says so */
        out->memory_bytes = experiment->memory_bytes + HOST_MIB * MIB;
        out->memory_from = "resources.memory";
    } else if (p95_bytes > 0) {
        int64_t step = MEMORY_STEP_MIB * MIB, need = (int64_t)((double)p95_bytes * MEMORY_RESERVE);
        out->memory_bytes = (need + step - 1) / step * step;
        out->memory_from = "1.25 times the 95 % quantile of earlier runs";
    } else if (settings->memory_bytes > 0) {
        out->memory_bytes = settings->memory_bytes;
        out->memory_from = "slurm.memory";
    }
}

void orch_slurm_request_join(struct orch_slurm_request *request,
                             const struct orch_slurm_request *other)
{
    /* 0 is the partition's default, which nobody here knows: it must not become a shorter limit */
    if (request->time_s > 0 && (other->time_s > request->time_s || other->time_s <= 0)) {
        request->time_s = other->time_s;
        request->time_from = other->time_from;
    }
    if (request->memory_bytes > 0 &&
        (other->memory_bytes > request->memory_bytes || other->memory_bytes <= 0)) {
        request->memory_bytes = other->memory_bytes;
        request->memory_from = other->memory_from;
    }
}

char *orch_slurm_time_format(double seconds)
{
    int64_t s = (int64_t)ceil(seconds), days = s / 86400;
    int hours = (int)(s / 3600 % 24), minutes = (int)(s / 60 % 60), rest = (int)(s % 60);
    return days ? g_strdup_printf("%" G_GINT64_FORMAT "-%02d:%02d:%02d", days, hours, minutes, rest)
                : g_strdup_printf("%02d:%02d:%02d", hours, minutes, rest);
}

static void add(GPtrArray *options, const char *name, const char *value)
{
    if (value)
        g_ptr_array_add(options, g_strdup_printf("--%s=%s", name, value));
}

static void add_count(GPtrArray *options, const char *name, unsigned count)
{
    g_ptr_array_add(options, g_strdup_printf("--%s=%u", name, count));
}

/* MPI starts its processes inside the job; any other trial stays on one node. */
static void add_processes(GPtrArray *options, const struct orch_experiment *experiment,
                          unsigned ranks)
{
    add_count(options, "ntasks", MAX(1u, ranks));
    if (!ranks)
        add_count(options, "nodes", 1);
    add_count(options, "cpus-per-task", cores_of(experiment));
}

GPtrArray *orch_slurm_options(const struct orch_slurm_settings *settings,
                              const struct orch_experiment *experiment, unsigned ranks)
{
    GPtrArray *options = g_ptr_array_new_with_free_func(g_free);
    add(options, "partition", settings->partition);
    add(options, "account", settings->account);
    add(options, "qos", settings->qos);
    add(options, "constraint", settings->constraint);
    add(options, "reservation", settings->reservation);
    add(options, "exclude", settings->exclude);
    add_processes(options, experiment, ranks);
    unsigned gpus = orch_experiment_gpus(experiment);
    g_autofree char *gres =
        g_strdup_printf("gpu:%s%s%u", settings->gpu_type ? settings->gpu_type : "",
                        settings->gpu_type ? ":" : "", gpus);
    add(options, "gres", gpus ? gres : NULL);
    if (orch_experiment_runs_alone(experiment))
        g_ptr_array_add(options, g_strdup("--exclusive"));
    g_ptr_array_add(options, g_strdup(settings->no_requeue ? "--no-requeue" : "--requeue"));
    return options;
}

void orch_slurm_options_add(GPtrArray *options, const struct orch_slurm_settings *settings,
                            const struct orch_slurm_request *request)
{
    if (request->time_s > 0) {
        g_autofree char *time = orch_slurm_time_format(request->time_s);
        add(options, "time", time);
    }
    if (request->memory_bytes > 0)
        g_ptr_array_add(options, g_strdup_printf("--mem=%" G_GINT64_FORMAT "M",
                                                 (request->memory_bytes + MIB - 1) / MIB));
    /* B: to the batch script, which is orch-host; without it only job steps get the signal */
    g_ptr_array_add(options, g_strdup_printf("--signal=B:TERM@%.0f",
                                             ceil(orch_slurm_margin_s(settings, request->time_s))));
}

char *orch_slurm_ranges(const unsigned *indices, unsigned count, unsigned at_once)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && indices[end] == indices[end - 1] + 1;)
            end++;
        g_string_append_printf(text, "%s%u", text->len ? "," : "", indices[i]);
        if (end - i > 1)
            g_string_append_printf(text, "-%u", indices[end - 1]);
    }
    if (at_once)
        g_string_append_printf(text, "%%%u", at_once);
    return g_string_free(text, FALSE);
}
