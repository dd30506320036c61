/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_answers.h"

#include "features/slurm/slurm_command.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- squeue -----------------------------------------------------------------------------------
 */

/* A line of squeue: job | index | state | reason | nodes | comment. */
static void take_queue_line(char *line, json_t *answer)
{
    g_auto(GStrv) f = g_strsplit(line, "|", 6);
    if (g_strv_length(f) < 6)
        return;
    g_autofree char *element = g_strdup_printf("%s_%s", f[0], f[1]);
    g_autofree char *reason = g_utf8_make_valid(f[3], -1);
    g_autofree char *nodes = g_utf8_make_valid(f[4], -1);
    json_object_set_new(
        json_object_get(answer, "jobs"), element,
        json_pack("{s:s s:s s:s}", "state", g_strstrip(f[2]), "reason", reason, "nodes", nodes));
    int64_t job;
    if (g_str_has_prefix(f[5], ORCH_SLURM_COMMENT) && orch_int_parse(f[0], &job))
        json_object_set_new(json_object_get(answer, "submissions"),
                            f[5] + strlen(ORCH_SLURM_COMMENT), json_integer(job));
}

char *orch_slurm_queue_ask(json_t *answer)
{
    g_autofree char *user = g_strdup_printf("%u", (unsigned)getuid());
    const char *const argv[] = {
        "squeue", "-h", "-r", "-t", "all", "-u", user, "-o", "%F|%K|%T|%r|%N|%k", NULL};
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) problem = NULL;
    int status = orch_slurm_run(argv, &out, &err, &problem);
    if (status < 0)
        return orch_error_what(problem);
    if (status > 0) {
        g_autofree char *complaint = orch_slurm_complaint(err);
        return g_strdup_printf("squeue: %s", complaint);
    }
    g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
    for (char **line = lines; *line; line++)
        take_queue_line(*line, answer);
    return NULL;
}

int64_t orch_slurm_queue_find_folder(const char *folder)
{
    g_autofree char *user = g_strdup_printf("%u", (unsigned)getuid());
    const char *const argv[] = {"squeue", "-h", "-t", "all", "-u", user, "-o", "%F|%Z", NULL};
    g_autofree char *out = NULL, *err = NULL;
    int64_t job = 0;
    if (orch_slurm_run(argv, &out, &err, NULL) != 0)
        return 0;
    g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
    for (char **line = lines; *line; line++) {
        char *bar = strchr(*line, '|');
        if (!bar || strcmp(g_strstrip(bar + 1), folder) != 0)
            continue;
        *bar = 0;
        if (orch_int_parse(g_strstrip(*line), &job) && job > 0)
            return job;
    }
    return 0;
}

/* ---- sacct ------------------------------------------------------------------------------------
 */

/* "12345K", "1.5G": as sacct writes MaxRSS. */
static int64_t parse_memory(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double value = g_ascii_strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    double factor = unit ? pow(1024, (double)(unit - units + 1)) : 1;
    return isfinite(value) && value > 0 && value < 1e12 ? (int64_t)(value * factor) : 0;
}

/* A line of sacct: id | state | exit | elapsed | MaxRSS | nodes; the steps of a job (ID.batch) have
 * lines of their own, which hold its memory. */
static void take_account_line(char *line, json_t *found)
{
    g_auto(GStrv) f = g_strsplit(line, "|", 6);
    if (g_strv_length(f) < 6)
        return;
    char *step = strchr(f[0], '.');
    if (step)
        *step = 0;
    json_t *job = json_object_get(found, f[0]);
    if (!job) {
        job = json_object();
        json_object_set_new(found, f[0], job);
    }
    int64_t bytes = parse_memory(f[4]), elapsed_s;
    if (bytes > orch_json_int(job, "max_rss_bytes", 0))
        json_object_set_new(job, "max_rss_bytes", json_integer(bytes));
    /* a step that ran out of memory is not always the state of its job */
    if (!step || g_str_has_prefix(f[1], "OUT_OF_ME"))
        json_object_set_new(
            job, "state",
            json_string(g_str_has_prefix(f[1], "OUT_OF_ME") ? "OUT_OF_MEMORY" : f[1]));
    if (step)
        return;
    json_object_set_new(job, "exit_status", json_string(f[2]));
    json_object_set_new(job, "nodes", json_string(f[5]));
    if (orch_int_parse(f[3], &elapsed_s))
        json_object_set_new(job, "elapsed_s", json_integer(elapsed_s));
}

/* The distinct numbers of jobs among elements, separated by commas. */
static char *jobs_of(const GPtrArray *elements)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GString *list = g_string_new(NULL);
    for (guint i = 0; i < elements->len; i++) {
        const char *element = elements->pdata[i];
        char *job = g_strndup(element, strcspn(element, "_"));
        bool is_new = !g_hash_table_contains(seen, job);
        if (is_new)
            g_string_append_printf(list, "%s%s", list->len ? "," : "", job);
        g_hash_table_add(seen, job);
    }
    return g_string_free(list, FALSE);
}

json_t *orch_slurm_accounts_ask(const GPtrArray *elements, bool *out_has_accounting)
{
    g_autofree char *jobs = jobs_of(elements);
    const char *const argv[] = {
        "sacct", "-n", "-P", "-o", "JobID,State,ExitCode,ElapsedRaw,MaxRSS,NodeList",
        "-j",    jobs, NULL};
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) problem = NULL;
    int status = orch_slurm_run(argv, &out, &err, &problem);
    bool is_absent = g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND);
    *out_has_accounting = !(is_absent || (status > 0 && strstr(err, "disabled")));
    if (status != 0)
        return NULL;
    json_t *found = json_object();
    g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
    for (char **line = lines; *line; line++)
        take_account_line(*line, found);
    return found;
}
