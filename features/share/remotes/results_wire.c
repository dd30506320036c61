/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fetch and push through the `git` program, which supports ssh, credential helpers and proxies. One
 * ref is named in each direction, so that the user's settings (mirror, prune, tags, submodules)
 * have no effect. Objects are checked when they are received, but names in trees are not: one
 * member's invalid name would keep the whole group from fetching. Our own reader refuses such
 * names, and nothing is ever checked out. */
#include "features/share/remotes/results_private.h"

#include "lib/base/error.h"

#include <string.h>

/* A ref is locked for milliseconds by each process that fetches concurrently. */
enum { LOCK_ATTEMPTS_MAX = 50 };

#define SSH_SILENT                                                                                 \
    "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=30 -o ServerAliveCountMax=4"

/* Messages of git, their explanations and hints. */
static const struct {
    const char *git_output;
    const char *what; /* NULL: git's message alone */
    const char *hint;
} TROUBLES[] = {
    {"shallow update not allowed", "the remote is a shallow clone",
     "use the repository that it was cloned from"},
    {"hook declined", "a hook on the remote's server declined",
     "ask its owner to allow pushes to refs/orch/results"},
    {"protected", "the remote's server declined",
     "ask its owner to allow pushes to refs/orch/results"},
    {"deny updating a hidden ref", "the remote's server hides refs/orch",
     "ask its owner to allow pushes to refs/orch/results"},
    {"dubious ownership", NULL,
     "if you trust its owner: git config --global --add safe.directory "
     "and the path that git names"},
    {"publickey", "signing in failed", "'ssh-add' gives your key to the agent"},
    {"Host key verification failed", "the host is not known",
     "run 'git fetch' once, and check the host's key"},
    {"Authentication failed", "signing in failed", "'git fetch' must work first"},
    {"could not read Username", "signing in failed",
     "run the command on a terminal, where git can ask"},
    {"could not read Password", "signing in failed",
     "run the command on a terminal, where git can ask"},
    {"insufficient permission", "no permission to write there", "ask its owner for write access"},
    {"Read-only file system", "the remote is read-only",
     "hand on a bundle: orch export --bundle FILE"},
    {"unable to create temporary", "no permission to write there",
     "ask its owner for write access"},
    {"unable to migrate objects", "no permission to write there", "ask its owner for write access"},
    {"The requested URL returned error: 403", "no permission to write there",
     "ask its owner for write access"},
    {"Permission denied", "permission denied", "ask its owner for access"},
    {"denied to", "no permission to write there", "ask its owner for write access"},
    {"Could not resolve host", "it cannot be reached",
     "nothing is lost: run it again with a network"},
    {"Connection refused", "it cannot be reached", "nothing is lost: run it again later"},
    {"timed out", "it cannot be reached", "nothing is lost: run it again later"},
    {"Failed to connect", "it cannot be reached", "nothing is lost: run it again later"},
    {"Couldn't connect", "it cannot be reached", "nothing is lost: run it again later"},
    {"unreachable", "it cannot be reached", "nothing is lost: run it again later"},
    {"No route to host", "it cannot be reached", "nothing is lost: run it again later"},
    {"does not appear to be a git repository", "there is no git repository",
     "'git remote -v' shows the address"},
    {"not found", "there is no such repository, or you may not see it",
     "'git remote -v' shows the address"},
    {"does not exist", "there is no such repository", "'git remote -v' shows the address"},
    {"transport 'ext' not allowed", NULL, NULL},
    {"fsck error", "its results hold damaged objects, which were not taken",
     "to delete all results: git push REMOTE :refs/orch/results; then everybody runs 'orch push'"},
    {"No space left", "the disk is full", NULL},
};

/* Removes the generic sentences at the end of git's messages. The caller frees. */
static char *without_tail(const char *git_output)
{
    const char *tail = strstr(git_output, "fatal: Could not read from remote repository");
    if (!tail || tail == git_output)
        return g_strdup(git_output);
    char *text = g_strndup(git_output, (gsize)(tail - git_output));
    size_t length = strlen(text);
    while (length && strchr("; \n", text[length - 1]))
        text[--length] = 0;
    return text;
}

void orch_results_remote_error(const struct results_place *place, const char *doing,
                               const char *git_output, GError **error)
{
    g_autofree char *why = without_tail(git_output);
    for (size_t i = 0; i < G_N_ELEMENTS(TROUBLES); i++)
        if (strstr(git_output, TROUBLES[i].git_output)) {
            orch_error_set(error, ORCH_ERROR_IO, TROUBLES[i].hint, "cannot %s '%s': %s%s%s", doing,
                           place->remote, TROUBLES[i].what ? TROUBLES[i].what : "",
                           TROUBLES[i].what ? "; git says: " : "", why);
            return;
        }
    orch_error_set(error, ORCH_ERROR_IO, "'git fetch' shows whether the remote can be used",
                   "cannot %s '%s': %s", doing, place->remote, *why ? why : "git was stopped");
}

bool orch_results_run_remote(const struct results_place *place, const char *const *args,
                             double grace_s, GString **out, int *out_status, char **out_stderr,
                             GError **error)
{
    struct orch_git_run run = {
        .dir = place->dir,
        .args = args,
        .quiet_status = 1,
        .grace_s = grace_s,
        .may_ask = place->may_ask,
        .ssh = place->may_ask || place->sets_ssh || g_getenv("GIT_SSH") ? NULL : SSH_SILENT,
        .out_stderr = out_stderr};
    return orch_git_run(&run, out, out_status, error);
}

/* ---- fetch --------------------------------------------------------------------------------------
 */

/* Waits for the lock file that git's message names; a stale one is removed. */
static void wait_for_own_lock(const char *git_output)
{
    static const char begin[] = "Unable to create '";
    const char *path = strstr(git_output, begin), *end = path ? strstr(path, ".lock'") : NULL;
    if (!end)
        return;
    path += strlen(begin);
    g_autofree char *lock = g_strndup(path, (gsize)(end - path) + strlen(".lock"));
    if (*lock == '/' && strstr(lock, "/refs/orch/"))
        orch_results_lock_wait(lock);
}

/* Deletes the tracking ref, because the remote has no results. */
static bool forget(struct results_place *place, char **out_stderr)
{
    const char *const args[] = {"update-ref", "-d", place->tracking, NULL};
    struct orch_git_run run = {.dir = place->dir, .args = args, .quiet_status = 1};
    int status = 0;
    run.out_stderr = out_stderr;
    return orch_git_run(&run, NULL, &status, NULL) && status == 0;
}

/* Fetches once. `*out_stderr` is git's message on failure; the caller frees. */
static bool fetch_once(struct results_place *place, char **out_stderr)
{
    g_autofree char *refspec = g_strconcat("+", RESULTS_REF, ":", place->tracking, NULL);
    const char *const args[] = {
        "-c", "fetch.fsckObjects=true", "-c", "gc.auto=0",
        /* such names are never used as paths */
        "-c", "fetch.fsck.hasDot=ignore", "-c", "fetch.fsck.hasDotdot=ignore", "-c",
        "fetch.fsck.hasDotgit=ignore", "-c", "fetch.fsck.fullPathname=ignore", "-c",
        "fetch.fsck.gitmodulesBlob=ignore", "-c", "fetch.fsck.gitmodulesLarge=ignore", "-c",
        "fetch.fsck.gitmodulesMissing=ignore", "-c", "fetch.fsck.gitmodulesName=ignore", "-c",
        "fetch.fsck.gitmodulesParse=ignore", "-c", "fetch.fsck.gitmodulesPath=ignore", "-c",
        "fetch.fsck.gitmodulesSymlink=ignore", "-c", "fetch.fsck.gitmodulesUrl=ignore", "-c",
        "fetch.fsck.gitmodulesUpdate=ignore", "-c", "fetch.fsck.badFilemode=ignore", "-c",
        "fetch.writeCommitGraph=false", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
        "--no-recurse-submodules", "--no-prune", "--no-filter", "--no-show-forced-updates",
        "--refmap=", "--", place->remote, refspec, NULL};
    int status = 0;
    if (orch_results_run_remote(place, args, 0, NULL, &status, out_stderr, NULL) && status == 0)
        return true;
    if (!*out_stderr || !strstr(*out_stderr, "couldn't find remote ref " RESULTS_REF))
        return false;
    g_clear_pointer(out_stderr, g_free);
    return forget(place, out_stderr);
}

bool orch_results_fetch(struct results_place *place, GError **error)
{
    for (int i = 0;; i++) {
        g_autofree char *git_output = NULL;
        if (fetch_once(place, &git_output))
            return true;
        if (i == LOCK_ATTEMPTS_MAX || !git_output || !orch_results_is_ref_locked(git_output)) {
            orch_results_remote_error(place, "fetch from", git_output ? git_output : "", error);
            return false;
        }
        wait_for_own_lock(git_output);
        g_usleep((gulong)g_random_int_range(5, 20 + 10 * MIN(i, 20)) * 1000);
    }
}

/* ---- push ---------------------------------------------------------------------------------------
 */

/* True when the status lines of --porcelain say that the remote ref was changed by another push. */
static bool was_raced(const char *porcelain)
{
    static const char *const reasons[] = {"(fetch first)",
                                          "(non-fast-forward)",
                                          "(stale info)",
                                          "(needs force)",
                                          "(failed to update ref)",
                                          "cannot lock ref",
                                          "reference already exists",
                                          "incorrect old value provided",
                                          "(remote ref updated",
                                          "failed to lock"};
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
        if (strstr(porcelain, reasons[i]))
            return true;
    return false;
}

/* A push that died in a repository on this machine may have left a lock there. */
static void wait_for_lock(const struct results_place *place, const char *git_output)
{
    static const char begin[] = "Unable to create '", end[] = "refs/orch/results.lock'";
    const char *url = g_hash_table_lookup(place->urls, place->remote);
    const char *path = strstr(git_output, begin), *tail = path ? strstr(path, end) : NULL;
    url = url ? url : place->remote;
    bool is_local = *url == '/' || *url == '.' || g_str_has_prefix(url, "file://");
    if (!is_local || !tail)
        return;
    path += strlen(begin);
    g_autofree char *lock = g_strndup(path, (gsize)(tail - path) + strlen(end) - 1);
    if (*lock == '/')
        orch_results_lock_wait(lock);
}

bool orch_results_push(struct results_place *place, const git_oid *commit, bool *out_lost_race,
                       GError **error)
{
    char id[GIT_OID_HEXSZ + 1];
    git_oid_tostr(id, sizeof id, commit);
    g_autofree char *refspec = g_strconcat(id, ":", RESULTS_REF, NULL);
    g_autofree char *mirror = g_strdup_printf("remote.%s.mirror=false", place->remote);
    bool is_named = g_hash_table_contains(place->urls, place->remote);
    const char *const args[] = {"-c",
                                is_named ? mirror : "push.default=nothing",
                                "-c",
                                "push.gpgSign=false",
                                "-c",
                                "push.followTags=false",
                                "-c",
                                "pack.useSparse=true",
                                "-c",
                                "gc.auto=0",
                                "push",
                                "--quiet",
                                "--porcelain",
                                "--no-verify",
                                "--recurse-submodules=no",
                                "--",
                                place->remote,
                                refspec,
                                NULL};
    GError *problem = NULL;
    GString *out = NULL;
    g_autofree char *git_output = NULL;
    int status = 0;
    *out_lost_race = false;
    bool ran = orch_results_run_remote(place, args, 0, &out, &status, &git_output, &problem);
    g_clear_error(&problem);
    g_autofree char *porcelain = ran ? g_string_free(out, FALSE) : g_strdup("");
    if (ran && status == 0)
        return true;
    if (was_raced(porcelain) || (git_output && strstr(git_output, "cannot lock ref"))) {
        wait_for_lock(place, git_output ? git_output : "");
        *out_lost_race = true;
        return true;
    }
    g_autofree char *all =
        g_strconcat(git_output ? git_output : "", strchr(porcelain, '!') ? "; " : "",
                    strchr(porcelain, '!') ? strchr(porcelain, '!') : "", NULL);
    for (char *at = all; *at; at++)
        *at = *at == '\n' || *at == '\t' ? ' ' : *at;
    orch_results_remote_error(place, "push to", g_strchomp(all), error);
    return false;
}
