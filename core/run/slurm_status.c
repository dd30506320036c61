/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/run/slurm_status.h"

#include "core/run/slurm_command.h"
#include "core/run/slurm_states.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define COMMENT "orch:"
enum { ANSWER_BYTES_MAX = 256 << 20 };

char *orch_slurm_comment(const char *key)
{
    return g_strconcat(COMMENT, key, NULL);
}

char *orch_slurm_element(int64_t job, int64_t index)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "_%" G_GINT64_FORMAT, job, index);
}

/* ---- the kept answer --------------------------------------------------------------------------
 */

static json_t *empty_answer(void)
{
    return json_pack("{s:I s:{} s:{} s:{} s:b}", "asked_ns", (json_int_t)0, "jobs", "absent",
                     "submissions", "accounting", true);
}

static json_t *read_answer(const char *path)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    json_t *answer = orch_file_read(path, ANSWER_BYTES_MAX, &text, &length, NULL)
                         ? orch_json_parse(text, length, ANSWER_BYTES_MAX, NULL)
                         : NULL;
    if (json_is_object(json_object_get(answer, "jobs")) &&
        json_is_object(json_object_get(answer, "absent")) &&
        json_is_object(json_object_get(answer, "submissions")))
        return answer;
    json_decref(answer);
    return empty_answer();
}

static bool is_ended(const json_t *job)
{
    const struct orch_slurm_state *state =
        orch_slurm_state_find(orch_json_text(job, "state", NULL));
    return state && state->is_ended;
}

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
    if (g_str_has_prefix(f[5], COMMENT) && orch_int_parse(f[0], &job))
        json_object_set_new(json_object_get(answer, "submissions"), f[5] + strlen(COMMENT),
                            json_integer(job));
}

/* Returns NULL, or why there is no answer; caller frees. */
static char *ask_queue(json_t *answer)
{
    g_autofree char *user = g_strdup_printf("%u", (unsigned)getuid());
    const char *const argv[] = {
        "squeue", "-h", "-r", "-t", "all", "-u", user, "-o", "%F|%K|%T|%r|%N|%k", NULL};
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) problem = NULL;
    int status = orch_slurm_run(argv, &out, &err, &problem);
    if (status < 0)
        return g_strdup(problem->message);
    if (status > 0) {
        g_autofree char *complaint = orch_slurm_complaint(err);
        return g_strdup_printf("squeue: %s", complaint);
    }
    g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
    for (char **line = lines; *line; line++)
        take_queue_line(*line, answer);
    return NULL;
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

/* Asks for elements that squeue does not know. Returns their states by element, or NULL when there
 * is no answer. `*out_has_accounting` is false when the cluster keeps no accounts. */
static json_t *ask_accounts(const GPtrArray *elements, bool *out_has_accounting)
{
    g_autofree char *jobs = jobs_of(elements);
    const char *const argv[] = {
        "sacct", "-n", "-P", "-o", "JobID,State,ExitCode,ElapsedRaw,MaxRSS,NodeList",
        "-j",    jobs, NULL};
    g_autofree char *out = NULL, *err = NULL;
    int status = orch_slurm_run(argv, &out, &err, NULL);
    *out_has_accounting = !(status < 0 || (status > 0 && strstr(err, "disabled")));
    if (status != 0)
        return NULL;
    json_t *found = json_object();
    g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
    for (char **line = lines; *line; line++)
        take_account_line(*line, found);
    return found;
}

/* ---- asking -----------------------------------------------------------------------------------
 */

/* Elements that the new answer lacks; those whose end is known already are carried over. */
static GPtrArray *missing_elements(GHashTable *wanted, const json_t *before, json_t *answer)
{
    GPtrArray *missing = g_ptr_array_new();
    json_t *jobs = json_object_get(answer, "jobs"), *old = json_object_get(before, "jobs");
    GHashTableIter iter;
    gpointer element;
    g_hash_table_iter_init(&iter, wanted);
    while (g_hash_table_iter_next(&iter, &element, NULL)) {
        json_t *known = json_object_get(old, element);
        if (json_object_get(jobs, element))
            continue;
        if (is_ended(known))
            json_object_set(jobs, element, known);
        else
            g_ptr_array_add(missing, element);
    }
    return missing;
}

static void note_absence(const GPtrArray *missing, const json_t *found, const json_t *before,
                         json_t *answer, int64_t now_ns)
{
    json_t *jobs = json_object_get(answer, "jobs"), *absent = json_object_get(answer, "absent");
    for (guint i = 0; i < missing->len; i++) {
        const char *element = missing->pdata[i];
        json_t *job = json_object_get(found, element);
        if (json_object_get(job, "state"))
            json_object_set(jobs, element, job);
        else
            json_object_set_new(
                absent, element,
                json_integer(orch_json_int(json_object_get(before, "absent"), element, now_ns)));
    }
}

/* squeue gives no memory and no exit status: sacct adds them once an element has ended. */
static void add_ended(GHashTable *wanted, json_t *answer, GPtrArray *missing)
{
    GHashTableIter iter;
    gpointer element;
    g_hash_table_iter_init(&iter, wanted);
    while (g_hash_table_iter_next(&iter, &element, NULL)) {
        json_t *job = json_object_get(json_object_get(answer, "jobs"), element);
        if (is_ended(job) && !json_object_get(job, "exit_status"))
            g_ptr_array_add(missing, element);
    }
}

/* Completes the states of ended elements with what the accounts say. A state that squeue gave stays
 * when slurmdbd is late, except that an account of too little memory is kept. */
static void merge_accounts(const json_t *found, json_t *answer)
{
    json_t *jobs = json_object_get(answer, "jobs");
    const char *element;
    json_t *account;
    json_object_foreach((json_t *)(uintptr_t)found, element, account)
    {
        json_t *job = json_object_get(jobs, element);
        const struct orch_slurm_state *state =
            orch_slurm_state_find(orch_json_text(account, "state", NULL));
        if (job && is_ended(job) && state && state->is_ended)
            json_object_update(job, account);
    }
}

static json_t *ask(GHashTable *wanted, const json_t *before, char **out_problem)
{
    json_t *answer = empty_answer();
    int64_t now_ns = orch_now_ns();
    bool has_accounting = !json_is_false(json_object_get(before, "accounting"));
    json_object_set_new(answer, "asked_ns", json_integer(now_ns));
    *out_problem = ask_queue(answer);
    g_autoptr(GPtrArray) missing = missing_elements(wanted, before, answer);
    if (!*out_problem) {
        g_autoptr(GPtrArray) asked = g_ptr_array_copy(missing, NULL, NULL);
        add_ended(wanted, answer, asked);
        g_autoptr(json_t) found = asked->len ? ask_accounts(asked, &has_accounting) : NULL;
        if (found || !has_accounting)
            note_absence(missing, found, before, answer, now_ns);
        merge_accounts(found, answer);
    } else {
        json_object_set_new(answer, "problem", json_string(*out_problem));
        json_object_set(answer, "absent", json_object_get(before, "absent"));
    }
    json_object_set_new(answer, "accounting", json_boolean(has_accounting));
    return answer;
}

static bool write_answer(const char *path, const json_t *answer, GError **error)
{
    g_autofree char *text = json_dumps(answer, JSON_COMPACT);
    if (text)
        return orch_file_write(path, text, strlen(text), false, error);
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "Slurm's answer is not UTF-8");
    return false;
}

static bool is_recent(const json_t *answer)
{
    int64_t age_ns = orch_now_ns() - orch_json_int(answer, "asked_ns", 0);
    return age_ns >= 0 && age_ns < ORCH_SLURM_ASK_EVERY_S * INT64_C(1000000000);
}

/* Asks while holding a lock, so that of several commands one asks and the others read its answer.
 */
static bool refresh(const char *folder, const char *path, GHashTable *wanted, json_t **answer,
                    GError **error)
{
    g_autofree char *lock = g_build_filename(folder, "lock", NULL);
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot lock '%s'", lock);
        if (fd >= 0)
            close(fd);
        return false;
    }
    json_decref(*answer);
    *answer = read_answer(path);
    bool ok = true;
    if (!is_recent(*answer)) {
        g_autofree char *problem = NULL;
        json_t *now = ask(wanted, *answer, &problem);
        json_decref(*answer);
        *answer = now;
        ok = write_answer(path, now, error);
    }
    close(fd);
    return ok;
}

bool orch_slurm_status_get(const char *folder, GHashTable *wanted, struct orch_slurm_status *out,
                           GError **error)
{
    g_autofree char *path = g_build_filename(folder, "answer.json", NULL);
    json_t *answer = read_answer(path);
    if (g_hash_table_size(wanted) && !is_recent(answer) &&
        !refresh(folder, path, wanted, &answer, error)) {
        json_decref(answer);
        return false;
    }
    *out = (struct orch_slurm_status){
        .answer = answer,
        .has_accounting = !json_is_false(json_object_get(answer, "accounting")),
        .problem = g_strdup(orch_json_text(answer, "problem", NULL)),
        .asked_ns = orch_json_int(answer, "asked_ns", 0),
    };
    return true;
}

void orch_slurm_status_clear(struct orch_slurm_status *status)
{
    json_decref(status->answer);
    g_free(status->problem);
    *status = (struct orch_slurm_status){0};
}

void orch_slurm_status_job(const struct orch_slurm_status *status, int64_t job, int64_t index,
                           struct orch_slurm_job *out)
{
    g_autofree char *element = orch_slurm_element(job, index);
    const json_t *found = json_object_get(json_object_get(status->answer, "jobs"), element);
    int64_t absent_ns = orch_json_int(json_object_get(status->answer, "absent"), element, 0);
    *out = (struct orch_slurm_job){
        .state = orch_json_text(found, "state", NULL),
        .reason = orch_json_text(found, "reason", ""),
        .nodes = orch_json_text(found, "nodes", ""),
        .exit_status = orch_json_text(found, "exit_status", ""),
        .elapsed_s = json_object_get(found, "elapsed_s")
                         ? (double)orch_json_int(found, "elapsed_s", 0)
                         : (double)NAN,
        .max_rss_bytes = orch_json_int(found, "max_rss_bytes", 0),
    };
    out->is_absent = !found && absent_ns > 0 && !status->problem;
    out->absent_s = out->is_absent ? (double)(status->asked_ns - absent_ns) / 1e9 : 0;
}

int64_t orch_slurm_status_submission(const struct orch_slurm_status *status, const char *key)
{
    return orch_json_int(json_object_get(status->answer, "submissions"), key, 0);
}
