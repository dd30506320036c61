/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prices are those of the same machine rented without the platform, because that is what the
 * table of prices has; a platform may charge more. They serve to compare instances. */
#include "features/cloud/job_instance.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/devices/rate.h"

#include <math.h>
#include <string.h>

/* ---- prices ------------------------------------------------------------------------------------
 */

static bool is_price_of(const struct orch_price *price, const struct orch_training_instance *row)
{
    return strcmp(price->cloud, row->cloud) == 0 &&
           strcmp(price->instance, row->cloud_instance) == 0 && strcmp(price->gpu, row->gpu) == 0;
}

/* The newest price, then the cheapest; the user's own come first. NULL: none is known. */
static const struct orch_price *price_of(const struct orch_hardware *hardware,
                                         const struct orch_training_instance *row)
{
    const GPtrArray *const lists[] = {hardware->prices, hardware->offers};
    const struct orch_price *best = NULL;
    for (unsigned k = 0; k < G_N_ELEMENTS(lists) && !best; k++)
        for (guint i = 0; i < lists[k]->len; i++) {
            const struct orch_price *price = lists[k]->pdata[i];
            if (!is_price_of(price, row))
                continue;
            int newer = best ? strcmp(price->as_of, best->as_of) : 1;
            if (newer > 0 ||
                (newer == 0 && orch_price_per_gpu(price, false) < orch_price_per_gpu(best, false)))
                best = price;
        }
    return best;
}

static double usd_of(const struct orch_price *price, const struct orch_training_instance *row)
{
    return price ? orch_price_per_gpu(price, false) * MAX(row->gpus, 1) : (double)NAN;
}

char *orch_job_price_text(const struct orch_job *job, const struct orch_hardware *hardware,
                          double *out_usd_per_hour)
{
    const struct orch_training_instance *row = job->instance;
    const struct orch_price *price = row && *row->cloud ? price_of(hardware, row) : NULL;
    *out_usd_per_hour = price ? usd_of(price, row) : (double)NAN;
    if (!price)
        return g_strdup("unknown");
    g_autofree char *from = orch_price_text(price, false);
    return g_strdup_printf("$%.4g an hour of the machine without the platform (%s)",
                           *out_usd_per_hour, from);
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

static bool fits(const struct orch_training_instance *row, const struct orch_job *job,
                 const char *gpu)
{
    bool is_gpu = strcmp(row->gpu, ORCH_TRAINING_CPU) != 0;
    unsigned gpus = job->gpus ? job->gpus : gpu ? 1 : 0;
    if (is_gpu != (gpus > 0) || (gpu && strcmp(row->gpu, gpu) != 0))
        return false;
    bool enough_gpus = !is_gpu || row->gpus == 0 || row->gpus >= (int)gpus;
    bool enough_cores = row->cores == 0 || row->cores >= (int)job->cores;
    bool enough_memory = !(row->memory_gb > 0) || row->memory_gb * 1e9 >= (double)job->memory_bytes;
    return enough_gpus && enough_cores && enough_memory;
}

/* Cheaper, or smaller where a price is unknown. The table has the smallest first. */
static bool is_better(double usd, double best_usd)
{
    return isnan(best_usd) ? isfinite(usd) : usd < best_usd;
}

static const struct orch_training_instance *find(const struct orch_job *job,
                                                 const struct orch_job_platform *platform,
                                                 const struct orch_hardware *hardware,
                                                 const char *gpu)
{
    const GPtrArray *rows = orch_training_instances();
    const struct orch_training_instance *best = NULL;
    double best_usd = NAN;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_training_instance *row = rows->pdata[i];
        if (strcmp(row->platform, platform->name) != 0 || !fits(row, job, gpu))
            continue;
        const struct orch_price *price = *row->cloud ? price_of(hardware, row) : NULL;
        bool is_offered = !price || !orch_price_has_ended(price) || gpu;
        double usd = usd_of(price, row);
        if (is_offered && (!best || is_better(usd, best_usd))) {
            best = row;
            best_usd = usd;
        }
    }
    return best;
}

static const struct orch_training_instance *named(const struct orch_job_platform *platform,
                                                  const char *instance)
{
    const GPtrArray *rows = orch_training_instances();
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_training_instance *row = rows->pdata[i];
        if (strcmp(row->platform, platform->name) == 0 && strcmp(row->instance, instance) == 0)
            return row;
    }
    return NULL;
}

/* "K80, T4, ...": the GPUs that a platform offers, for a hint. Caller frees. */
static char *offered(const struct orch_job_platform *platform)
{
    const GPtrArray *rows = orch_training_instances();
    GString *out = g_string_new(NULL);
    const char *last = "";
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_training_instance *row = rows->pdata[i];
        if (strcmp(row->platform, platform->name) != 0 || strcmp(row->gpu, last) == 0 ||
            strcmp(row->gpu, ORCH_TRAINING_CPU) == 0)
            continue;
        g_string_append_printf(out, "%s%s", out->len ? ", " : "its known GPUs are ", row->gpu);
        last = row->gpu;
    }
    g_string_append(out, "; any other is named with --instance");
    return g_string_free(out, FALSE);
}

static bool none_fits(const struct orch_job *job, const struct orch_job_platform *platform,
                      const char *gpu, GError **error)
{
    g_autofree char *hint = offered(platform);
    g_autofree char *gpus = job->gpus || gpu ? g_strdup_printf("%u GPU%s%s%s", MAX(job->gpus, 1),
                                                               orch_plural(MAX(job->gpus, 1)),
                                                               gpu ? " " : "", gpu ? gpu : "")
                                             : g_strdup("processors only");
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                   "orch knows no machine (instance) of %s with %s, %u cores and %.3g GB of memory",
                   platform->title, gpus, job->cores, (double)job->memory_bytes / 1e9);
    return false;
}

bool orch_job_choose_instance(struct orch_job *job, const struct orch_job_platform *platform,
                              const struct orch_hardware *hardware,
                              const struct orch_job_wish *wish, GError **error)
{
    job->instance = NULL;
    job->instance_name = NULL;
    const struct orch_gpu_spec *spec =
        wish->gpu ? orch_hardware_gpu(hardware, wish->gpu, error) : NULL;
    if (wish->gpu && !spec)
        return false;
    if (spec && !job->gpus)
        job->gpus = 1;
    if (wish->instance) {
        job->instance_name = wish->instance;
        job->instance = named(platform, wish->instance);
        return true;
    }
    if (!platform->needs_instance && !spec)
        return true; /* any node of the cluster */
    job->instance = find(job, platform, hardware, spec ? spec->name : NULL);
    if (!job->instance)
        return platform->needs_instance ? none_fits(job, platform, spec ? spec->name : NULL, error)
                                        : true;
    job->instance_name = job->instance->instance;
    return true;
}
