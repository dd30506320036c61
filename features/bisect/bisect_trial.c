/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_trial.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

static bool expand(struct orch_bisect_trial *trial, const struct orch_bisect_job *job, int repeat,
                   GError **error)
{
    struct orch_ad_hoc wish = job->wish;
    g_autofree char *folder =
        orch_commit_place_path(job->base, trial->place.root, job->wish.folder);
    struct orch_diags *diags = orch_diags_new();
    GError *problem = NULL;
    wish.folder = folder;
    char count[16];
    g_snprintf(count, sizeof count, "%d", repeat);
    wish.repeat = count;
    trial->expansion = orch_ad_hoc_expand(trial->place.plugins, &wish, diags, &problem);
    if (!trial->expansion && !problem)
        orch_diags_to_error(diags, &problem);
    orch_diags_free(diags);
    if (problem)
        g_propagate_error(error, problem);
    return trial->expansion &&
           orch_store_put_recipe(trial->place.workspace->store, trial->expansion->key,
                                 trial->expansion->name, trial->expansion->canonical,
                                 trial->expansion->verbatim, error);
}

static bool make_plan(struct orch_bisect_trial *trial, int repeat, GError **error)
{
    struct orch_diags *diags = orch_diags_new();
    const struct orch_plan_options options = {.slots = 1, .force = true};
    GError *problem = NULL;
    trial->plan = orch_plan_new(trial->place.workspace, trial->place.plugins, trial->expansion,
                                &options, diags, &problem);
    if (!trial->plan && !problem)
        orch_diags_to_error(diags, &problem);
    orch_diags_free(diags);
    if (problem)
        g_propagate_error(error, problem);
    if (!trial->plan)
        return false;
    for (unsigned i = 0; i < trial->plan->count; i++)
        if (trial->plan->items[i].cell->repeat == repeat)
            trial->index = i;
        else
            trial->plan->items[i].state = ORCH_PLAN_UNUSED;
    const struct orch_plan_item *item = &trial->plan->items[trial->index];
    if (item->state != ORCH_PLAN_SKIPPED)
        return orch_commit_place_holds(trial->plan, "runs of all commits", error);
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "the command cannot run here: %s", item->reason);
    return false;
}

/* The folder in which the command starts may be newer than the commit. */
static bool has_folder(const struct orch_bisect_trial *trial, const struct orch_bisect_job *job,
                       const struct orch_vcs_commit *commit, GError **error)
{
    if (g_file_test(trial->place.workspace->folder, G_FILE_TEST_IS_DIR))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "run the command in a folder that GOOD and BAD have",
                   "commit %.8s has no folder '%s'", commit->commit,
                   orch_path_below(job->wish.folder, job->base->root));
    return false;
}

bool orch_bisect_trial_open(struct orch_bisect_trial *trial, const struct orch_bisect_job *job,
                            const struct orch_vcs_commit *commit, int repeat, GError **error)
{
    struct orch_source *source = g_new0(struct orch_source, 1);
    *trial = (struct orch_bisect_trial){0};
    source->left_out = g_ptr_array_new();
    source->commit = g_strdup(commit->commit);
    source->tree = g_strdup(commit->tree);
    return orch_commit_place_open(&trial->place, job->base, source, false, job->wish.folder,
                                  job->plugin_paths, error) &&
           has_folder(trial, job, commit, error) && expand(trial, job, repeat, error) &&
           make_plan(trial, repeat, error);
}

void orch_bisect_trial_clear(struct orch_bisect_trial *trial)
{
    orch_plan_free(trial->plan);
    orch_expansion_free(trial->expansion);
    orch_commit_place_clear(&trial->place);
    *trial = (struct orch_bisect_trial){0};
}

GHashTable *orch_bisect_trial_fingerprints(const struct orch_bisect_job *job,
                                           const struct orch_vcs_commit *commit, int repeats)
{
    GHashTable *found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct orch_bisect_trial trial;
    if (orch_bisect_trial_open(&trial, job, commit, repeats, NULL))
        for (unsigned i = 0; i < trial.plan->count; i++) {
            g_hash_table_add(found, g_strdup(trial.plan->items[i].fingerprint));
            g_hash_table_add(found, g_strdup(trial.plan->items[i].own_fingerprint));
        }
    orch_bisect_trial_clear(&trial);
    return found;
}

/* Passes events on, and keeps the key of the run that ended last. */
struct relay {
    struct orch_listener to;
    char key[ORCH_KEY_CHARS];
};

static void on_started(void *ctx, const struct orch_running *trial)
{
    const struct relay *relay = ctx;
    if (relay->to.started)
        relay->to.started(relay->to.ctx, trial);
}

static void on_ended(void *ctx, const struct orch_running *trial,
                     const struct orch_collected *collected, bool again,
                     const struct orch_totals *totals)
{
    struct relay *relay = ctx;
    g_strlcpy(relay->key, trial->key, sizeof relay->key);
    if (relay->to.ended)
        relay->to.ended(relay->to.ctx, trial, collected, again, totals);
}

static void on_message(void *ctx, const char *text)
{
    const struct relay *relay = ctx;
    if (relay->to.message)
        relay->to.message(relay->to.ctx, text);
}

static void on_tick(void *ctx, const struct orch_running *const *running, unsigned count,
                    const struct orch_totals *totals)
{
    const struct relay *relay = ctx;
    if (relay->to.tick)
        relay->to.tick(relay->to.ctx, running, count, totals);
}

bool orch_bisect_trial_run(struct orch_bisect_trial *trial, const struct orch_bisect_job *job,
                           struct orch_bisect_end *out, GError **error)
{
    struct orch_totals totals = {0};
    struct relay relay = {.to = job->listener};
    g_autofree char *argv = job->argv_json(job->ctx, trial->expansion);
    const struct orch_run_options options = {
        .slots = 1, .on_change = ORCH_ON_CHANGE_FROZEN, .live = job->is_live, .argv_json = argv};
    const struct orch_listener listener = {.ctx = &relay,
                                           .started = on_started,
                                           .ended = on_ended,
                                           .message = on_message,
                                           .tick = on_tick};
    *out = (struct orch_bisect_end){0};
    if (!orch_run_plan(trial->plan, &options, &listener, &totals, error))
        return false;
    out->device_s = totals.device_s;
    out->interrupted = totals.interrupted;
    out->terminated = totals.terminated;
    if (!*relay.key)
        return true;
    out->run = orch_store_run(job->base->store, relay.key, error);
    return out->run != NULL;
}
