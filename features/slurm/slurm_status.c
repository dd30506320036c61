/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_status.h"

#include "features/slurm/slurm_answers.h"
#include "features/slurm/slurm_states.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/shared_file.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 256 << 20, LOCK_TRIES = 600 /* of 100 ms */ };

char *orch_slurm_comment(const char *key)
{
    return g_strconcat(ORCH_SLURM_COMMENT, key, NULL);
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

/* True when squeue says that an element has ended, and sacct has not confirmed it. */
static bool is_unaccounted(const json_t *job)
{
    return is_ended(job) && !json_object_get(job, "exit_status");
}

/* True when sacct may yet say something else of an element that has ended. */
static bool is_unconfirmed(const json_t *job)
{
    const struct orch_slurm_state *state =
        orch_slurm_state_find(orch_json_text(job, "state", NULL));
    return is_unaccounted(job) || (state && orch_slurm_state_is_restarted(state));
}

/* squeue gives no memory and no exit status: sacct adds them once an element has ended. */
static void add_ended(GHashTable *wanted, json_t *answer, GPtrArray *missing)
{
    GHashTableIter iter;
    gpointer element;
    g_hash_table_iter_init(&iter, wanted);
    while (g_hash_table_iter_next(&iter, &element, NULL)) {
        json_t *job = json_object_get(json_object_get(answer, "jobs"), element);
        if (is_unconfirmed(job))
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

/* Keeps since when the end of elements is not confirmed. */
static void note_late_accounts(const GPtrArray *asked, const json_t *before, json_t *answer,
                               int64_t now_ns)
{
    json_t *jobs = json_object_get(answer, "jobs"), *absent = json_object_get(answer, "absent");
    for (guint i = 0; i < asked->len; i++) {
        const char *element = asked->pdata[i];
        int64_t since_ns = orch_json_int(json_object_get(before, "absent"), element, now_ns);
        if (is_unconfirmed(json_object_get(jobs, element)))
            json_object_set_new(absent, element, json_integer(since_ns));
    }
}

static json_t *ask(GHashTable *wanted, const json_t *before, char **out_problem)
{
    json_t *answer = empty_answer();
    int64_t now_ns = orch_now_ns();
    bool has_accounting = !json_is_false(json_object_get(before, "accounting"));
    json_object_set_new(answer, "asked_ns", json_integer(now_ns));
    *out_problem = orch_slurm_queue_ask(answer);
    g_autoptr(GPtrArray) missing = missing_elements(wanted, before, answer);
    if (!*out_problem) {
        g_autoptr(GPtrArray) asked = g_ptr_array_copy(missing, NULL, NULL);
        add_ended(wanted, answer, asked);
        g_autoptr(json_t) found =
            asked->len ? orch_slurm_accounts_ask(asked, &has_accounting) : NULL;
        if (found || !has_accounting)
            note_absence(missing, found, before, answer, now_ns);
        merge_accounts(found, answer);
        note_late_accounts(asked, before, answer, now_ns);
    } else {
        json_object_set_new(answer, "problem", json_string(*out_problem));
        json_object_set_new(answer, "asked_ns", json_integer(orch_now_ns())); /* it took its time */
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

/* Opens and locks the lock file, which whoever came first made; -1 with an error. Waits as long as
 * another command may ask, but not for ever: others may write to the folder of a shared store. */
static int lock_answer(const char *folder, GError **error)
{
    g_autofree char *lock = g_build_filename(folder, "lock", NULL);
    int fd = orch_shared_open(AT_FDCWD, lock, lock, O_RDWR | O_CREAT, 0666, ORCH_SHARED_ANY_OWNER,
                              error);
    bool is_locked = false;
    for (int i = 0; fd >= 0 && i < LOCK_TRIES && !is_locked; i++) {
        is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!is_locked)
            g_usleep(100000);
    }
    if (fd < 0 || is_locked)
        return fd;
    close(fd);
    orch_error_set(error, ORCH_ERROR_IO, "'lslocks' shows the process that holds the lock",
                   "'%s' was locked for %d s", lock, LOCK_TRIES / 10);
    return -1;
}

/* Asks while holding a lock, so that of several commands one asks and the others read its answer.
 */
static bool refresh(const char *folder, const char *path, GHashTable *wanted, json_t **answer,
                    GError **error)
{
    int fd = lock_answer(folder, error);
    if (fd < 0)
        return false;
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
    out->is_unaccounted = status->has_accounting && absent_ns > 0 && is_unaccounted(found);
    bool is_missed = out->is_absent || (absent_ns > 0 && is_unconfirmed(found));
    out->absent_s = is_missed ? (double)(status->asked_ns - absent_ns) / 1e9 : 0;
}

int64_t orch_slurm_status_submission(const struct orch_slurm_status *status, const char *key)
{
    return orch_json_int(json_object_get(status->answer, "submissions"), key, 0);
}
