/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/slot_leases.h"

#include "core/record/trial_processes.h"
#include "core/schedule/slot_lease.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/base/shared_file.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which entries are of living processes ------------------------------------------------------
 */

/** A process that entries name; looked up once. */
struct runner {
    bool is_alive;
    struct orch_process process;
    uid_t uid;
};

static const struct runner *find_runner(GHashTable *runners, int64_t pid)
{
    struct runner *runner = g_hash_table_lookup(runners, GINT_TO_POINTER((int)pid));
    if (runner)
        return runner;
    runner = g_new0(struct runner, 1);
    runner->is_alive = orch_process_get((pid_t)pid, &runner->process) &&
                       orch_process_is_alive(&runner->process) &&
                       orch_process_owner((pid_t)pid, &runner->uid);
    g_hash_table_insert(runners, GINT_TO_POINTER((int)pid), runner);
    return runner;
}

enum life { OVER, LIVES, ORPHANED };

static enum life life_of(const struct orch_lease *lease, GHashTable *runners, const char *boot_id)
{
    if (strcmp(lease->runner.boot_id, boot_id) != 0)
        return OVER;
    const struct runner *runner = find_runner(runners, lease->runner.pid);
    if (runner->is_alive && runner->process.start == lease->runner.start) {
        bool is_later = orch_process_start_ns(&runner->process) <= lease->since_ns;
        return runner->uid == lease->uid && is_later ? LIVES : OVER;
    }
    return !lease->is_waiting && orch_key_is_valid(lease->key) && lease->trial_dir ? ORPHANED
                                                                                   : OVER;
}

/* Keeps the entries of dead runners whose trials still have processes. */
static void keep_ending(GPtrArray *rows, GPtrArray *orphaned)
{
    g_autofree struct orch_wanted_trial *trials = g_new0(struct orch_wanted_trial, orphaned->len);
    g_autoptr(GPtrArray) wanted = g_ptr_array_new();
    for (guint i = 0; i < orphaned->len; i++) {
        const struct orch_lease *lease = orphaned->pdata[i];
        trials[i] = (struct orch_wanted_trial){lease->key, lease->trial_dir, lease->uid, false};
        g_ptr_array_add(wanted, &trials[i]);
    }
    orch_trials_look_for(wanted);
    for (guint i = 0; i < orphaned->len; i++) {
        struct orch_lease *lease = orphaned->pdata[i];
        lease->is_dead = true;
        if (trials[i].is_found)
            g_ptr_array_add(rows, lease);
        else
            orch_lease_free(lease);
    }
}

/* Removes the entries (struct orch_lease *) that do not count. An entry counts while its runner
 * lives, belongs to the owner of the file and began before the entry; else, with is_dead set, while
 * a process of its trial lives that belongs to this owner. */
static void slots_keep_living(GPtrArray *rows)
{
    struct runner *self = g_new0(struct runner, 1);
    g_autoptr(GHashTable) runners = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GPtrArray) all = g_ptr_array_new(), orphaned = g_ptr_array_new();
    self->is_alive = orch_process_get(getpid(), &self->process);
    self->uid = geteuid();
    g_hash_table_insert(runners, GINT_TO_POINTER((int)getpid()), self);
    while (rows->len)
        g_ptr_array_add(all, g_ptr_array_steal_index(rows, rows->len - 1));
    for (guint i = 0; i < all->len; i++) {
        struct orch_lease *lease = all->pdata[i];
        enum life life = life_of(lease, runners, self->process.boot_id);
        if (life == OVER)
            orch_lease_free(lease);
        else
            g_ptr_array_add(life == LIVES ? rows : orphaned, lease);
    }
    keep_ending(rows, orphaned);
}

/* ---- the list -----------------------------------------------------------------------------------
 */

#define FORMAT 1
#define FILE_BYTES_MAX (1 << 20)   /* of one user */
#define OTHERS_BYTES_MAX (8 << 20) /* of all other users */
#define ROWS_MAX 2000              /* of one user */
#define LOCK_TRIES 1000            /* of 5 ms */

/* ---- reading ----------------------------------------------------------------------------------
 */

/* What was read of the list. */
struct reading {
    int folder_fd;
    const char *folder;
    size_t others_bytes;
    GPtrArray *rows;
};

static bool decode_file(const char *text, size_t length, const char *shown, uid_t uid,
                        GPtrArray *rows, GError **error)
{
    g_autoptr(json_t) json = orch_json_parse(text, length, FILE_BYTES_MAX, NULL);
    const json_t *entries = json_object_get(json, "entries");
    if (orch_json_int(json, "format", 0) != FORMAT || !json_is_array(entries)) {
        g_autofree char *who = orch_user_describe(uid);
        orch_error_set(
            error, ORCH_ERROR_IO,
            "the file's owner can remove it while no 'orch run' runs on this machine",
            "cannot read '%s' of %s: it is not a list of slots (CPUs and GPUs in use) in format %d",
            shown, who, FORMAT);
        return false;
    }
    for (size_t i = 0; i < MIN(json_array_size(entries), ROWS_MAX); i++) {
        struct orch_lease *lease = orch_lease_decode(json_array_get(entries, i), uid);
        if (lease)
            g_ptr_array_add(rows, lease);
    }
    return true;
}

/* The entries of one user's file, which belongs to this user. */
static bool read_file(struct reading *r, const char *name, uid_t uid, GError **error)
{
    g_autofree char *shown = g_build_filename(r->folder, name, NULL), *text = NULL;
    g_autoptr(GError) problem = NULL;
    size_t length = 0;
    int fd = orch_shared_open(r->folder_fd, name, shown, O_RDONLY, 0, uid, &problem);
    if (fd < 0 && g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND))
        return true; /* just removed */
    bool ok = fd >= 0 && orch_file_read_fd(fd, shown, FILE_BYTES_MAX, &text, &length, &problem);
    if (fd >= 0)
        close(fd);
    if (!ok) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    r->others_bytes += uid == geteuid() ? 0 : length;
    return decode_file(text, length, shown, uid, r->rows, error);
}

static int compare_leases(const void *a, const void *b)
{
    const struct orch_lease *x = *(const struct orch_lease *const *)a,
                            *y = *(const struct orch_lease *const *)b;
    if (x->since_ns != y->since_ns)
        return (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
    return (x->runner.pid > y->runner.pid) - (x->runner.pid < y->runner.pid);
}

static bool is_user_file(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits && digits <= 10 && strcmp(name + digits, ".json") == 0;
}

/* All entries, and the first problem with a file of another user, which only that user can mend.
 * NULL with an error when this user's own file cannot be used. */
static GPtrArray *read_all(int folder_fd, const char *folder, GError **out_left_out, GError **error)
{
    struct reading r = {folder_fd, folder, 0,
                        g_ptr_array_new_with_free_func((GDestroyNotify)orch_lease_free)};
    g_autoptr(GPtrArray) names = orch_below_list(folder_fd, "");
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        uid_t uid = (uid_t)g_ascii_strtoull(name, NULL, 10);
        bool is_mine = uid == geteuid();
        if (!is_user_file(name) || (!is_mine && r.others_bytes > OTHERS_BYTES_MAX) ||
            read_file(&r, name, uid,
                      is_mine         ? error
                      : *out_left_out ? NULL
                                      : out_left_out) ||
            !is_mine)
            continue;
        g_ptr_array_unref(r.rows);
        return NULL;
    }
    slots_keep_living(r.rows);
    g_ptr_array_sort(r.rows, compare_leases);
    return r.rows;
}

/* ---- the folder and its lock ------------------------------------------------------------------
 */

char *orch_slot_leases_folder(void)
{
    const char *folder = g_getenv("ORCH_SLOTS");
    if (g_strcmp0(folder, "off") == 0)
        return NULL;
    return g_strdup(folder && *folder ? folder : "/tmp/orch-slots");
}

static void set_unusable(GError **error, const char *path, int saved)
{
    g_autofree char *found = orch_shared_describe(AT_FDCWD, path);
    orch_error_set(error, ORCH_ERROR_IO, "choose another folder with ORCH_SLOTS=FOLDER",
                   "cannot open folder '%s' (%s): %s", path, found ? found : "it is gone",
                   g_strerror(saved));
}

/* Every user may add a file; only its owner may remove it (sticky bit). */
static int open_folder(const char *path, GError **error)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) {
        if (chmod(path, 01777) != 0)
            g_debug("'%s' stays private: %s", path, g_strerror(errno));
    } else if (errno != EEXIST) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make folder '%s'", path);
        return -1;
    }
    int fd = orch_below_root(path);
    if (fd < 0) {
        set_unusable(error, path, errno);
        return -1;
    }
    bool ok = fstat(fd, &info) == 0;
    if (ok && info.st_uid != geteuid() && info.st_mode & (S_IWGRP | S_IWOTH) &&
        !(info.st_mode & S_ISVTX)) {
        g_autofree char *who = orch_user_describe(info.st_uid);
        orch_error_set(error, ORCH_ERROR_IO, "choose another folder with ORCH_SLOTS=FOLDER",
                       "cannot use '%s' of %s: anyone can replace the files in it", path, who);
        ok = false;
    }
    if (ok)
        return fd;
    close(fd);
    return -1;
}

/* True when the locked folder is still the one that others will lock. */
static bool is_current(const char *path, int folder_fd)
{
    struct stat locked, named;
    return fstat(folder_fd, &locked) == 0 && lstat(path, &named) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

/* Opens the folder and locks it. */
static bool lock(struct orch_slot_leases *leases, GError **error)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        leases->folder_fd = open_folder(leases->folder, error);
        if (leases->folder_fd < 0)
            return false;
        if (flock(leases->folder_fd, LOCK_EX | LOCK_NB) == 0 &&
            is_current(leases->folder, leases->folder_fd))
            return true;
        close(leases->folder_fd);
        leases->folder_fd = -1;
        g_usleep(5000);
    }
    orch_error_set(error, ORCH_ERROR_IO,
                   "a stopped process may hold the lock: 'lslocks' shows which",
                   "'%s' was locked for %d s", leases->folder, LOCK_TRIES / 200);
    return false;
}

static void close_list(struct orch_slot_leases *leases)
{
    if (leases->rows)
        g_ptr_array_unref(leases->rows);
    if (leases->folder_fd >= 0)
        close(leases->folder_fd); /* unlocks */
    g_clear_error(&leases->left_out);
    g_free(leases->folder);
}

/* Kills what trials of dead runners left behind, as any command on their store would do. */
static void end_orphans(const GPtrArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_lease *lease = rows->pdata[i];
        if (lease->is_dead && lease->uid == geteuid())
            orch_trial_end_orphans(lease->key, lease->trial_dir);
    }
}

bool orch_slot_leases_begin(struct orch_slot_leases *out, GError **error)
{
    struct orch_slot_leases made = {.folder = orch_slot_leases_folder(), .folder_fd = -1};
    g_return_val_if_fail(made.folder, false);
    if (lock(&made, error) &&
        (made.rows = read_all(made.folder_fd, made.folder, &made.left_out, error)) != NULL) {
        end_orphans(made.rows);
        *out = made;
        return true;
    }
    close_list(&made);
    return false;
}

static bool write_mine(const struct orch_slot_leases *leases, GError **error)
{
    json_t *entries = json_array();
    for (guint i = 0; i < leases->rows->len; i++) {
        const struct orch_lease *lease = leases->rows->pdata[i];
        if (lease->uid == geteuid())
            json_array_append_new(entries, orch_lease_encode(lease));
    }
    g_autoptr(json_t) json = json_pack("{s:i s:o}", "format", FORMAT, "entries", entries);
    g_autofree char *text = orch_json_canonical(json);
    g_autofree char *name = g_strdup_printf("%u.json", (unsigned)geteuid());
    g_autoptr(GError) problem = NULL;
    if (orch_below_write_mode(leases->folder_fd, name, text, strlen(text), false, 0644, &problem))
        return true; /* others read it, whatever the umask */
    g_autofree char *found = orch_shared_describe(leases->folder_fd, name);
    g_autofree char *folder = orch_shared_describe(AT_FDCWD, leases->folder);
    g_autofree char *what = orch_error_what(problem);
    orch_error_set(error, ORCH_ERROR_IO, orch_error_hint(problem), "%s in '%s' (%s)", what,
                   leases->folder,
                   found    ? found
                   : folder ? folder
                            : "it is gone");
    return false;
}

bool orch_slot_leases_end(struct orch_slot_leases *leases, bool writes, GError **error)
{
    bool ok = !writes || write_mine(leases, error);
    close_list(leases);
    return ok;
}

bool orch_slot_leases_release(const char *key, GError **error)
{
    struct orch_slot_leases leases;
    struct orch_process self;
    if (!orch_process_get(getpid(), &self) || !orch_slot_leases_begin(&leases, error))
        return false;
    guint before = leases.rows->len;
    for (guint i = leases.rows->len; i-- > 0;) {
        const struct orch_lease *lease = leases.rows->pdata[i];
        if (orch_lease_is_of(lease, &self) && (!key || strcmp(lease->key, key) == 0))
            g_ptr_array_remove_index(leases.rows, i);
    }
    return orch_slot_leases_end(&leases, leases.rows->len < before, error);
}

GPtrArray *orch_slot_leases_list(GError **out_problem)
{
    g_autofree char *folder = orch_slot_leases_folder();
    g_autoptr(GError) left_out = NULL;
    GPtrArray *rows = NULL;
    int fd = folder ? orch_below_root(folder) : -1;
    if (fd >= 0) {
        GError *problem = NULL;
        rows = read_all(fd, folder, &left_out, &problem);
        close(fd);
        problem = problem ? problem : g_steal_pointer(&left_out);
        if (problem)
            g_propagate_error(out_problem, problem);
    } else if (folder && errno != ENOENT) {
        set_unusable(out_problem, folder, errno);
    }
    return rows ? rows : g_ptr_array_new_with_free_func((GDestroyNotify)orch_lease_free);
}

void orch_slot_leases_touch(void)
{
    g_autofree char *folder = orch_slot_leases_folder();
    int fd = folder ? orch_below_root(folder) : -1;
    g_autofree char *name = g_strdup_printf("%u.json", (unsigned)geteuid());
    if (fd < 0)
        return;
    if (utimensat(fd, name, NULL, AT_SYMLINK_NOFOLLOW) != 0)
        g_debug("'%s/%s' was not touched: %s", folder, name, g_strerror(errno));
    close(fd);
}
