/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/export_job.h"

#include "core/plan/plan_forecast.h"
#include "core/results/run_named.h"

#include <math.h>
#include <string.h>

/* ---- options of one platform -------------------------------------------------------------------
 */

/* Returns the value that applies to a platform: "PLATFORM=VALUE", else the last without a platform.
 * NULL when there is none. */
static const char *value_for(const char **values, const char *platform)
{
    const char *found = NULL;
    size_t length = strlen(platform);
    for (int i = 0; values && values[i]; i++)
        if (strncmp(values[i], platform, length) == 0 && values[i][length] == '=')
            return values[i] + length + 1;
    for (int i = 0; values && values[i]; i++) {
        const char *equals = strchr(values[i], '=');
        g_autofree char *word =
            equals ? g_strndup(values[i], (gsize)(equals - values[i])) : g_strdup("");
        if (!orch_job_platform_find(word, NULL))
            found = values[i];
    }
    return found;
}

static struct orch_job_account account_for(const struct orch_export_job_options *o,
                                           const char *platform)
{
    return (struct orch_job_account){.name = value_for(o->names, platform),
                                     .image = value_for(o->images, platform),
                                     .data = value_for(o->data, platform),
                                     .inputs = value_for(o->inputs, platform),
                                     .out = value_for(o->results, platform),
                                     .role = value_for(o->roles, platform),
                                     .queue = value_for(o->queues, platform),
                                     .project = value_for(o->projects, platform),
                                     .definition = value_for(o->definitions, platform)};
}

/* ---- the job -----------------------------------------------------------------------------------
 */

/* Returns the time that the reused run of a trial took; NaN when there is none. */
static double time_of_run(const struct orch_plan *plan, const struct orch_plan_item *item)
{
    const char *const names[] = {item->run_key};
    g_autoptr(GPtrArray) runs =
        item->run_key && plan->store ? orch_named_runs(plan->store, names, 1, NULL) : NULL;
    return runs ? ((const struct orch_run *)runs->pdata[0])->wall_ms / 1e3 : (double)NAN;
}

static void set_limit(struct orch_job *job, const struct orch_cli_job *trial, double given_s)
{
    struct orch_forecaster forecaster = orch_forecaster_open(trial->plan);
    struct orch_forecast forecast;
    double p95_s = time_of_run(trial->plan, trial->item);
    g_autofree char *basis =
        isfinite(p95_s)
            ? g_strdup_printf("run %s took it", orch_run_short_key(trial->item->run_key))
            : NULL;
    if (!basis && forecaster.forecast(forecaster.ctx, trial->item, &forecast)) {
        p95_s = forecast.time_s.high;
        basis = g_strdup_printf("95 %% quantile of the forecast for this machine, %s: %s",
                                forecast.tier, forecast.why);
    }
    orch_job_set_limit(job, trial->item->cell->experiment, given_s, p95_s, basis);
    orch_forecaster_close(&forecaster);
}

static GPtrArray *copy_words(const GPtrArray *words)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < words->len; i++)
        g_ptr_array_add(out, g_strdup(words->pdata[i]));
    return out;
}

struct orch_job *orch_cli_job_make(const struct orch_export_job *e,
                                   const struct orch_job_platform *platform, GError **error)
{
    const struct orch_export_job_options *o = e->options;
    const struct orch_cli_job *trial = &e->trial;
    const struct orch_job_account account = account_for(o, platform->name);
    const struct orch_job_wish wish = {o->gpu, value_for(o->instances, platform->name)};
    struct orch_job *job =
        orch_job_new(trial->plan, trial->item, &account, copy_words(trial->words));
    set_limit(job, trial, e->given_s);
    orch_job_choose_instance(job, platform, e->hardware, &wish, error);
    return job;
}
