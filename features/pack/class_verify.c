/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifies a folder of hand-ins. Each pack is verified in its own process ('orch verify FILE --json
 * --facts'), so that a damaged or slow pack does not affect the others, and all processors are
 * used. */
#include "features/pack/class.h"

#include "features/pack/unzip.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/spawn.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "store/exchange/bundle.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANDINS_MAX = 2000, JOBS_MAX = 64 };
#define OUTCOME_BYTES_MAX ((size_t)256 << 20)
#define SECONDS_MAX 300.0 /* time limit for one pack */

/* ---- the packs of a folder ---------------------------------------------------------------------
 */

/* True for the ZIP of a hand-in without its pack beside it. */
static bool is_lone_zip(const char *path)
{
    if (!g_str_has_suffix(path, ".zip") || !orch_zip_is(path))
        return false;
    g_autofree char *stem = g_strndup(path, strlen(path) - strlen(".zip"));
    g_autofree char *pack = g_strconcat(stem, ".orch", NULL);
    return !g_file_test(pack, G_FILE_TEST_EXISTS);
}

static void add_packs(GPtrArray *paths, const char *folder, int depth)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) && paths->len < HANDINS_MAX) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (name[0] == '.' || g_file_test(path, G_FILE_TEST_IS_SYMLINK))
            continue;
        if (depth && g_file_test(path, G_FILE_TEST_IS_DIR))
            add_packs(paths, path, depth - 1);
        else if (orch_bundle_is(path) || is_lone_zip(path))
            g_ptr_array_add(paths, g_steal_pointer(&path));
    }
}

GPtrArray *orch_submissions_find(const char *folder, GError **error)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    add_packs(paths, folder, 2);
    g_ptr_array_sort(paths, orch_compare_texts);
    if (!paths->len) {
        orch_error_set(error, ORCH_ERROR_IO, "'orch pack RECIPE FILE' makes a pack",
                       "there is no pack file in '%s'", folder);
        return NULL;
    }
    GPtrArray *handins = g_ptr_array_new_with_free_func((GDestroyNotify)orch_submission_free);
    for (guint i = 0; i < paths->len; i++)
        g_ptr_array_add(handins, orch_submission_new(paths->pdata[i]));
    return handins;
}

/* ---- one process a pack ------------------------------------------------------------------------
 */

struct child {
    struct orch_submission *submission; /* NULL: unused entry */
    pid_t pid;
    char *out, *err; /* files */
    int64_t started_ns;
};

static GPtrArray *command_of(const char *const *plugin_paths, const char *path, bool is_full)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup("/proc/self/exe"));
    g_ptr_array_add(argv, g_strdup("verify"));
    g_ptr_array_add(argv, g_strdup("--json"));
    g_ptr_array_add(argv, g_strdup("--facts"));
    if (!is_full)
        g_ptr_array_add(argv, g_strdup("--quick"));
    for (int i = 0; plugin_paths && plugin_paths[i]; i++) {
        g_ptr_array_add(argv, g_strdup("--plugin-path"));
        g_ptr_array_add(argv, g_strdup(plugin_paths[i]));
    }
    g_ptr_array_add(argv, g_strdup("--"));
    g_ptr_array_add(argv, orch_path_absolute(path, NULL));
    g_ptr_array_add(argv, NULL);
    return argv;
}

static bool start(const char *const *plugin_paths, struct child *child, const char *scratch,
                  guint index, bool is_full)
{
    child->out = g_strdup_printf("%s/%u.out", scratch, index);
    child->err = g_strdup_printf("%s/%u.err", scratch, index);
    child->started_ns = orch_mono_ns();
    g_autoptr(GPtrArray) argv = command_of(plugin_paths, child->submission->file, is_full);
    const struct orch_spawn program = {
        .argv = (const char *const *)argv->pdata,
        .files = {"/dev/null", child->out, child->err},
        .file_mode = 0600,
        .shares_group = true,
    };
    return orch_spawn(&program, &child->pid) == 0;
}

static void read_outcome(struct child *child, int status)
{
    struct orch_submission *submission = child->submission;
    char *text = NULL;
    size_t length = 0;
    if (orch_file_read(child->out, OUTCOME_BYTES_MAX, &text, &length, NULL) && length)
        submission->outcome = orch_json_parse(text, length, OUTCOME_BYTES_MAX, NULL);
    if (json_object_get(submission->outcome, "error")) /* there is no outcome; stderr says why */
        g_clear_pointer(&submission->outcome, json_decref);
    g_free(text);
    text = NULL;
    if (!submission->outcome && orch_file_read(child->err, 65536, &text, &length, NULL) && length)
        submission->why = g_strdup(g_str_has_prefix(text, "orch: ") ? text + 6 : text);
    g_free(text);
    if (submission->why)
        submission->why[strcspn(submission->why, "\n")] = 0;
    else if (!submission->outcome)
        submission->why = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                              ? g_strdup("not verified within 5 minutes, or killed")
                              : g_strdup_printf("verifying ended with status %d", status);
}

static void finish(struct child *child, int status)
{
    read_outcome(child, status);
    unlink(child->out);
    unlink(child->err);
    g_clear_pointer(&child->out, g_free);
    g_clear_pointer(&child->err, g_free);
    child->submission = NULL;
}

/* Checks whether a child has ended; kills it when it exceeds the time limit. */
static bool look_at(struct child *child)
{
    int status = 0;
    if (child->pid > 0 && waitpid(child->pid, &status, WNOHANG) == 0) {
        if ((double)(orch_mono_ns() - child->started_ns) / 1e9 > SECONDS_MAX)
            kill(child->pid, SIGKILL);
        return false;
    }
    finish(child, status);
    return true;
}

static void verify_all(const char *const *plugin_paths, GPtrArray *handins, const char *scratch,
                       bool is_full, int jobs)
{
    struct child children[JOBS_MAX] = {{0}};
    guint next = 0, left = handins->len;
    while (left) {
        bool any = false;
        for (int i = 0; i < jobs; i++) {
            if (!children[i].submission && next < handins->len) {
                children[i].submission = handins->pdata[next];
                start(plugin_paths, &children[i], scratch, next++, is_full);
                any = true;
            } else if (children[i].submission && look_at(&children[i])) {
                left--;
                any = true;
            }
        }
        if (!any)
            g_usleep(2000);
    }
}

bool orch_submissions_verify(GPtrArray *handins, const char *const *plugin_paths, bool is_full,
                             int jobs, GError **error)
{
    g_autofree char *scratch = orch_temporary_folder("class", error);
    if (!scratch)
        return false;
    int processors = jobs > 0 ? jobs : (int)g_get_num_processors();
    verify_all(plugin_paths, handins, scratch, is_full, CLAMP(processors, 1, JOBS_MAX));
    orch_tree_remove(scratch, NULL);
    return true;
}
