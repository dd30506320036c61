/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each host knows of the others' files.
 *
 * In this host's file, written together with what came: the last run number that was read of each
 * other file (table `meta`, "shards"), and a token that changes with it. Beside it, in HOST.seen:
 * how each file looked when it was last read to its end, under that token. A file that looks the
 * same is not opened; when the token is another, the notes are of another time (a backup was put
 * back), and everything is looked at again. The notes lie beside the file because a look that
 * brought nothing must not change it: every other host would have to look again, for ever.
 *
 * Another host may be writing its file. We never write it, nor its journal. Under a rollback
 * journal a reader's lock keeps the writer from touching the pages, and a writer's lock makes us
 * wait; both are fcntl locks, which NFS carries from host to host. A journal that a writer left
 * when it died is played back into a copy, never into the file (foreign.c). Where a mount carries
 * no locks, a file that changed while it was read is noticed by its change counter, its size and
 * its time, and what came from it is taken back; and no run is taken whose rows do not give its
 * digest.
 */
#include "store/shards.h"
#include "store/join_internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { NOTES_MAX = 4 << 20, HOST_CHARS = 64, REFRESH_MS = 2000, REFRESH_TRIES = 20 };

unsigned store_shards_read_count;

/* ---- names ------------------------------------------------------------------------------------
 */

/* The first digits of a hash of the machine's id, or "" where it has none: two machines may have
 * one name. */
static void machine_digits(char out[9])
{
    g_autofree char *id = NULL;
    char sha256[ORCH_SHA256_CHARS];
    gsize length;
    out[0] = 0;
    if (!g_file_get_contents("/etc/machine-id", &id, &length, NULL) || length < 32)
        return;
    g_autofree char *salted = g_strconcat("orch shard ", g_strstrip(id), NULL);
    orch_sha256(salted, strlen(salted), sha256);
    g_strlcpy(out, sha256, 9);
}

/* Letters, digits, '.', '-' and '_'; no point at the begin. */
static char *clean_name(const char *name)
{
    char *clean = g_ascii_strdown(name, HOST_CHARS);
    for (char *c = clean; *c; c++)
        if (!g_ascii_isalnum(*c) && !strchr("._-", *c))
            *c = '-';
    if (*clean == '.')
        *clean = '-';
    return clean;
}

static char *host_name(void)
{
    const char *given = g_getenv("ORCH_SHARD_HOST");
    if (given && *given)
        return clean_name(given);
    char digits[9];
    machine_digits(digits);
    g_autofree char *clean = clean_name(g_get_host_name());
    return *digits ? g_strconcat(clean, "-", digits, NULL) : g_steal_pointer(&clean);
}

static char *shards_folder(const char *path)
{
    g_autofree char *folder = orch_store_folder_of(path);
    return g_build_filename(folder, "shards", NULL);
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the shards that count. */
static GPtrArray *list_shards(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".db") && *name != '.')
            g_ptr_array_add(names, g_strdup(name));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, by_text);
    return names;
}

/* ---- how it lies ------------------------------------------------------------------------------
 */

/* A folder that is exported has the same number on the disk that it lies on as over the network;
 * a copy of it has another. */
static char *place_text(const char *folder)
{
    struct stat info;
    return stat(folder, &info) == 0
               ? g_strdup_printf("%" G_GUINT64_FORMAT "\n", (guint64)info.st_ino)
               : g_strdup("");
}

static bool was_made_here(const char *folder)
{
    g_autofree char *file = g_build_filename(folder, ".place", NULL);
    g_autofree char *found = NULL, *now = place_text(folder);
    return orch_file_read(file, 100, &found, NULL, NULL) && strcmp(found, now) == 0;
}

static void note_place(const char *folder)
{
    g_autofree char *file = g_build_filename(folder, ".place", NULL);
    g_autofree char *now = place_text(folder);
    if (!was_made_here(folder))
        orch_file_write(file, now, strlen(now), false, NULL);
}

/* The file system of the nearest folder that is there. */
static bool is_on_network(const char *path)
{
    g_autofree char *at = g_strdup(path);
    bool local = true, network = false;
    struct stat info;
    while (stat(at, &info) != 0 && strlen(at) > 1) {
        char *parent = g_path_get_dirname(at);
        g_free(at);
        at = parent;
    }
    g_free(store_filesystem_name(store_filesystem_magic(at), &local));
    network = !local && store_filesystem_is_shared(store_filesystem_magic(at));
    return network;
}

enum store_layout store_layout_of(const char *path)
{
    const char *asked = g_getenv("ORCH_SHARDS");
    g_autofree char *folder = shards_folder(path);
    bool is_asked = asked && strcmp(asked, "1") == 0, is_refused = asked && strcmp(asked, "0") == 0;
    if (is_asked || (!is_refused && is_on_network(path)))
        return STORE_SHARDED;
    struct stat info;
    if (stat(folder, &info) != 0)
        return STORE_ONE_FILE;
    g_autoptr(GPtrArray) names = list_shards(folder);
    if (!names->len)
        return STORE_ONE_FILE;
    return !is_refused && was_made_here(folder) ? STORE_SHARDED : STORE_TO_FOLD;
}

bool orch_store_exists(const char *path)
{
    if (access(path, F_OK) == 0)
        return true;
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = shards_folder(absolute);
    g_autoptr(GPtrArray) names = list_shards(folder);
    return names->len > 0;
}

char *orch_store_layout(const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = shards_folder(absolute);
    const char *asked = g_getenv("ORCH_SHARDS");
    bool local;
    int64_t magic = store_filesystem_magic(absolute);
    g_autofree char *name = store_filesystem_name(magic, &local);
    switch (store_layout_of(absolute)) {
    case STORE_SHARDED:
        if (asked && strcmp(asked, "1") == 0)
            return g_strdup("a file for each host: ORCH_SHARDS=1 asks for it");
        if (store_filesystem_is_shared(magic))
            return g_strdup_printf("a file for each host: other hosts can reach a %s file system",
                                   name);
        return g_strdup_printf("a file for each host: '%s' was made in this very folder, so "
                               "other hosts may reach it over a network; ORCH_SHARDS=0 puts all "
                               "into one file",
                               folder);
    case STORE_TO_FOLD:
        return g_strdup("one file: the files of the hosts go into it when it is opened");
    default:
        if (local)
            return g_strdup_printf("one file: %s is a local file system", name);
        return g_strdup_printf("one file, with a rollback journal: whether %s is local is not "
                               "known; ORCH_SHARDS=1 makes a file for each host",
                               name);
    }
}

static void add_stale(GPtrArray *out, const char *file)
{
    g_autofree char *journal = g_strconcat(file, "-journal", NULL);
    struct stat info;
    if (stat(journal, &info) == 0 && info.st_size > 0 &&
        orch_now_ns() / INT64_C(1000000000) - info.st_mtim.tv_sec > 60)
        g_ptr_array_add(out, g_steal_pointer(&journal));
}

GPtrArray *orch_store_stale_journals(const char *path)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = shards_folder(absolute);
    g_autoptr(GPtrArray) names = list_shards(folder);
    add_stale(out, absolute);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(folder, names->pdata[i], NULL);
        add_stale(out, file);
    }
    return out;
}

/* ---- signs of change --------------------------------------------------------------------------
 */

/* How a file looks: its size, time and number, SQLite's change counter, and whether it has a
 * journal or log. NULL: it cannot be read. Opened anew, so that NFS asks the server. */
static char *sign_of(const char *path)
{
    uint8_t header[28] = {0};
    struct stat info, journal = {0};
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *name = g_strconcat(path, "-journal", NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &info) == 0 && pread(fd, header, sizeof header, 0) >= 0;
    if (fd >= 0)
        close(fd);
    if (!ok)
        return NULL;
    int64_t left = stat(name, &journal) == 0 ? journal.st_size : 0;
    left += stat(log, &journal) == 0 ? journal.st_size : 0;
    return g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT ".%09ld %" G_GUINT64_FORMAT
                           " %02x%02x%02x%02x %" G_GINT64_FORMAT,
                           (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
                           info.st_mtim.tv_nsec, (guint64)info.st_ino, header[24], header[25],
                           header[26], header[27], left);
}

/* ---- what is remembered -----------------------------------------------------------------------
 */

/** Of the other files. */
struct memory {
    json_t *last; /* name -> the last run number that was read; in this host's file */
    json_t *seen; /* name -> sign; beside it */
    char token[ORCH_KEY_CHARS];
    bool seen_changed;
};

static json_t *parse_object(const char *text, size_t length)
{
    json_t *json = text ? orch_json_parse(text, length, NOTES_MAX, NULL) : NULL;
    if (json_is_object(json))
        return json;
    json_decref(json);
    return json_object();
}

static char *seen_path(const struct orch_store *store)
{
    g_autofree char *stem = g_strndup(store->path, strlen(store->path) - strlen(".db"));
    return g_strconcat(stem, ".seen", NULL);
}

static void memory_read(struct orch_store *store, struct memory *m)
{
    sqlite3_stmt *s = store_statement(store, "SELECT value FROM meta WHERE key = 'shards'", NULL);
    g_autofree char *text = s && store_step(store, s, NULL) > 0 ? store_column_text(s, 0) : NULL;
    if (s)
        sqlite3_reset(s);
    g_autoptr(json_t) kept = parse_object(text, text ? strlen(text) : 0);
    g_autofree char *path = seen_path(store);
    g_autofree char *seen = NULL;
    size_t length = 0;
    orch_file_read(path, NOTES_MAX, &seen, &length, NULL);
    g_autoptr(json_t) beside = parse_object(seen, length);
    const char *token = orch_json_text(kept, "token", "");
    json_t *last = json_object_get(kept, "last"), *files = json_object_get(beside, "files");
    bool fits = strcmp(token, orch_json_text(beside, "token", "?")) == 0;
    *m =
        (struct memory){.last = json_is_object(last) ? json_incref(last) : json_object(),
                        .seen = fits && json_is_object(files) ? json_incref(files) : json_object()};
    g_strlcpy(m->token, token, sizeof m->token);
}

/* Inside the transaction that takes what came. */
static bool memory_write(struct orch_store *store, struct memory *m, GError **error)
{
    orch_key_make(m->token);
    g_autoptr(json_t) json = json_pack("{s:s s:O}", "token", m->token, "last", m->last);
    g_autofree char *text = orch_json_canonical(json);
    m->seen_changed = true;
    return store_run(store, error,
                     "INSERT INTO meta(key, value) VALUES('shards', ?)"
                     " ON CONFLICT DO UPDATE SET value = excluded.value",
                     "t", text);
}

static void memory_close(struct orch_store *store, struct memory *m)
{
    if (m->seen_changed && !store->shards->scratch) {
        g_autoptr(json_t) json = json_pack("{s:s s:O}", "token", m->token, "files", m->seen);
        g_autofree char *text = orch_json_canonical(json);
        g_autofree char *path = seen_path(store);
        orch_file_write(path, text, strlen(text), false, NULL);
    }
    json_decref(m->last);
    json_decref(m->seen);
}

/* ---- joining ----------------------------------------------------------------------------------
 */

static void warn(struct orch_store *store, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void warn(struct orch_store *store, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(store->warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

static void warn_of_skipped(struct orch_store *store, const char *path, const GError *problem)
{
    g_auto(GStrv) lines = g_strsplit(problem ? problem->message : "it changed meanwhile", "\n", 2);
    warn(store, "what is new in '%s' is left out this time: %s", path, lines[0]);
}

static void warn_of_receipt(struct orch_store *store, const struct orch_receipt *receipt)
{
    for (guint i = 0; i < receipt->problems->len && i < 5; i++)
        warn(store, "from '%s': %s", receipt->origin, (char *)receipt->problems->pdata[i]);
}

/* Ends the join: nothing is written when nothing came. */
static bool end_join(struct orch_store *store, struct orch_join *join, bool came, const char *name,
                     int64_t last, struct memory *m, GError **error)
{
    if (!came) {
        orch_join_rollback(join);
        return true;
    }
    if (last > json_integer_value(json_object_get(m->last, name)))
        json_object_set_new(m->last, name, json_integer(last));
    if (!memory_write(store, m, error)) {
        orch_join_rollback(join);
        return false;
    }
    struct orch_receipt *receipt = orch_join_commit(join, error);
    if (receipt)
        warn_of_receipt(store, receipt);
    orch_receipt_free(receipt);
    return receipt != NULL;
}

static bool join_file(struct orch_store *store, const char *path, const char *name,
                      const char *sign, struct memory *m, GError **error)
{
    struct store_join_part part = {.after = json_integer_value(json_object_get(m->last, name))};
    int before = sqlite3_total_changes(store->db);
    struct orch_join *join = orch_join_begin(store, path, error);
    store_shards_read_count++;
    if (!join)
        return false;
    bool ok = store_join_part(join, path, 0, &part, error);
    g_autofree char *now = sign_of(path);
    if (!ok || g_strcmp0(sign, now) != 0) {
        orch_join_rollback(join);
        return false;
    }
    return end_join(store, join, sqlite3_total_changes(store->db) != before, name, part.last, m,
                    error);
}

/* False: it changed while it was read. */
static bool look_at(struct orch_store *store, const char *path, struct memory *m)
{
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *sign = sign_of(path);
    GError *problem = NULL;
    if (!sign) {
        warn(store, "what is new in '%s' is left out this time: %s", path, g_strerror(errno));
        return true;
    }
    if (strcmp(orch_json_text(m->seen, name, ""), sign) == 0)
        return true;
    if (g_str_has_prefix(sign, "0 "))
        return true; /* being made */
    bool changed = false;
    if (join_file(store, path, name, sign, m, &problem)) {
        json_object_set_new(m->seen, name, json_string(sign));
        m->seen_changed = true;
    } else {
        changed = !problem;
        warn_of_skipped(store, path, problem);
    }
    g_clear_error(&problem);
    return !changed;
}

GPtrArray *store_shards_others(const struct orch_store *store)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = shards_folder(store->shards->name);
    g_autofree char *own = g_path_get_basename(store->path);
    g_autoptr(GPtrArray) names = list_shards(folder);
    if (access(store->shards->name, F_OK) == 0)
        g_ptr_array_add(paths, g_strdup(store->shards->name));
    for (guint i = 0; i < names->len; i++)
        if (store->shards->scratch || strcmp(names->pdata[i], own) != 0)
            g_ptr_array_add(paths, g_build_filename(folder, names->pdata[i], NULL));
    return paths;
}

/* Whatever the mode that the store was opened in: its own file is this host's to write. False: one
 * changed while it was read. */
static bool refresh(struct orch_store *store)
{
    g_autoptr(GPtrArray) paths = store_shards_others(store);
    struct memory m;
    bool ok = true;
    memory_read(store, &m);
    for (guint i = 0; i < paths->len; i++)
        ok = look_at(store, paths->pdata[i], &m) && ok;
    memory_close(store, &m);
    store->shards->looked_ns = orch_mono_ns();
    return ok;
}

void store_shards_refresh(struct orch_store *store)
{
    if (store->shards && !store->readonly &&
        orch_mono_ns() - store->shards->looked_ns > REFRESH_MS * INT64_C(1000000))
        refresh(store);
}

void orch_store_refresh(struct orch_store *store)
{
    if (!store->shards || store->readonly)
        return;
    guint warnings = store->warnings->len;
    for (int i = 1; !refresh(store) && i < REFRESH_TRIES; i++) {
        g_ptr_array_set_size(store->warnings, (gint)warnings);
        g_usleep(20000);
    }
}

/* ---- opening ----------------------------------------------------------------------------------
 */

void store_shards_free(struct store_shards *shards)
{
    if (!shards)
        return;
    if (shards->scratch)
        orch_tree_remove(shards->scratch, NULL);
    g_free(shards->name);
    g_free(shards->local);
    g_free(shards->scratch);
    g_free(shards);
}

/* The file of this host; with the user's number where another user's cannot be written. */
static char *own_file(const char *folder)
{
    g_autofree char *host = host_name();
    g_autofree char *name = g_strconcat(host, ".db", NULL);
    char *path = g_build_filename(folder, name, NULL);
    if (access(path, F_OK) != 0 || access(path, W_OK) == 0 || access(folder, W_OK) != 0)
        return path;
    g_autofree char *other = g_strdup_printf("%s-u%u.db", host, (unsigned)getuid());
    g_free(path);
    return g_build_filename(folder, other, NULL);
}

static bool may_write(const char *path, const char *folder, enum orch_store_mode mode)
{
    if (access(path, F_OK) == 0)
        return access(path, W_OK) == 0 && access(folder, W_OK) == 0;
    if (access(folder, F_OK) == 0)
        return access(folder, W_OK) == 0;
    g_autofree char *parent = g_path_get_dirname(folder);
    return mode == ORCH_STORE_CREATE || access(parent, W_OK) == 0;
}

/* Of all files a joined copy, for who may only read. */
static struct orch_store *open_copy(const char *name, GError **error)
{
    g_autofree char *scratch = g_dir_make_tmp("orch-joined-XXXXXX", error);
    if (!scratch)
        return NULL;
    g_autofree char *path = g_build_filename(scratch, "joined.db", NULL);
    const struct store_options options = {
        .migrations = &store_migrations, .never_wal = true, .stands_for = name, .is_scratch = true};
    struct orch_store *store = store_open_with(path, ORCH_STORE_CREATE, &options, error);
    if (!store) {
        orch_tree_remove(scratch, NULL);
        return NULL;
    }
    store->shards = g_new0(struct store_shards, 1);
    store->shards->scratch = g_steal_pointer(&scratch);
    return store;
}

static struct orch_store *open_own(const char *name, const char *path, const char *folder,
                                   GError **error)
{
    const struct store_options options = {
        .migrations = &store_migrations, .never_wal = true, .stands_for = name};
    struct orch_store *store = store_open_with(path, ORCH_STORE_CREATE, &options, error);
    if (!store)
        return NULL;
    /* a large join must not wait for a reader's lock before it commits */
    sqlite3_exec(store->db, "PRAGMA cache_spill = OFF", NULL, NULL, NULL);
    note_place(folder);
    store->shards = g_new0(struct store_shards, 1);
    return store;
}

static bool refuse(const char *name, enum orch_store_mode mode, const char *folder, GError **error)
{
    if (!orch_store_exists(name) && mode != ORCH_STORE_CREATE) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "a store is made by 'orch init' or 'orch run'; check --db and $ORCH_DB",
                       "cannot open store '%s': %s", name, g_strerror(ENOENT));
        return true;
    }
    g_autofree char *own = own_file(folder);
    if (mode == ORCH_STORE_READ || may_write(own, folder, mode))
        return false;
    orch_error_set(error, ORCH_ERROR_STORE,
                   "check the permissions of the folder, or choose another store with --db",
                   "cannot write to store '%s': '%s' cannot be written", name, own);
    return true;
}

struct orch_store *store_shards_open(const char *name, enum orch_store_mode mode, GError **error)
{
    g_autofree char *folder = shards_folder(name);
    if (refuse(name, mode, folder, error))
        return NULL;
    g_autofree char *own = own_file(folder);
    struct orch_store *store =
        may_write(own, folder, mode) ? open_own(name, own, folder, error) : open_copy(name, error);
    if (!store)
        return NULL;
    store->shards->name = g_strdup(name);
    g_autofree char *stem = g_strndup(store->path, strlen(store->path) - strlen(".db"));
    store->shards->local = g_strconcat(stem, ".d", NULL);
    refresh(store);
    if (mode != ORCH_STORE_READ)
        return store;
    store->readonly = true;
    if (store_exec(store, "PRAGMA query_only = ON", "open", error))
        return store;
    orch_store_close(store);
    return NULL;
}

/* ---- back to one file -------------------------------------------------------------------------
 */

/* Nobody writes it any more: what its last writer left in a journal is played back. */
static bool fold_one(struct orch_store *store, const char *path, GError **error)
{
    const struct store_options options = {.migrations = &store_migrations, .never_wal = true};
    struct orch_store *shard = store_open_with(path, ORCH_STORE_WRITE, &options, error);
    if (!shard)
        return false;
    orch_store_close(shard);
    struct store_join_part part = {0};
    struct orch_join *join = orch_join_begin(store, path, error);
    if (!join)
        return false;
    if (!store_join_part(join, path, 0, &part, error)) {
        orch_join_rollback(join);
        return false;
    }
    struct orch_receipt *receipt = orch_join_commit(join, error);
    if (!receipt)
        return false;
    warn_of_receipt(store, receipt);
    orch_receipt_free(receipt);
    g_autofree char *done = g_strconcat(path, ".joined", NULL);
    return orch_store_sync(store, error) && (rename(path, done) == 0 || errno == ENOENT);
}

static void fold_all(struct orch_store *store, const char *folder)
{
    g_autoptr(GPtrArray) names = list_shards(folder);
    for (guint i = 0; i < names->len; i++) {
        GError *problem = NULL;
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        if (!fold_one(store, path, &problem) && access(path, F_OK) == 0)
            warn_of_skipped(store, path, problem);
        g_clear_error(&problem);
    }
}

struct orch_store *store_shards_fold(const char *path, enum orch_store_mode mode, GError **error)
{
    const struct store_options options = {.migrations = &store_migrations};
    g_autofree char *folder = shards_folder(path);
    if (access(folder, W_OK) != 0 && mode == ORCH_STORE_READ) { /* a read-only copy of them */
        struct orch_store *store = open_copy(path, error);
        if (!store)
            return NULL;
        store->shards->name = g_strdup(path);
        refresh(store);
        store->readonly = true;
        return store;
    }
    struct orch_store *store = store_open_with(path, ORCH_STORE_CREATE, &options, error);
    if (!store)
        return NULL;
    fold_all(store, folder);
    if (mode != ORCH_STORE_READ)
        return store;
    GPtrArray *warnings = g_ptr_array_ref(store->warnings);
    orch_store_close(store);
    store = store_open_with(path, mode, &options, error);
    if (store) {
        g_ptr_array_unref(store->warnings);
        store->warnings = g_ptr_array_ref(warnings);
    }
    g_ptr_array_unref(warnings);
    return store;
}

/* ---- what there is ----------------------------------------------------------------------------
 */

static void free_shard(gpointer data)
{
    struct orch_shard *shard = data;
    g_free(shard->host);
    g_free(shard->path);
    g_free(shard->problem);
    g_free(shard);
}

static char *host_of(const struct orch_store *store, const char *path)
{
    if (strcmp(path, store->shards->name) == 0)
        return g_strdup("");
    char *host = g_path_get_basename(path);
    char *ending = g_str_has_suffix(host, ".db") ? host + strlen(host) - strlen(".db") : NULL;
    if (ending)
        *ending = 0;
    return host;
}

static struct orch_shard *new_shard(const struct orch_store *store, const char *path)
{
    struct orch_shard *shard = g_new0(struct orch_shard, 1);
    struct stat info;
    shard->path = g_strdup(path);
    shard->host = host_of(store, path);
    if (stat(path, &info) == 0) {
        shard->file_bytes = info.st_size;
        shard->changed_ns =
            (int64_t)info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec;
    }
    return shard;
}

static void count_runs(struct orch_store *store, struct orch_shard *shard)
{
    struct store_foreign other;
    GError *problem = NULL;
    bool ok = store_foreign_open(store, shard->path, &other, &problem) &&
              store_get_int(other.store, &shard->runs, 0, &problem, "SELECT count(*) FROM run", "");
    store_foreign_close(&other);
    if (ok)
        return;
    g_auto(GStrv) lines = g_strsplit(problem->message, "\n", 2);
    shard->problem = g_strdup(lines[0]);
    g_error_free(problem);
}

GPtrArray *orch_store_shards(struct orch_store *store)
{
    GPtrArray *shards = g_ptr_array_new_with_free_func(free_shard);
    if (!store->shards)
        return shards;
    if (!store->shards->scratch) {
        struct orch_shard *own = new_shard(store, store->path);
        own->is_own = true;
        store_get_int(store, &own->runs, 0, NULL, "SELECT count(*) FROM run", "");
        g_ptr_array_add(shards, own);
    }
    g_autoptr(GPtrArray) others = store_shards_others(store);
    for (guint i = 0; i < others->len; i++) {
        struct orch_shard *shard = new_shard(store, others->pdata[i]);
        count_runs(store, shard);
        g_ptr_array_add(shards, shard);
    }
    return shards;
}
