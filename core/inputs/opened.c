/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/opened.h"

#include "core/inputs/content_digest.h"
#include "core/inputs/inputs.h"
#include "core/workspace/links_out.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/vcs/secret_files.h"
#include "lib/wire/trial.h"

#include <string.h>
#include <sys/stat.h>

enum { OPENED_BYTES_MAX = 16 << 20, WROTE_MAX = 100 };

/* ---- before a trial ---------------------------------------------------------------------------
 */

/* Not of programs that come with orch: they read nothing of the user's. */
static bool may_be_noted(const struct orch_manifest *manifest)
{
    return manifest->kind == ORCH_PLUGIN_COMPILED || !orch_plugin_is_ours(manifest);
}

const char *orch_opened_are_off(const struct orch_inputs *all,
                                const struct orch_experiment *experiment)
{
    static const char *const off[] = {"off", "0", "false", "no", NULL};
    const char *setting = g_getenv("ORCH_WATCH");
    if (!may_be_noted(experiment->manifest))
        return NULL;
    if (all->no_watch)
        return "--no-watch";
    return setting && g_strv_contains(off, setting) ? "ORCH_WATCH=off" : NULL;
}

char *orch_opened_place(const struct orch_inputs *all)
{
    enum { DIGITS = 16 };
    g_autofree char *digest =
        g_compute_checksum_for_string(G_CHECKSUM_SHA256, all->workspace->root, -1);
    return g_strndup(digest, DIGITS);
}

json_t *orch_opened_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial)
{
    json_t *list = json_array();
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    orch_cell_elsewhere(all, trial, paths);
    for (guint i = 0; i < paths->len; i++)
        json_array_append_new(list, orch_json_text_or_null(paths->pdata[i]));
    return list;
}

/* The links of the repository to a user's files elsewhere. New reference. */
static json_t *links_out(struct orch_workspace *workspace)
{
    size_t i;
    json_t *links = json_array(), *link;
    json_array_foreach((json_t *)(uintptr_t)orch_workspace_links_out(workspace), i, link)
    {
        const char *real = json_string_value(json_array_get(link, 1));
        if (!orch_input_is_excluded(real, workspace->root))
            json_array_append(links, link);
    }
    return links;
}

json_t *orch_opened_watch(const struct orch_inputs *all, const struct orch_trial_inputs *trial,
                          json_t *elsewhere)
{
    const struct orch_experiment *experiment = trial->cell->experiment;
    if (!may_be_noted(experiment->manifest) || orch_opened_are_off(all, experiment))
        return NULL;
    json_t *roots = json_array();
    json_array_append_new(roots, orch_json_text_or_null(all->workspace->root));
    for (guint i = 0; trial->list && i < trial->list->len; i++) {
        const struct orch_checked_input *input = trial->list->pdata[i];
        if (*input->name == '/')
            json_array_append_new(roots, orch_json_text_or_null(input->name));
    }
    json_array_extend(roots, elsewhere);
    return json_pack("{s:o s:o}", "roots", roots, "links", links_out(all->workspace));
}

/* ---- what it opened ---------------------------------------------------------------------------
 */

/* What is known of a file while opened.json is read. */
struct row {
    struct orch_opened_file file;
    bool is_read, is_looked_at, is_written;
};

/* The reading of one opened.json. */
struct reading {
    struct orch_opened *out;
    GPtrArray *rows;          /* struct row *, in the order of the first opening */
    GHashTable *by_name;      /* name -> struct row * */
    GHashTable *environments; /* folder -> whether it belongs to an environment */
};

static void file_free(gpointer pointer)
{
    struct orch_opened_file *file = pointer;
    g_free(file->name);
    g_free(file);
}

/* True for a folder in an environment of Python's or conda's that lies below the root. */
static bool is_in_environment(struct reading *r, const char *folder)
{
    gpointer known;
    if (strlen(folder) <= strlen(r->out->folder))
        return false;
    if (g_hash_table_lookup_extended(r->environments, folder, NULL, &known))
        return GPOINTER_TO_INT(known);
    g_autofree char *venv = g_build_filename(folder, "pyvenv.cfg", NULL);
    g_autofree char *conda = g_build_filename(folder, "conda-meta", NULL);
    g_autofree char *above = g_path_get_dirname(folder);
    bool is_one = g_file_test(venv, G_FILE_TEST_EXISTS) || g_file_test(conda, G_FILE_TEST_EXISTS) ||
                  (strcmp(above, folder) != 0 && is_in_environment(r, above));
    g_hash_table_insert(r->environments, g_strdup(folder), GINT_TO_POINTER(is_one));
    return is_one;
}

static bool is_in_hidden_folder(const char *name)
{
    for (const char *dot = *name == '.' ? name : strstr(name, "/."); dot;
         dot = strstr(dot + 1, "/."))
        if (strchr(dot + 1, '/'))
            return true;
    return false;
}

/* "a/m.py" of "a/__pycache__/m.cpython-311.pyc"; the name itself for other files; NULL for other
 * files of such a folder. The caller frees. */
static char *source_of(const char *name)
{
    const char *cache = strstr(name, "__pycache__/");
    if (!cache || (cache > name && cache[-1] != '/'))
        return g_strdup(name);
    const char *module = cache + strlen("__pycache__/"), *dot = strchr(module, '.');
    return dot && g_str_has_suffix(name, ".pyc")
               ? g_strdup_printf("%.*s%.*s.py", (int)(cache - name), name, (int)(dot - module),
                                 module)
               : NULL;
}

/* True below a folder that describes an installed package, such as the one that 'pip install -e'
 * leaves in the repository: it belongs to the environment. */
static bool is_package_metadata(const char *name)
{
    g_autofree char *path = g_strconcat(name, "/", NULL);
    return strstr(path, ".egg-info/") || strstr(path, ".dist-info/");
}

/* The name under which an opened file counts; NULL when it does not. The caller frees. */
static char *counted_name(struct reading *r, const char *name)
{
    const char *root = r->out->folder;
    g_autofree char *source = source_of(name);
    if (!source || orch_secret_by_name(source) || is_package_metadata(source) ||
        (*source != '/' && is_in_hidden_folder(source)))
        return NULL;
    g_autofree char *absolute = orch_path_absolute(source, root);
    g_autofree char *folder = g_path_get_dirname(absolute);
    if (*source == '/' ? orch_input_is_excluded(absolute, root) : is_in_environment(r, folder))
        return NULL;
    return g_steal_pointer(&source);
}

/* ---- identities -------------------------------------------------------------------------------
 */

struct orch_file_id orch_file_id_of(const struct stat *info)
{
    return (struct orch_file_id){true, (int64_t)info->st_ino, info->st_size,
                                 orch_timespec_ns(info->st_mtim), orch_timespec_ns(info->st_ctim)};
}

bool orch_file_id_equal(const struct orch_file_id *a, const struct orch_file_id *b)
{
    return a->is_known && b->is_known && a->inode == b->inode && a->bytes == b->bytes &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

/* An identity of opened.json: [device, inode, size, mtime_ns, ctime_ns]. */
static struct orch_file_id read_id(const json_t *details, const char *key)
{
    const json_t *list = json_object_get(details, key);
    enum { DEVICE, INODE, BYTES, MODIFIED, CHANGED, MEMBERS };
    struct orch_file_id id = {.is_known = json_array_size(list) == MEMBERS};
    for (size_t i = 0; i < MEMBERS; i++)
        id.is_known = id.is_known && json_is_integer(json_array_get(list, i));
    if (!id.is_known)
        return id;
    id.inode = json_integer_value(json_array_get(list, INODE));
    id.bytes = json_integer_value(json_array_get(list, BYTES));
    id.modified_ns = json_integer_value(json_array_get(list, MODIFIED));
    id.changed_ns = json_integer_value(json_array_get(list, CHANGED));
    return id;
}

bool orch_opened_is_whole(const struct orch_opened *opened)
{
    return opened->folder && !opened->gaps->len;
}

char *orch_opened_path(const struct orch_opened *opened, const char *name)
{
    return orch_path_absolute(name, opened->folder);
}

static bool look_at(const struct orch_opened *opened, const char *name, struct stat *out)
{
    g_autofree char *path = orch_opened_path(opened, name);
    return stat(path, out) == 0 && S_ISREG(out->st_mode);
}

bool orch_file_may_have_changed(int64_t changed_ns, int64_t since_ns)
{
    static const int64_t HOUR_NS = INT64_C(3600000000000);
    return changed_ns >= since_ns - ORCH_FILE_TIME_LAG_NS && changed_ns < orch_now_ns() + HOUR_NS;
}

bool orch_opened_is_same(const struct orch_opened *opened, const struct orch_opened_file *file,
                         int64_t started_ns)
{
    struct stat info;
    if (!look_at(opened, file->name, &info))
        return false;
    struct orch_file_id now = orch_file_id_of(&info);
    bool is_old = !orch_file_may_have_changed(now.changed_ns, started_ns);
    if (!file->read.is_known)
        return is_old;
    const struct orch_file_id *last = file->own.is_known ? &file->own : &file->read;
    if (is_old) /* some network file systems number a file anew */
        now.inode = last->inode;
    return orch_file_id_equal(last, &now) && last->inode == file->read.inode &&
           last->bytes == file->read.bytes && last->modified_ns == file->read.modified_ns;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* The row of a name, made when there is none. Takes `name` over. */
static struct row *row_of(struct reading *r, char *name)
{
    struct row *row = g_hash_table_lookup(r->by_name, name);
    if (row) {
        g_free(name);
        return row;
    }
    row = g_new0(struct row, 1);
    row->file.name = name;
    g_hash_table_insert(r->by_name, name, row);
    g_ptr_array_add(r->rows, row);
    return row;
}

static void take_folder(struct reading *r, char *name, const json_t *details)
{
    struct orch_file_id *then = g_new(struct orch_file_id, 1);
    *then = read_id(details, "read");
    g_hash_table_insert(r->out->listed, name, then);
}

/* Takes one opening: kind, name, details. */
static void take(struct reading *r, const json_t *opening)
{
    const char *kind = json_string_value(json_array_get(opening, 0));
    const char *name = json_string_value(json_array_get(opening, 1));
    const json_t *details = json_array_get(opening, 2);
    g_autofree char *counted = kind && name ? counted_name(r, name) : NULL;
    bool is_itself = g_strcmp0(counted, name) == 0;
    if (!counted || (!is_itself && *kind != 'r')) /* bytecode is no output */
        return;
    if (*kind == 'd') {
        take_folder(r, g_steal_pointer(&counted), details);
        return;
    }
    struct row *row = row_of(r, g_steal_pointer(&counted));
    row->is_looked_at |= *kind == 's';
    row->is_read |= *kind == 'r' || *kind == 'u';
    row->is_written |= *kind == 'w' || *kind == 'u';
    if (!is_itself || *kind == 's')
        return;
    row->file.read = read_id(details, "read");
    row->file.own = read_id(details, "own");
}

/* Whether a file that was opened for reading and writing holds what it held when it was opened. */
static bool is_untouched(const struct orch_opened *opened, const struct orch_opened_file *file)
{
    struct stat info;
    if (!file->read.is_known || !look_at(opened, file->name, &info))
        return false;
    struct orch_file_id now = orch_file_id_of(&info);
    return orch_file_id_equal(&file->read, &now);
}

/* A file that is not there any more counts when the trial opened it itself. */
static bool counts(const struct orch_opened *opened, const struct row *row)
{
    struct stat info;
    bool is_opened = row->is_read && row->file.read.is_known;
    return is_opened || look_at(opened, row->file.name, &info);
}

/* Moves a row's file to the list to which it belongs. */
static void settle(struct orch_opened *out, struct row *row)
{
    struct orch_opened_file *file = g_memdup2(&row->file, sizeof row->file);
    bool is_written = row->is_written && !(row->is_read && is_untouched(out, file));
    GPtrArray *list = !is_written ? out->read : row->is_read ? out->both : out->wrote;
    if (!counts(out, row)) {
        file_free(file);
        return;
    }
    g_ptr_array_add(list, file);
    if (is_written)
        g_hash_table_add(out->written, file->name);
}

static void read_gaps(struct orch_opened *out, const json_t *all)
{
    const json_t *gaps = json_object_get(all, "gaps");
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        const char *text = json_string_value(json_array_get(gaps, i));
        if (text)
            g_ptr_array_add(out->gaps, g_strdup(text));
    }
}

void orch_opened_read(int folder, struct orch_opened *out)
{
    size_t length = 0;
    g_autofree char *text = NULL;
    *out = (struct orch_opened){.gaps = g_ptr_array_new_with_free_func(g_free),
                                .read = g_ptr_array_new_with_free_func(file_free),
                                .wrote = g_ptr_array_new_with_free_func(file_free),
                                .both = g_ptr_array_new_with_free_func(file_free),
                                .written = g_hash_table_new(g_str_hash, g_str_equal),
                                .listed =
                                    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    if (folder < 0 ||
        !orch_below_read(folder, ORCH_OPENED_FILES, OPENED_BYTES_MAX, &text, &length, NULL))
        return;
    g_autoptr(json_t) all = orch_json_parse(text, length, OPENED_BYTES_MAX, NULL);
    const json_t *files = json_object_get(all, "files");
    const char *place = orch_json_text(all, "folder", NULL);
    out->why = g_strdup(orch_json_text(all, "why", NULL));
    if (!place || *place != '/' || out->why)
        return;
    out->folder = g_strdup(place);
    read_gaps(out, all);
    out->logged = json_incref(json_object_get(all, "logged"));
    struct reading r = {out, g_ptr_array_new_with_free_func(g_free),
                        g_hash_table_new(g_str_hash, g_str_equal),
                        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    for (size_t i = 0; i < json_array_size(files); i++)
        take(&r, json_array_get(files, i));
    for (guint i = 0; i < r.rows->len; i++)
        settle(out, r.rows->pdata[i]);
    g_hash_table_unref(r.by_name);
    g_ptr_array_unref(r.rows);
    g_hash_table_unref(r.environments);
}

void orch_opened_clear(struct orch_opened *opened)
{
    g_free(opened->folder);
    g_free(opened->why);
    g_hash_table_unref(opened->written);
    g_hash_table_unref(opened->listed);
    g_ptr_array_unref(opened->gaps);
    g_ptr_array_unref(opened->read);
    g_ptr_array_unref(opened->wrote);
    g_ptr_array_unref(opened->both);
    json_decref(opened->logged);
}
