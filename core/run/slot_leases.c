/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/run/slot_leases.h"

#include "core/run/collect.h"

#include "lib/base/below.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "lock"
#define FORMAT 1
#define FILE_BYTES_MAX (4 << 20)
#define ROWS_MAX 10000
#define LOCK_TRIES 200 /* of 5 ms */

static void free_lease(void *lease)
{
    orch_lease_free(lease);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Sets is_dead; false when the entry is over. */
static bool is_living(struct orch_lease *lease)
{
    struct orch_process runner = lease->runner;
    if (orch_process_is_alive(&runner))
        return true;
    struct orch_process self;
    bool is_this_boot =
        orch_process_get(getpid(), &self) && strcmp(self.boot_id, lease->runner.boot_id) == 0;
    lease->is_dead = true;
    return is_this_boot && !lease->is_waiting && *lease->key && lease->trial_dir &&
           orch_trial_has_processes(lease->key, lease->trial_dir);
}

/* The entries of one user's file. Another user's malformed file is ignored, because only that user
 * can repair it. */
static bool read_file(int folder_fd, const char *folder, const char *name, GPtrArray *rows,
                      GError **error)
{
    uid_t uid = (uid_t)g_ascii_strtoull(name, NULL, 10);
    bool is_mine = uid == geteuid();
    g_autofree char *text = NULL;
    size_t length = 0;
    struct stat info;
    if (!orch_below_stat(folder_fd, name, &info) || info.st_uid != uid)
        return true; /* just removed, or somebody passes for that user */
    if (!orch_below_read(folder_fd, name, FILE_BYTES_MAX, &text, &length, is_mine ? error : NULL))
        return !is_mine;
    g_autoptr(json_t) json = orch_json_parse(text, length, FILE_BYTES_MAX, NULL);
    const json_t *entries = json_object_get(json, "entries");
    gint64 format = orch_json_int(json, "format", 0);
    if (is_mine && (format != FORMAT || !json_is_array(entries))) {
        orch_error_set(error, ORCH_ERROR_IO, "remove it when no 'orch run' works on this machine",
                       "cannot read '%s/%s': it is not a list of slots in format %d", folder, name,
                       FORMAT);
        return false;
    }
    for (size_t i = 0; format == FORMAT && i < MIN(json_array_size(entries), ROWS_MAX); i++) {
        struct orch_lease *lease = orch_lease_decode(json_array_get(entries, i), uid);
        if (lease && is_living(lease))
            g_ptr_array_add(rows, lease);
        else
            orch_lease_free(lease);
    }
    return true;
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

static GPtrArray *read_all(int folder_fd, const char *folder, GError **error)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(free_lease);
    g_autoptr(GPtrArray) names = orch_below_list(folder_fd, "");
    for (guint i = 0; i < names->len; i++) {
        if (!is_user_file(names->pdata[i]) ||
            read_file(folder_fd, folder, names->pdata[i], rows, error))
            continue;
        g_ptr_array_unref(rows);
        return NULL;
    }
    g_ptr_array_sort(rows, compare_leases);
    return rows;
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
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot open folder '%s'", path);
        return -1;
    }
    bool ok = fstat(fd, &info) == 0;
    if (ok && info.st_uid != geteuid() && info.st_mode & (S_IWGRP | S_IWOTH) &&
        !(info.st_mode & S_ISVTX)) {
        orch_error_set(error, ORCH_ERROR_IO, "remove it, or choose another with ORCH_SLOTS",
                       "cannot use '%s': anyone can replace the files in it", path);
        ok = false;
    }
    if (ok)
        return fd;
    close(fd);
    return -1;
}

/* Opened without O_CREAT first: with fs.protected_regular the kernel refuses O_CREAT on another
 * user's file in a sticky folder. */
static int open_lock(int folder_fd)
{
    int fd = openat(folder_fd, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    fd = openat(folder_fd, LOCK_NAME, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0) {
        if (fchmod(fd, 0644) != 0)
            g_debug("'%s' is not readable for all: %s", LOCK_NAME, g_strerror(errno));
        return fd;
    }
    return errno == EEXIST ? openat(folder_fd, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
}

/* True when the locked file is still the one that others will lock. */
static bool is_current(int folder_fd, int lock_fd)
{
    struct stat locked, named;
    return fstat(lock_fd, &locked) == 0 &&
           fstatat(folder_fd, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

static bool lock(struct orch_slot_leases *leases, GError **error)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        int fd = open_lock(leases->folder_fd);
        if (fd < 0) {
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot open '%s/" LOCK_NAME "'",
                                 leases->folder);
            return false;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_current(leases->folder_fd, fd)) {
            leases->lock_fd = fd;
            return true;
        }
        close(fd);
        g_usleep(5000);
    }
    orch_error_set(error, ORCH_ERROR_IO,
                   "a stopped 'orch run' may hold it: 'lslocks' shows its process",
                   "'%s/" LOCK_NAME "' was locked for a second", leases->folder);
    return false;
}

static void close_list(struct orch_slot_leases *leases)
{
    if (leases->rows)
        g_ptr_array_unref(leases->rows);
    if (leases->lock_fd >= 0)
        close(leases->lock_fd); /* unlocks */
    if (leases->folder_fd >= 0)
        close(leases->folder_fd);
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
    struct orch_slot_leases made = {.folder_fd = -1, .lock_fd = -1};
    made.folder = orch_slot_leases_folder();
    g_return_val_if_fail(made.folder, false);
    made.folder_fd = open_folder(made.folder, error);
    if (made.folder_fd >= 0 && lock(&made, error) &&
        (made.rows = read_all(made.folder_fd, made.folder, error)) != NULL) {
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
    if (!orch_below_write(leases->folder_fd, name, text, strlen(text), false, error))
        return false;
    if (fchmodat(leases->folder_fd, name, 0644, 0) != 0) /* whatever the umask: others read it */
        g_debug("'%s/%s' may not be readable for other users: %s", leases->folder, name,
                g_strerror(errno));
    return true;
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

GPtrArray *orch_slot_leases_list(void)
{
    g_autofree char *folder = orch_slot_leases_folder();
    int fd = folder ? orch_below_root(folder) : -1;
    GPtrArray *rows = fd >= 0 ? read_all(fd, folder, NULL) : NULL;
    if (fd >= 0)
        close(fd);
    return rows ? rows : g_ptr_array_new_with_free_func(free_lease);
}

void orch_slot_leases_touch(void)
{
    g_autofree char *folder = orch_slot_leases_folder();
    int fd = folder ? orch_below_root(folder) : -1;
    g_autofree char *name = g_strdup_printf("%u.json", (unsigned)geteuid());
    const char *const names[] = {LOCK_NAME, name};
    for (unsigned i = 0; fd >= 0 && i < G_N_ELEMENTS(names); i++)
        if (utimensat(fd, names[i], NULL, AT_SYMLINK_NOFOLLOW) != 0)
            g_debug("'%s/%s' was not touched: %s", folder, names[i], g_strerror(errno));
    if (fd >= 0)
        close(fd);
}
