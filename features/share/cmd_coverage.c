/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch coverage`: who has run which trials of a recipe, who is running which, what is missing,
 * and what the missing trials would take. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "core/cli/recipe_plan.h"
#include "features/share/coverage.h"
#include "features/share/group_runs.h"
#include "features/share/sharing.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

struct coverage_options {
    struct orch_variant variant;
    const char *remote, *price;
    int jobs;
    bool offline;
};

static const struct orch_option OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct coverage_options, variant),
    ORCH_PART_OPTION(struct coverage_options, variant),
    ORCH_OPTION(struct coverage_options, remote, TEXT, "remote", .value = "NAME|FOLDER",
                .help = "the group's git remote or folder (default: as for 'orch pull')"),
    ORCH_OPTION(struct coverage_options, offline, FLAG, "offline",
                .help = "do not contact the remote"),
    ORCH_OPTION(struct coverage_options, price, TEXT, "price", .value = "USD",
                .help = "price of a device hour (default: from 'orch gpu prices')"),
    ORCH_OPTION(struct coverage_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "compute the expected time if N trials run at once"),
    {0}};

/* The status of a trial. */
enum standing { DONE, ELSEWHERE, CLAIMED, MISSING, STANDINGS };
static const char *const STANDING_NAMES[] = {"done", "elsewhere", "claimed", "missing"};

/* Everything that is printed. */
struct coverage {
    struct orch_plan *plan;
    struct orch_group_runs *group;
    struct sharing *sharing;  /* NULL: claims are unknown */
    enum standing *standings; /* one for each item; items that are UNUSED are not counted */
    unsigned counts[STANDINGS];
    unsigned cannot_run_here; /* missing trials that cannot run on this machine */
    const char *why_not;
    GPtrArray *missing;                /* struct orch_plan_item * */
    struct orch_forecaster forecaster; /* of the missing trials */
    struct orch_forecast_total total;
    struct orch_rate price;
};

static void release(struct coverage *c)
{
    orch_rate_release(&c->price);
    orch_forecaster_close(&c->forecaster);
    orch_group_runs_free(c->group);
    orch_cli_sharing_close(c->sharing);
    if (c->missing)
        g_ptr_array_unref(c->missing);
    g_free(c->standings);
    orch_plan_free(c->plan);
}

/* ---- standing ----------------------------------------------------------------------------------
 */

/* Reads the claims. It is an error when a remote named by the user does not exist; without any
 * remote the rest is still printed. */
static bool look_at_claims(struct orch_cli *cli, const struct coverage_options *o,
                           struct coverage *c, GError **error)
{
    g_autoptr(GError) problem = NULL;
    if (o->offline && o->remote) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--offline' excludes '--remote'");
        return false;
    }
    if (o->offline)
        return true;
    c->sharing = orch_cli_sharing_open(cli, o->remote, &problem);
    if (c->sharing) {
        orch_cli_sharing_mark_anywhere(c->sharing, c->plan);
        return true;
    }
    if (o->remote) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    const char *end = strchr(problem->message, '\n');
    orch_cli_info(cli, "it is not known which trials others are running: %.*s",
                  end ? (int)(end - problem->message) : (int)strlen(problem->message),
                  problem->message);
    return true;
}

static enum standing standing_of(const struct coverage *c, const struct orch_plan_item *item)
{
    if (item->state == ORCH_PLAN_DONE)
        return DONE;
    g_autoptr(GPtrArray) runs = orch_group_runs_of(c->group, item);
    if (runs->len)
        return ELSEWHERE;
    return item->state == ORCH_PLAN_HELD ? CLAIMED : MISSING;
}

static void stand(struct coverage *c)
{
    c->standings = g_new0(enum standing, c->plan->count + 1);
    c->missing = g_ptr_array_new();
    for (unsigned i = 0; i < c->plan->count; i++) {
        struct orch_plan_item *item = &c->plan->items[i];
        if (item->state == ORCH_PLAN_UNUSED || item->state == ORCH_PLAN_PRUNED)
            continue;
        enum standing standing = c->standings[i] = standing_of(c, item);
        c->counts[standing]++;
        if (standing != MISSING)
            continue;
        g_ptr_array_add(c->missing, item);
        if (item->state == ORCH_PLAN_SKIPPED) {
            c->cannot_run_here++;
            c->why_not = item->reason;
        }
    }
}

/* Forecasts the missing trials only. Trials done elsewhere or claimed are removed from the plan,
 * so this comes after everything else that reads it. */
static bool forecast(const struct coverage_options *o, struct coverage *c, GError **error)
{
    for (unsigned i = 0; i < c->plan->count; i++)
        if (c->standings[i] != MISSING && c->standings[i] != DONE)
            c->plan->items[i].state = ORCH_PLAN_UNUSED;
    if (!orch_cli_plan_price_find(c->plan, o->price, &c->price, error))
        return false;
    c->forecaster = orch_forecaster_open(c->plan);
    orch_forecast_total(c->plan, &c->forecaster, &c->total);
    return true;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static unsigned trials_of(const struct coverage *c)
{
    unsigned all = 0;
    for (int i = 0; i < STANDINGS; i++)
        all += c->counts[i];
    return all;
}

static bool print_totals(struct orch_cli *cli, const struct coverage *c,
                         const struct orch_subject *subject, GError **error)
{
    static const char *const words[] = {"done", "done at other places", "claimed", "missing"};
    unsigned all = trials_of(c);
    printf("\n%u trial%s:", all, orch_plural(all));
    const char *between = " ";
    for (int i = 0; i < STANDINGS; i++) {
        if (c->counts[i])
            printf("%s%u %s", between, c->counts[i], words[i]);
        between = c->counts[i] ? ", " : between;
    }
    printf("\n");
    if (c->cannot_run_here)
        orch_cli_print("%u of the missing trials cannot run here: %s", c->cannot_run_here,
                       c->why_not);
    fflush(stdout);
    orch_cli_forecast_print_total(cli, c->plan, &c->total, &c->price);
    if (!c->total.known && c->total.unknown)
        orch_cli_info(cli, "the time of the missing trials on this machine is not known");
    return orch_cli_parts_show(cli, subject, NULL, error);
}

static json_t *runs_json(const struct coverage *c, const struct orch_plan_item *item)
{
    json_t *out = json_array();
    g_autoptr(GPtrArray) runs = orch_group_runs_of(c->group, item);
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autofree char *ended = orch_time_format(run->ended_ns, true);
        json_array_append_new(out,
                              json_pack("{s:s s:s? s:s? s:s}", "run", run->key, "who", run->who,
                                        "device_key", run->device_key, "ended", ended));
    }
    return out;
}

/* Lists all trials. Call before the forecast, which removes some of them from the plan. */
static json_t *trials_json(const struct coverage *c)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < c->plan->count; i++) {
        const struct orch_plan_item *item = &c->plan->items[i];
        if (item->state == ORCH_PLAN_UNUSED || item->state == ORCH_PLAN_PRUNED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        json_t *one =
            json_pack("{s:s s:s s:i s:s s:s s:s? s:o}", "trial", label, "experiment",
                      item->cell->experiment->name, "repeat", item->cell->repeat, "state",
                      STANDING_NAMES[c->standings[i]], "reason", item->reason ? item->reason : "",
                      "fingerprint", item->fingerprint[0] ? item->fingerprint : NULL, "runs",
                      runs_json(c, item));
        const struct orch_claim *claim = orch_cli_sharing_holder(c->sharing, item);
        if (claim) {
            g_autofree char *until = orch_time_format(claim->expires_ns, true);
            json_object_set_new(one, "claim",
                                json_pack("{s:s s:s s:s? s:s}", "who", claim->who, "host",
                                          claim->host, "device_key", claim->device_key, "until",
                                          until));
        }
        json_array_append_new(out, one);
    }
    return out;
}

static json_t *totals_json(const struct coverage *c)
{
    json_t *out = json_pack("{s:i s:i}", "trials", (int)trials_of(c), "cannot_run_here",
                            (int)c->cannot_run_here);
    for (int i = 0; i < STANDINGS; i++)
        json_object_set_new(out, STANDING_NAMES[i], json_integer(c->counts[i]));
    return out;
}

static bool print_json(struct orch_cli *cli, const struct coverage *c,
                       const struct orch_document *document, json_t *trials,
                       const struct orch_subject *subject, GError **error)
{
    json_t *shown = orch_document_json(document);
    json_t *out = json_pack(
        "{s:s s:s? s:O s:o s:o s:b s:o s:o}", "recipe", c->plan->expansion->name, "profile",
        c->plan->expansion->profile, "experiments", json_object_get(shown, "sections"), "trials",
        trials, "totals", totals_json(c), "claims_known", c->sharing != NULL, "forecast",
        orch_cli_forecast_total_json(c->plan, &c->total, &c->price), "gpus", json_null());
    json_decref(shown);
    bool ok = orch_cli_parts_show(cli, subject, out, error);
    if (ok)
        orch_cli_print_json(json_incref(out));
    json_decref(out);
    return ok;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static bool cover(struct orch_cli *cli, const struct coverage_options *o, struct coverage *c,
                  GError **error)
{
    g_autofree char *recipe = orch_cli_recipe_words(cli, &o->variant);
    struct orch_report_options answer = {.recipe = recipe, .who = orch_user_name()};
    if (!look_at_claims(cli, o, c, error) || !(c->group = orch_group_runs_new(c->plan, error)))
        return false;
    struct orch_document *document = orch_report_coverages(c->plan, &answer, error);
    if (!document)
        return false;
    stand(c);
    json_t *trials = cli->json ? trials_json(c) : NULL;
    if (!cli->json)
        orch_cli_show_document(cli, document, (struct orch_show_text){0});
    bool ok = forecast(o, c, error);
    const struct orch_subject subject = {.plan = c->plan,
                                         .forecaster = &c->forecaster,
                                         .items = c->missing,
                                         .usd_per_hour = o->price ? c->price.usd_per_hour : 0};
    ok = ok && orch_cli_parts_look(cli, &subject, error) &&
         (cli->json ? print_json(cli, c, document, json_incref(trials), &subject, error)
                    : print_totals(cli, c, &subject, error));
    json_decref(trials);
    orch_document_free(document);
    return ok;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct coverage_options *o = options;
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    struct coverage c = {.plan = expansion ? orch_cli_report_plan(cli, expansion, o->jobs, error)
                                           : NULL};
    bool ok = c.plan && cover(cli, o, &c, error);
    release(&c);
    orch_expansion_free(expansion);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_COVERAGE = {
    .name = "coverage",
    .group = "Share",
    .pages = true,
    .summary = "show which trials of a recipe are done, running or missing, and by whom",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct coverage_options),
    .about = "Prints a table for each experiment, with the swept parameters as rows and columns. A "
             "cell shows who has run its trials, how many repeats are done, and which trials "
             "others are running now. The totals and the expected time of the missing trials "
             "follow. No trial is run. First run 'orch pull' to get the runs of others.",
    .examples = "  orch coverage recipes/hw4.recipe\n"
                "  orch coverage recipes/hw4.recipe --offline --json",
    .run = run,
};
