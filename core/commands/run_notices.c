/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/run_notices.h"

#include "core/commands/loss_words.h"
#include "core/stats/disturbed.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Only the first failures are kept and printed; the store has all of them. */
enum { RUN_FAULTS_KEPT = 100, FAULTS_PRINTED = 20, STDERR_LINES = 5, STDERR_LINE_BYTES = 200 };

/* The member of --json, which counts trials or what they have. */
static const struct {
    const char *member;
    bool counts_trials;
} NOTICES[RUN_NOTICES] = {[RUN_SILENT] = {"without_metrics", true},
                          [RUN_UNMADE] = {"without_artifacts", true},
                          [RUN_LEFT] = {"left_files", false},
                          [RUN_FURTHER] = {"further_runs", false},
                          [RUN_BAD_EVENT] = {"bad_events", false}};

struct run_fault {
    char *line;    /* the line shown when it failed */
    char **errors; /* last lines of its stderr */
    char *telling; /* the last of them that tells why; or NULL */
    json_t *json;
};

static void fault_free(void *pointer)
{
    struct run_fault *fault = pointer;
    g_free(fault->line);
    g_strfreev(fault->errors);
    g_free(fault->telling);
    json_decref(fault->json);
    g_free(fault);
}

void orch_cli_run_notices_init(struct run_notices *notices)
{
    *notices = (struct run_notices){.faults = g_ptr_array_new_with_free_func(fault_free),
                                    .tried_again = json_array()};
}

void orch_cli_run_notices_release(struct run_notices *notices)
{
    g_ptr_array_unref(notices->faults);
    json_decref(notices->tried_again);
    orch_text_losses_clear(&notices->losses);
    for (int i = 0; i < RUN_NOTICES; i++) {
        g_free(notices->of[i].run);
        g_free(notices->of[i].first);
    }
    g_free(notices->unread_run);
    g_free(notices->unmade_path);
}

/* Returns a trial's run for --json. */
static json_t *run_json(const struct orch_running *trial, const struct orch_collected *collected)
{
    g_autofree char *label = orch_cell_label(trial->item->cell);
    return json_pack("{s:s s:s s:s s:s?}", "run", trial->key, "trial", label, "state",
                     orch_verdict_name(collected->verdict), "reason", collected->reason);
}

static void add_fault(struct run_notices *notices, const struct orch_running *trial,
                      const struct orch_collected *collected, const char *line)
{
    notices->fault_count++;
    if (notices->faults->len >= RUN_FAULTS_KEPT)
        return;
    struct run_fault *fault = g_new0(struct run_fault, 1);
    fault->line = g_strdup(line);
    fault->errors = orch_text_last_lines(collected->stderr_tail, STDERR_LINES, STDERR_LINE_BYTES);
    fault->telling = orch_text_telling_line(collected->stderr_tail, STDERR_LINE_BYTES);
    fault->json = run_json(trial, collected);
    json_t *errors = json_array();
    for (char **error = fault->errors; *error; error++)
        json_array_append_new(errors, json_string(*error));
    json_object_set_new(fault->json, "stderr", errors);
    g_ptr_array_add(notices->faults, fault);
}

static void keep_first(char **place, const char *text)
{
    if (!*place)
        *place = orch_text_line(g_strdup(text ? text : ""));
}

/* Counts a trial. `first` is NULL for notices that name nothing. */
static void note(struct run_notices *notices, enum run_notice kind,
                 const struct orch_running *trial, int64_t count, const char *first)
{
    notices->of[kind].trials++;
    notices->of[kind].count += count;
    keep_first(&notices->of[kind].run, trial->key);
    keep_first(&notices->of[kind].first, first);
}

/* Records what a program printed that was not recorded. */
static void add_output(struct run_notices *notices, const struct orch_running *trial,
                       const struct orch_collected *collected)
{
    orch_text_losses_add(&notices->losses, collected->facts);
    if (notices->losses.counts[ORCH_LOSS_UNREAD])
        keep_first(&notices->unread_run, trial->key);
    const struct orch_manifest *manifest = trial->item->cell->experiment->manifest;
    bool should_record = manifest->any_metric || manifest->metrics->len;
    if (should_record && collected->verdict == ORCH_VERDICT_OK && !collected->point_count &&
        !g_hash_table_size(collected->results)) {
        note(notices, RUN_SILENT, trial,
             orch_json_int(collected->facts, ORCH_LOSS_FACTS[ORCH_LOSS_UNHEARD].count, 0), NULL);
        notices->hears_stderr = notices->hears_stderr || manifest->metrics_on ||
                                manifest->metrics_from == ORCH_METRICS_PROTOCOL;
    }
}

/* Records that a trial has not written a file that it was to leave as an artifact. */
static void add_unmade(struct run_notices *notices, const struct orch_running *trial,
                       const struct orch_collected *collected)
{
    const json_t *names = json_object_get(collected->facts, ORCH_FACT_UNMADE);
    const char *name = json_string_value(json_array_get(names, 0));
    const GPtrArray *artifacts = trial->item->cell->experiment->manifest->artifacts;
    if (!name || collected->verdict != ORCH_VERDICT_OK)
        return;
    note(notices, RUN_UNMADE, trial, 1, name);
    for (guint i = 0; i < artifacts->len; i++) {
        const struct orch_artifact_spec *spec = artifacts->pdata[i];
        if (strcmp(spec->name, notices->of[RUN_UNMADE].first) == 0)
            keep_first(&notices->unmade_path, spec->path);
    }
}

/* The first regular file; the first link when there are links alone. */
static const char *first_left(const struct orch_left *left)
{
    for (guint i = 0; i < left->files->len; i++) {
        const struct orch_left_file *file = left->files->pdata[i];
        if (!file->link)
            return file->path;
    }
    return ((const struct orch_left_file *)left->files->pdata[0])->path;
}

static void add_left(struct run_notices *notices, const struct orch_running *trial,
                     const struct orch_collected *collected)
{
    const struct orch_left *left = &collected->left;
    if (!left->count)
        return;
    note(notices, RUN_LEFT, trial, left->count, first_left(left));
    notices->left_bytes += left->bytes;
}

/* Records what a program did through the Python module, or the events it sent itself. */
static void add_events(struct run_notices *notices, const struct orch_running *trial,
                       const struct orch_collected *collected)
{
    size_t further = json_array_size(json_object_get(collected->facts, ORCH_FACT_FURTHER_RUNS));
    int64_t bad = orch_json_int(collected->facts, "bad_events", 0);
    if (further)
        note(notices, RUN_FURTHER, trial, (int64_t)further, NULL);
    if (bad > 0)
        note(notices, RUN_BAD_EVENT, trial, bad, NULL);
}

void orch_cli_run_notices_add(struct run_notices *notices, const struct orch_running *trial,
                              const struct orch_collected *collected, bool again, const char *line)
{
    double foreign = orch_disturbed_share(collected->facts);
    if (orch_verdict_facts(collected->verdict)->is_reused && foreign > ORCH_FOREIGN_CPU_MAX) {
        notices->disturbed_count++;
        notices->foreign_cpu_max = MAX(notices->foreign_cpu_max, foreign);
    }
    add_output(notices, trial, collected);
    add_unmade(notices, trial, collected);
    add_left(notices, trial, collected);
    add_events(notices, trial, collected);
    if (again) {
        notices->tried_again_count++;
        if (json_array_size(notices->tried_again) < RUN_FAULTS_KEPT)
            json_array_append_new(notices->tried_again, run_json(trial, collected));
    } else if (orch_verdict_facts(collected->verdict)->fault) {
        add_fault(notices, trial, collected, line);
    }
}

/* Prints a line of a program's stderr without control sequences. */
static void print_error(const char *line)
{
    g_autofree char *plain = orch_text_line(g_strdup(line));
    fprintf(stderr, "    | %s\n", plain);
}

/* Prints the end of a trial's stderr. When its last telling line equals that of the previous
 * failure, as in a sweep whose program has one bug, it is not repeated. Earlier lines often name a
 * file in the trial's own folder, so they are not compared. */
static void print_errors(const struct run_fault *fault, const struct run_fault *before)
{
    if (fault->telling && before && g_strcmp0(fault->telling, before->telling) == 0) {
        fputs("    its stderr ends as the one above\n", stderr);
        return;
    }
    if (fault->errors[0] && fault->errors[1]) /* a single line was shown already */
        for (char **error = fault->errors; *error; error++)
            print_error(*error);
}

/* Whether the program ended because it found no GPU, by what CUDA and PyTorch say. Earlier lines
 * may be warnings. */
static bool has_no_gpu(const struct run_fault *fault)
{
    static const char *const words[] = {"no CUDA-capable device",
                                        "CUDA driver version is insufficient",
                                        "No CUDA GPUs are available",
                                        "Found no NVIDIA driver",
                                        "cudaErrorNoDevice",
                                        "cudaErrorInsufficientDriver",
                                        "Torch not compiled with CUDA enabled"};
    for (size_t i = 0; fault->telling && i < G_N_ELEMENTS(words); i++)
        if (strstr(fault->telling, words[i]))
            return true;
    return false;
}

/* `is_first`: of those that found no GPU. */
static void print_hint(const struct run_fault *fault, bool is_first)
{
    const char *key = json_string_value(json_object_get(fault->json, "run"));
    fprintf(stderr, "    hint: orch log %s\n", orch_run_short_key(key));
    if (is_first)
        fputs("    hint: 'resources: { gpus: 1 }' (orch try: --resources gpus=1) skips such trials "
              "where there is no GPU\n",
              stderr);
}

static void print_left(struct orch_cli *cli, const struct run_notices *notices)
{
    guint trials = notices->of[RUN_LEFT].trials;
    int64_t files = notices->of[RUN_LEFT].count;
    if (!trials)
        return;
    const char *run = orch_run_short_key(notices->of[RUN_LEFT].run);
    g_autofree char *bytes = orch_bytes_format(notices->left_bytes);
    orch_cli_info(
        cli,
        "%" G_GINT64_FORMAT
        " file%s (%s) that %u trial%s wrote: kept until 'orch gc'; 'orch show %s' lists them",
        files, orch_plural(files), bytes, trials, orch_plural(trials), run);
}

static void print_events(struct orch_cli *cli, const struct run_notices *notices)
{
    guint trials = notices->of[RUN_FURTHER].trials;
    int64_t runs = notices->of[RUN_FURTHER].count, bad = notices->of[RUN_BAD_EVENT].count;
    if (runs)
        orch_cli_info(cli,
                      "%" G_GINT64_FORMAT " further run%s that %u trial%s began with orch.start() "
                      "were recorded; 'orch show %s' lists them",
                      runs, orch_plural(runs), trials, orch_plural(trials),
                      orch_run_short_key(notices->of[RUN_FURTHER].run));
    if (bad)
        orch_cli_warn(cli,
                      "%" G_GINT64_FORMAT
                      " event%s that programs sent %s not recorded: 'orch log %s' shows the first",
                      bad, orch_plural(bad), bad == 1 ? "was" : "were",
                      orch_run_short_key(notices->of[RUN_BAD_EVENT].run));
}

static void print_unmade(struct orch_cli *cli, const struct run_notices *notices)
{
    guint trials = notices->of[RUN_UNMADE].trials;
    if (!trials)
        return;
    const char *run = orch_run_short_key(notices->of[RUN_UNMADE].run);
    orch_cli_warn(cli,
                  "%u trial%s ended well without the artifact '%s': no file '%s' was written "
                  "(%s)\n  hint: 'orch show %s' lists the files that the run wrote",
                  trials, orch_plural(trials), notices->of[RUN_UNMADE].first,
                  notices->unmade_path ? notices->unmade_path : "", run, run);
}

static void print_silent(struct orch_cli *cli, const struct run_notices *notices)
{
    guint trials = notices->of[RUN_SILENT].trials;
    int64_t lines = notices->of[RUN_SILENT].count;
    if (!trials)
        return;
    const char *run = orch_run_short_key(notices->of[RUN_SILENT].run);
    g_autofree char *unheard =
        lines ? g_strdup_printf(", where %" G_GINT64_FORMAT " line%s held numbers", lines,
                                orch_plural(lines))
              : g_strdup("");
    g_autofree char *more =
        notices->hears_stderr
            ? g_strdup("")
            : g_strdup_printf("\n  hint: standard error is not read%s: --metrics-from both, or "
                              "'metrics_on: both' in a recipe or NAME.plugin, reads it",
                              unheard);
    orch_cli_warn(cli,
                  "%u trial%s ended well and recorded no metric (%s)\n  hint: 'orch help "
                  "printed-values' says which values orch reads%s",
                  trials, orch_plural(trials), run, more);
}

static void print_losses(struct orch_cli *cli, const struct run_notices *notices)
{
    for (int i = 0; i < ORCH_LOSS_UNHEARD; i++) {
        g_autofree char *said = orch_cli_loss_said(i, &notices->losses);
        if (said)
            (i == ORCH_LOSS_EXCESS ? orch_cli_warn : orch_cli_info)(cli, "%s", said);
    }
}

void orch_cli_run_notices_print(struct orch_cli *cli, const struct run_notices *notices,
                                unsigned planned)
{
    guint count = notices->faults->len;
    bool finds_no_gpu = false, repeats_lines = count > 1 || (count && planned > 20);
    if (repeats_lines)
        fputs("\nfailed:\n", stderr);
    for (guint i = 0; i < count && i < FAULTS_PRINTED; i++) {
        const struct run_fault *fault = notices->faults->pdata[i];
        if (repeats_lines)
            fprintf(stderr, "  %s\n", fault->line);
        print_errors(fault, i ? notices->faults->pdata[i - 1] : NULL);
        print_hint(fault, !finds_no_gpu && has_no_gpu(fault));
        finds_no_gpu = finds_no_gpu || has_no_gpu(fault);
    }
    if (notices->fault_count > FAULTS_PRINTED)
        fprintf(stderr, "  and %u more: orch ls --where 'state!=ok'\n",
                notices->fault_count - FAULTS_PRINTED);
    print_silent(cli, notices);
    print_losses(cli, notices);
    print_events(cli, notices);
    print_unmade(cli, notices);
    print_left(cli, notices);
    if (notices->disturbed_count)
        orch_cli_info(cli,
                      "other programs used up to %.0f %% of the CPUs while %u trial%s ran: "
                      "forecasts and comparisons of times leave %s out if undisturbed runs exist",
                      100 * notices->foreign_cpu_max, notices->disturbed_count,
                      orch_plural(notices->disturbed_count),
                      notices->disturbed_count == 1 ? "it" : "them");
}

void orch_cli_run_notices_to_json(const struct run_notices *notices, json_t *object)
{
    json_t *failures = json_array();
    for (guint i = 0; i < notices->faults->len; i++)
        json_array_append(failures, ((const struct run_fault *)notices->faults->pdata[i])->json);
    json_object_set_new(object, "failures", failures);
    json_object_set(object, "tried_again", notices->tried_again);
    for (int i = 0; i < RUN_NOTICES; i++)
        json_object_set_new(
            object, NOTICES[i].member,
            json_integer(NOTICES[i].counts_trials ? notices->of[i].trials : notices->of[i].count));
    json_t *output = json_pack("{s:s? s:I}", "unread_run", notices->unread_run,
                               ORCH_LOSS_FACTS[ORCH_LOSS_UNHEARD].count,
                               (json_int_t)notices->of[RUN_SILENT].count);
    for (int i = 0; i < ORCH_LOSS_UNHEARD; i++) {
        json_object_set_new(output, ORCH_LOSS_FACTS[i].count,
                            json_integer(notices->losses.counts[i]));
        json_object_set_new(output, ORCH_LOSS_FACTS[i].first,
                            orch_json_text_or_null(notices->losses.first[i]));
    }
    json_object_set_new(object, "output", output);
    json_object_set_new(object, "disturbed",
                        json_pack("{s:i s:o s:o}", "trials", (int)notices->disturbed_count,
                                  "foreign_cpu_max", orch_json_finite(notices->foreign_cpu_max),
                                  "threshold", orch_json_finite(ORCH_FOREIGN_CPU_MAX)));
}
