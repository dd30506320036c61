/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of steps; each can use the results of earlier ones in `struct conform`. The two smoke
 * runs with the same seed are made once and used by three steps. A step that cannot be judged (no
 * manifest, a run that was skipped) is skipped with the reason, never passed. */
#include "features/plugins/conform.h"

#include "core/plugin/batch.h"
#include "features/plugins/conform_trial.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/base/subprocess.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/wire/value.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

#define LOAD_MAX_MS 20.0
#define LOAD_MPI_MAX_MS 100.0 /* of a plugin that needs MPI: Open MPI 5 alone takes 35 */
#define SMOKE_MAX_S 120.0
#define CANCEL_AFTER_S 0.5
#define GRACE_S 5.0
#define STOP_MAX_S (5.0 + GRACE_S)
enum { LOAD_ATTEMPTS = 5, RANKS_MAX = 4096 };
static const uint64_t SEED = UINT64_C(20240229);

struct conform {
    struct orch_plugins *plugins;
    const char *base;
    const char *const *settings;
    char *path, *host, *scratch;
    const struct orch_manifest *manifest; /* NULL: it could not be loaded */
    json_t *params;                       /* NULL: a required one is missing (`missing`) */
    char *missing;
    int ranks;                      /* of a plugin that needs MPI: the workers of its cost */
    struct conform_report *runs[2]; /* smoke runs with the same seed; NULL: not made */
};

/* The result of a step. */
struct outcome {
    enum orch_conform_outcome outcome;
    char *detail;
};

static struct outcome result(enum orch_conform_outcome outcome, const char *format, ...)
    G_GNUC_PRINTF(2, 3);
static struct outcome result(enum orch_conform_outcome outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct outcome answer = {outcome, g_strdup_vprintf(format, args)};
    va_end(args);
    return answer;
}

/* Consumes `error`. One message may hold several findings, each with its own indented lines.
 * Because the detail may be shown on one line, findings are separated by semicolons. */
static struct outcome result_of_error(GError *error)
{
    GString *text = g_string_new(NULL);
    for (const char *at = error->message; *at; at++) {
        if (*at == '\n' && at[1] && at[1] != ' ')
            g_string_append_c(text, ';');
        g_string_append_c(text, *at);
    }
    g_error_free(error);
    struct outcome answer = result(ORCH_CONFORM_FAILED, "%s", text->str);
    g_string_free(text, TRUE);
    return answer;
}

/* "1 point", "2 points". The caller frees. */
static char *count_text(guint count, const char *noun)
{
    return g_strdup_printf("%u %s%s", count, noun, orch_plural(count));
}

/* ---- manifest, load time, check, cost ----------------------------------------------------- */

/* The warnings for a wrapped program's manifest. */
static char *manifest_warnings(const struct orch_manifest *manifest)
{
    GString *text = g_string_new(NULL);
    if (manifest->kind == ORCH_PLUGIN_WRAPPED) {
        struct orch_diags *diags = orch_diags_new();
        orch_manifest_free(orch_manifest_load(manifest->path, diags));
        for (guint i = 0; i < diags->items->len; i++) {
            g_autofree char *one = orch_diag_format(diags->items->pdata[i]);
            g_string_append_printf(text, ";\nwarning: %s", one);
        }
        orch_diags_free(diags);
    }
    return g_string_free(text, FALSE);
}

static struct outcome step_manifest(struct conform *conform)
{
    GError *error = NULL;
    conform->manifest = orch_plugins_find(conform->plugins, conform->path, conform->base, &error);
    const struct orch_manifest *manifest = conform->manifest;
    if (!manifest)
        return result_of_error(error);
    g_autofree char *warnings = manifest_warnings(manifest);
    g_autofree char *params = count_text(manifest->params->len, "parameter");
    g_autofree char *metrics = count_text(manifest->metrics->len, "metric");
    g_autofree char *artifacts = count_text(manifest->artifacts->len, "artifact");
    return result(ORCH_CONFORM_PASSED, "%s %s: %s, %s, %s%s", manifest->name, manifest->version,
                  params, metrics, artifacts, warnings);
}

/* Processor time of all children that ended, in milliseconds. Other load on the machine adds little
 * to it. */
static double children_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Processor time of a program that starts and exits; NAN when it cannot be started. */
static double start_ms(const char *program)
{
    const char *const argv[] = {program, "--version", NULL};
    const struct orch_subprocess command = {.argv = argv, .timeout_s = ORCH_BATCH_TIMEOUT_S};
    struct orch_subprocess_end end;
    const double before_ms = children_ms();
    if (!orch_subprocess_run(&command, &end, NULL))
        return (double)NAN;
    orch_subprocess_end_clear(&end);
    return children_ms() - before_ms;
}

static double load_ms(const struct conform *conform)
{
    const double before_ms = children_ms();
    struct orch_batch *batch =
        orch_batch_start(conform->host, conform->manifest->path, conform->manifest->sha256,
                         ORCH_BATCH_TIMEOUT_S, NULL);
    struct orch_manifest *manifest = batch ? orch_batch_manifest(batch, NULL) : NULL;
    const bool is_loaded = manifest != NULL;
    orch_manifest_free(manifest);
    orch_batch_free(batch); /* waits for its end */
    return is_loaded ? children_ms() - before_ms : (double)NAN;
}

/* The minimum of several measurements, because other load on the machine only adds time, minus the
 * start time of the host itself. */
static struct outcome step_load_time(struct conform *conform)
{
    if (conform->manifest->kind != ORCH_PLUGIN_COMPILED)
        return result(ORCH_CONFORM_SKIPPED, "for compiled plugins");
    double with = INFINITY, without = INFINITY;
    for (int i = 0; i < LOAD_ATTEMPTS; i++) {
        with = fmin(with, load_ms(conform));
        without = fmin(without, start_ms(conform->host));
    }
    if (!isfinite(with) || !isfinite(without))
        return result(ORCH_CONFORM_FAILED, "cannot be loaded again");
    const double ms = fmax(with - without, 0);
    const double max_ms = conform->manifest->needs.mpi ? LOAD_MPI_MAX_MS : LOAD_MAX_MS;
    if (ms <= max_ms)
        return result(ORCH_CONFORM_PASSED, "%.1f ms", ms);
    return result(ORCH_CONFORM_FAILED,
                  "%.1f ms, at most %.0f ms are allowed\n  hint: link no heavy library; load it in "
                  "'open', with dlopen",
                  ms, max_ms);
}

static struct outcome step_check(struct conform *conform)
{
    if (!conform->params)
        return result(ORCH_CONFORM_SKIPPED, "%s", conform->missing);
    if (conform->manifest->kind != ORCH_PLUGIN_COMPILED || !conform->manifest->has_check)
        return result(ORCH_CONFORM_SKIPPED, "has none");
    GError *error = NULL;
    struct orch_checked checked;
    if (!orch_plugins_check(conform->plugins, conform->manifest, conform->params, &checked, &error))
        return result_of_error(error);
    g_autofree char *count = count_text(checked.inputs->len, "input");
    g_ptr_array_add(checked.no_effect, NULL);
    g_ptr_array_add(checked.warnings, NULL);
    g_autofree char *names = g_strjoinv(", ", (char **)checked.no_effect->pdata);
    g_autofree char *warnings = g_strjoinv("; ", (char **)checked.warnings->pdata);
    orch_checked_clear(&checked);
    return result(ORCH_CONFORM_PASSED, "accepts these values, names %s%s%s%s%s", count,
                  *names ? "; without effect: " : "", names, *warnings ? "; warns: " : "",
                  warnings);
}

static struct outcome step_cost(struct conform *conform)
{
    if (!conform->params)
        return result(ORCH_CONFORM_SKIPPED, "%s", conform->missing);
    GError *error = NULL;
    g_autoptr(json_t) cost =
        orch_plugins_cost(conform->plugins, conform->manifest, conform->params, &error);
    if (!cost)
        return result_of_error(error);
    if (json_is_null(cost))
        return result(ORCH_CONFORM_SKIPPED,
                      "has none: its trials are forecast only from earlier runs");
    const json_int_t workers = json_integer_value(json_object_get(cost, "workers"));
    conform->ranks = (int)CLAMP(workers, 1, RANKS_MAX);
    g_autofree char *text = orch_json_canonical(cost);
    return result(ORCH_CONFORM_PASSED, "%s", text);
}

/* ---- runs --------------------------------------------------------------------------------- */

static struct conform_report *run_trial(const struct conform *conform, bool smoke,
                                        double cancel_after_s, double limit_s, GError **error)
{
    const struct conform_request request = {
        .host = conform->host,
        .scratch = conform->scratch,
        .manifest = conform->manifest,
        .params = conform->params,
        .seed = SEED,
        .smoke = smoke,
        .ranks = conform->ranks,
        .cancel_after_s = cancel_after_s,
        .limit_s = limit_s,
        .grace_s = GRACE_S,
    };
    return orch_conform_trial_run(&request, error);
}

/* The verdict with its reason and the last line of stderr. The caller frees. */
static char *describe(const struct conform_report *report)
{
    GString *text = g_string_new(report->verdict_word);
    if (report->reason)
        g_string_append_printf(text, ": %s", report->reason);
    g_autofree char *tail = g_strchomp(g_strdup(report->stderr_tail ? report->stderr_tail : ""));
    const char *last = strrchr(tail, '\n');
    if (*tail && !(report->reason && strstr(report->reason, last ? last + 1 : tail)))
        g_string_append_printf(text, "\n  stderr: %.300s", last ? last + 1 : tail);
    return g_string_free(text, FALSE);
}

static struct outcome step_smoke(struct conform *conform)
{
    if (!conform->params)
        return result(ORCH_CONFORM_SKIPPED, "%s", conform->missing);
    GError *error = NULL;
    conform->runs[0] = run_trial(conform, true, 0, SMOKE_MAX_S, &error);
    if (!conform->runs[0])
        return result_of_error(error);
    const struct conform_report *report = conform->runs[0];
    g_autofree char *text = describe(report);
    if (report->verdict == ORCH_VERDICT_SKIPPED)
        return result(ORCH_CONFORM_PASSED, "%s", text);
    if (report->verdict == ORCH_VERDICT_TIMEOUT)
        return result(ORCH_CONFORM_FAILED,
                      "did not end within %.0f s\n  hint: when asked for a smoke run, take two "
                      "steps on little data",
                      SMOKE_MAX_S);
    if (report->verdict != ORCH_VERDICT_OK)
        return result(ORCH_CONFORM_FAILED, "%s", text);
    g_autofree char *points = count_text(g_hash_table_size(report->points), "point");
    g_autofree char *results = count_text(g_hash_table_size(report->results), "result");
    g_autofree char *artifacts = count_text(g_hash_table_size(report->artifacts), "artifact");
    return result(ORCH_CONFORM_PASSED, "ok after %.2f s: %s, %s, %s", report->wall_s, points,
                  results, artifacts);
}

/* True when the first smoke run ended ok; else the outcome of a step that needs it. */
static bool smoke_is_ok(const struct conform *conform, struct outcome *out)
{
    const struct conform_report *report = conform->runs[0];
    if (report && report->verdict == ORCH_VERDICT_OK)
        return true;
    *out = result(ORCH_CONFORM_SKIPPED, report && report->verdict == ORCH_VERDICT_SKIPPED
                                            ? "the smoke run was skipped"
                                            : "needs a smoke run that ends ok");
    return false;
}

/* ---- equal seeds -------------------------------------------------------------------------- */

static bool is_compared(const struct orch_manifest *manifest, const char *key)
{
    g_autofree char *name = g_strdup(key);
    name[strcspn(name, ":")] = 0;
    const struct orch_metric_spec *spec = orch_manifest_metric(manifest, name);
    return !spec || !orch_unit_is_timing(spec->unit, NULL);
}

static bool is_same(double a, double b)
{
    return a == b ||
           (isnan(a) && isnan(b)); /* exact comparison: only the seed may affect the values */
}

/* Counts equal values; describes the first differing one in `*out_difference`. */
static unsigned compare(const struct orch_manifest *manifest, GHashTable *first, GHashTable *second,
                        char **out_difference)
{
    GHashTableIter iter;
    gpointer key, value;
    unsigned equal_count = 0;
    g_hash_table_iter_init(&iter, first);
    while (!*out_difference && g_hash_table_iter_next(&iter, &key, &value)) {
        const double *other = g_hash_table_lookup(second, key);
        if (!is_compared(manifest, key))
            continue;
        if (!other)
            *out_difference =
                g_strdup_printf("'%s' comes in one run and not in the other", (char *)key);
        else if (!is_same(*(double *)value, *other))
            *out_difference = g_strdup_printf("'%s' is %.17g in one run, %.17g in the other",
                                              (char *)key, *(double *)value, *other);
        else
            equal_count++;
    }
    return equal_count;
}

static struct outcome step_seeds(struct conform *conform)
{
    struct outcome answer;
    if (!smoke_is_ok(conform, &answer))
        return answer;
    GError *error = NULL;
    conform->runs[1] = run_trial(conform, true, 0, SMOKE_MAX_S, &error);
    if (!conform->runs[1])
        return result_of_error(error);
    struct conform_report *const *runs = conform->runs;
    g_autofree char *text = describe(runs[1]);
    if (runs[1]->verdict != ORCH_VERDICT_OK)
        return result(ORCH_CONFORM_FAILED, "the second run with the same seed: %s", text);
    g_autofree char *difference = NULL;
    unsigned count = compare(conform->manifest, runs[0]->points, runs[1]->points, &difference);
    count += compare(conform->manifest, runs[0]->results, runs[1]->results, &difference);
    compare(conform->manifest, runs[1]->points, runs[0]->points, &difference);
    compare(conform->manifest, runs[1]->results, runs[0]->results, &difference);
    if (difference)
        return result(ORCH_CONFORM_FAILED,
                      "with the same seed %s\n  hint: take every random choice from the trial's "
                      "seed; give measured times and rates a unit (s, images/s)",
                      difference);
    return result(ORCH_CONFORM_PASSED, "%u values equal (times and rates aside)", count);
}

/* ---- declared names ----------------------------------------------------------------------- */

static const char *first_missing_artifact(const struct conform *conform)
{
    for (guint i = 0; i < conform->manifest->artifacts->len; i++) {
        const struct orch_artifact_spec *spec = conform->manifest->artifacts->pdata[i];
        if (!g_hash_table_contains(conform->runs[0]->artifacts, spec->name))
            return spec->name;
    }
    return NULL;
}

/* The declared metrics and results that the smoke run did not report: "'loss', 'accuracy'"; "" when
 * it reported all. The caller frees. */
static char *unseen_metrics(const struct conform *conform)
{
    GString *unseen = g_string_new(NULL);
    for (guint i = 0; i < conform->manifest->metrics->len; i++) {
        const struct orch_metric_spec *spec = conform->manifest->metrics->pdata[i];
        bool is_seen = g_hash_table_contains(conform->runs[0]->results, spec->name);
        GHashTableIter iter;
        gpointer key;
        const size_t length = strlen(spec->name);
        g_hash_table_iter_init(&iter, conform->runs[0]->points);
        while (!is_seen && g_hash_table_iter_next(&iter, &key, NULL))
            is_seen = strncmp(key, spec->name, length) == 0 && ((char *)key)[length] == ':';
        if (!is_seen)
            g_string_append_printf(unseen, "%s'%s'", unseen->len ? ", " : "", spec->name);
    }
    return g_string_free(unseen, FALSE);
}

/* The host ends a run that reports an undeclared name, and the run's reason names it. */
static struct outcome step_names(struct conform *conform)
{
    struct outcome answer;
    const struct conform_report *report = conform->runs[0];
    if (report && report->verdict == ORCH_VERDICT_PROTOCOL && report->reason &&
        strstr(report->reason, "undeclared"))
        return result(ORCH_CONFORM_FAILED,
                      "%s\n"
                      "  hint: declare it",
                      report->reason);
    if (!smoke_is_ok(conform, &answer))
        return answer;
    const char *missing = first_missing_artifact(conform);
    if (missing)
        return result(
            ORCH_CONFORM_FAILED,
            "declares artifact '%s', but its run left none\n  hint: make it in a smoke run too",
            missing);
    const struct orch_manifest *manifest = conform->manifest;
    const bool is_read_from_output =
        manifest->kind == ORCH_PLUGIN_WRAPPED && manifest->metrics_from != ORCH_METRICS_PROTOCOL;
    if (is_read_from_output && manifest->metrics->len &&
        g_hash_table_size(report->points) + g_hash_table_size(report->results) == 0)
        return result(ORCH_CONFORM_FAILED,
                      "none of its %u metrics was found in its output\n"
                      "  hint: check 'metrics_from'",
                      manifest->metrics->len);
    g_autofree char *unseen = unseen_metrics(conform);
    return *unseen ? result(ORCH_CONFORM_PASSED, "declared, but not reported in a smoke run: %s",
                            unseen)
                   : result(ORCH_CONFORM_PASSED,
                            "every metric and artifact is declared and was reported");
}

/* ---- cancel ------------------------------------------------------------------------------- */

static struct outcome step_cancel(struct conform *conform)
{
    if (!conform->params)
        return result(ORCH_CONFORM_SKIPPED, "%s", conform->missing);
    if (conform->runs[0] && conform->runs[0]->verdict == ORCH_VERDICT_SKIPPED)
        return result(ORCH_CONFORM_SKIPPED, "the smoke run was skipped");
    GError *error = NULL;
    struct conform_report *report = run_trial(conform, false, CANCEL_AFTER_S, 0, &error);
    if (!report)
        return result_of_error(error);
    struct outcome answer;
    if (!report->was_cancelled)
        answer = result(orch_verdict_facts(report->verdict)->fault ? ORCH_CONFORM_SKIPPED
                                                                   : ORCH_CONFORM_PASSED,
                        "ended by itself (%s) before it could be cancelled", report->verdict_word);
    else if (report->signal == SIGKILL || report->stop_s > STOP_MAX_S)
        answer = result(ORCH_CONFORM_FAILED,
                        "went on for %.1f s after it was cancelled%s\n  hint: ask 'cancelled' in "
                        "the innermost loop that takes long; let SIGTERM end the program",
                        report->stop_s, report->signal == SIGKILL ? " and was killed" : "");
    else
        answer = result(ORCH_CONFORM_PASSED, "%s, %.2f s after the cancel", report->verdict_word,
                        report->stop_s);
    orch_conform_report_free(report);
    return answer;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct outcome (*run)(struct conform *conform);
} STEPS[] = {
    {"manifest", step_manifest},    {"load time", step_load_time},
    {"check", step_check},          {"cost", step_cost},
    {"smoke run", step_smoke},      {"equal seeds", step_seeds},
    {"declared names", step_names}, {"cancel", step_cancel},
};

static void step_free(void *pointer)
{
    struct orch_conform_step *step = pointer;
    g_free(step->name);
    g_free(step->detail);
    g_free(step);
}

/* The parameter's value from the settings, else its default; paths are relative to the current
 * folder. */
static json_t *param_value(const struct conform *conform, const struct orch_param_spec *spec,
                           GError **error)
{
    const size_t length = strlen(spec->name);
    for (const char *const *set = conform->settings; set && *set; set++) {
        if (strncmp(*set, spec->name, length) != 0 || (*set)[length] != '=')
            continue;
        const char *text = *set + length + 1;
        g_autofree char *absolute = NULL;
        if (spec->type == ORCH_PATH || spec->type == ORCH_ARTIFACT)
            text = absolute = orch_path_absolute(text, NULL);
        return orch_value_parse(spec, text, error);
    }
    return orch_value_default(spec);
}

static bool check_settings(const struct conform *conform, GError **error)
{
    for (const char *const *set = conform->settings; set && *set; set++) {
        g_autofree char *name = g_strdup(*set);
        name[strcspn(name, "=")] = 0;
        if (strchr(*set, '=') && orch_manifest_param(conform->manifest, name))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, "write parameter=value; see 'orch plugin show'",
                       "plugin '%s' has no parameter for setting '%s'", conform->manifest->name,
                       *set);
        return false;
    }
    return true;
}

/* Fills `params`, or sets `missing` to the parameter without a value. False for an invalid setting.
 */
static bool make_params(struct conform *conform, GError **error)
{
    if (!check_settings(conform, error))
        return false;
    g_autoptr(json_t) params = json_object();
    for (guint i = 0; i < conform->manifest->params->len; i++) {
        const struct orch_param_spec *spec = conform->manifest->params->pdata[i];
        GError *problem = NULL;
        json_t *value = param_value(conform, spec, &problem);
        if (problem) {
            problem->code = ORCH_ERROR_USAGE;
            g_propagate_error(error, problem);
            return false;
        }
        if (!value) {
            conform->missing = g_strdup_printf("parameter '%s' has no default", spec->name);
            return true;
        }
        json_object_set_new(params, spec->name, value);
    }
    conform->params = g_steal_pointer(&params);
    return true;
}

static void add_step(GPtrArray *steps, const char *name, struct outcome outcome)
{
    struct orch_conform_step *step = g_new0(struct orch_conform_step, 1);
    step->name = g_strdup(name);
    step->outcome = outcome.outcome;
    step->detail = outcome.detail;
    g_ptr_array_add(steps, step);
}

static GPtrArray *run_steps(struct conform *conform, GError **error)
{
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(step_free);
    for (unsigned i = 0; i < G_N_ELEMENTS(STEPS); i++) {
        const bool is_first = i == 0;
        if (!is_first && !conform->manifest)
            add_step(steps, STEPS[i].name, result(ORCH_CONFORM_SKIPPED, "needs a valid manifest"));
        else
            add_step(steps, STEPS[i].name, STEPS[i].run(conform));
        if (is_first && conform->manifest && !make_params(conform, error))
            return NULL;
    }
    return g_steal_pointer(&steps);
}

GPtrArray *orch_conform_run(struct orch_plugins *plugins, const char *name, const char *base,
                            const char *const *settings, GError **error)
{
    struct conform conform = {.plugins = plugins, .base = base, .settings = settings, .ranks = 1};
    GPtrArray *steps = NULL;
    conform.path = orch_plugins_locate(plugins, name, base, error);
    conform.host = conform.path ? orch_program_path("orch-host", error) : NULL;
    conform.scratch = conform.host ? orch_temporary_folder("check", error) : NULL;
    if (conform.scratch) {
        steps = run_steps(&conform, error);
        orch_tree_remove(conform.scratch, NULL);
    }
    orch_conform_report_free(conform.runs[0]);
    orch_conform_report_free(conform.runs[1]);
    json_decref(conform.params);
    g_free(conform.missing);
    g_free(conform.path);
    g_free(conform.host);
    g_free(conform.scratch);
    return steps;
}
