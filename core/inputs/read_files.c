/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/read_files.h"

#include "core/inputs/cell_inputs.h"
#include "core/inputs/named_files.h"
#include "core/inputs/read_digest.h"
#include "core/inputs/scripts.h"
#include "core/workspace/links_out.h"
#include "lib/base/below.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/vcs/secrets.h"
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

const char *orch_reads_are_off(const struct orch_inputs *all,
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

char *orch_reads_place(const struct orch_inputs *all)
{
    enum { DIGITS = 16 };
    g_autofree char *digest =
        g_compute_checksum_for_string(G_CHECKSUM_SHA256, all->workspace->root, -1);
    return g_strndup(digest, DIGITS);
}

json_t *orch_reads_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial)
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
        if (!orch_named_is_outside_of_inputs(real, workspace->root))
            json_array_append(links, link);
    }
    return links;
}

json_t *orch_reads_watch(const struct orch_inputs *all, const struct orch_trial_inputs *trial,
                         json_t *elsewhere)
{
    const struct orch_experiment *experiment = trial->cell->experiment;
    if (!may_be_noted(experiment->manifest) || orch_reads_are_off(all, experiment))
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

/* The reading of one opened.json. */
struct reading {
    struct orch_opened_files *out;
    GHashTable *seen;         /* set of the names in out->read that were opened */
    GHashTable *looked;       /* and of those that were only looked at */
    GHashTable *environments; /* folder -> whether it belongs to an environment */
};

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
static char *counted_name(struct reading *r, const char *name, bool is_folder)
{
    const char *root = r->out->folder;
    g_autofree char *source = source_of(name);
    if (!source || orch_secret_by_name(source) || is_package_metadata(source) ||
        (*source != '/' && is_in_hidden_folder(source)))
        return NULL;
    g_autofree char *absolute = orch_path_absolute(source, root);
    g_autofree char *folder = g_path_get_dirname(absolute);
    if (*source == '/' ? orch_named_is_outside_of_inputs(absolute, root)
                       : is_in_environment(r, folder))
        return NULL;
    return g_file_test(absolute, is_folder ? G_FILE_TEST_IS_DIR : G_FILE_TEST_IS_REGULAR)
               ? g_steal_pointer(&source)
               : NULL;
}

static void add_written(struct orch_opened_files *out, GPtrArray *list, char *name)
{
    g_ptr_array_add(list, name);
    g_hash_table_add(out->written, name);
}

/* Takes one opening. `kind`: "r", "w" or "u"; "s" when it was only looked at; "d": a folder that
 * was listed. */
static void take(struct reading *r, const char *kind, const char *name)
{
    struct orch_opened_files *out = r->out;
    g_autofree char *counted = name ? counted_name(r, name, *kind == 'd') : NULL;
    if (!counted || g_hash_table_contains(out->written, counted))
        return;
    if (*kind == 'd') {
        g_hash_table_add(out->listed, g_steal_pointer(&counted));
        return;
    }
    bool was_read = g_hash_table_contains(r->seen, counted);
    if (*kind == 'r' || *kind == 's') {
        bool is_listed = was_read || g_hash_table_contains(r->looked, counted);
        g_hash_table_add(*kind == 'r' ? r->seen : r->looked, g_strdup(counted));
        if (!is_listed)
            g_ptr_array_add(out->read, g_steal_pointer(&counted));
    } else {
        bool is_both = *kind == 'u' || was_read;
        add_written(out, is_both ? out->both : out->wrote, g_steal_pointer(&counted));
    }
}

/* What is written later is no input. */
static void drop_written(struct orch_opened_files *out)
{
    for (guint i = out->read->len; i-- > 0;)
        if (g_hash_table_contains(out->written, out->read->pdata[i]))
            g_ptr_array_remove_index(out->read, i);
}

void orch_opened_files_read(int folder, struct orch_opened_files *out)
{
    size_t length = 0;
    g_autofree char *text = NULL;
    *out = (struct orch_opened_files){
        .read = g_ptr_array_new_with_free_func(g_free),
        .wrote = g_ptr_array_new_with_free_func(g_free),
        .both = g_ptr_array_new_with_free_func(g_free),
        .written = g_hash_table_new(g_str_hash, g_str_equal),
        .listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    if (folder < 0 ||
        !orch_below_read(folder, ORCH_OPENED_FILES, OPENED_BYTES_MAX, &text, &length, NULL))
        return;
    g_autoptr(json_t) all = orch_json_parse(text, length, OPENED_BYTES_MAX, NULL);
    const json_t *files = json_object_get(all, "files");
    out->why = g_strdup(orch_json_text(all, "why", NULL));
    const char *place = orch_json_text(all, "folder", NULL);
    if (!place || *place != '/' || out->why)
        return;
    out->folder = g_strdup(place);
    out->left_out = CLAMP(orch_json_int(all, "left_out", 0), 0, INT64_C(1000000000));
    struct reading r = {out, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *pair = json_array_get(files, i);
        const char *kind = json_string_value(json_array_get(pair, 0));
        take(&r, kind ? kind : "r", json_string_value(json_array_get(pair, 1)));
    }
    g_hash_table_unref(r.seen);
    g_hash_table_unref(r.looked);
    g_hash_table_unref(r.environments);
    drop_written(out);
}

void orch_opened_files_clear(struct orch_opened_files *opened)
{
    g_free(opened->folder);
    g_free(opened->why);
    g_hash_table_unref(opened->written);
    g_hash_table_unref(opened->listed);
    g_ptr_array_unref(opened->read);
    g_ptr_array_unref(opened->wrote);
    g_ptr_array_unref(opened->both);
}

/* ---- after a trial ----------------------------------------------------------------------------
 */

/* The record of one run. */
struct keeping {
    const struct orch_ended_trial *trial;
    const struct orch_opened_files *opened;
    struct orch_file_digests *digests;
    GHashTable *there; /* names of inputs that the record has, and whether they may be folders;
                          borrowed from it */
    json_t *inputs, *rewritten;
    json_t *code; /* digests of Python scripts without comments, by name */
    int64_t left_out;
};

/* Number of read files in each folder ("" for the root's own). */
static GHashTable *count_by_folder(const GPtrArray *names)
{
    GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < names->len; i++) {
        char *folder = g_path_get_dirname(names->pdata[i]);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, folder));
        g_hash_table_insert(counts, folder, GUINT_TO_POINTER(count + 1));
    }
    return counts;
}

/* True when an input of the record is the file, or a folder above it. */
static bool is_there(const struct keeping *k, const char *name)
{
    if (g_hash_table_contains(k->there, name))
        return true;
    g_autofree char *above = g_strdup(name);
    for (char *slash; (slash = strrchr(above, '/')) && slash > above;) {
        slash[1] = 0;
        if (g_hash_table_lookup(k->there, above))
            return true;
        *slash = 0;
        if (g_hash_table_lookup(k->there, above))
            return true;
    }
    return false;
}

/* Adds an input of the record: words of a plugin and parameters with another run's artifact are no
 * folders. */
static void add_there(GHashTable *there, const json_t *row)
{
    const char *name = json_string_value(json_array_get(row, 0));
    bool is_path = json_is_null(json_array_get(row, 1)) && !json_is_true(json_array_get(row, 3));
    if (name)
        g_hash_table_insert(there, (gpointer)(uintptr_t)name, GINT_TO_POINTER(is_path));
}

/* True for a file that somebody else wrote after the trial had started: which content it read is
 * unknown. */
static bool is_newer(const struct keeping *k, const char *absolute)
{
    struct stat info;
    return stat(absolute, &info) == 0 &&
           orch_timespec_ns(info.st_mtim) > k->trial->started_ns - ORCH_FILE_TIME_LAG_NS;
}

static void keep_input(struct keeping *k, const char *name)
{
    char digest[ORCH_SHA256_CHARS];
    g_autofree char *absolute =
        *name == '/' ? g_strdup(name) : g_build_filename(k->opened->folder, name, NULL);
    if (json_array_size(k->inputs) >= ORCH_READS_MAX) {
        k->left_out++;
        return;
    }
    if (!g_str_has_suffix(name, "/") && is_newer(k, absolute)) {
        json_array_append_new(k->rewritten, json_string(name));
        return;
    }
    if (!orch_reads_digest(k->digests, absolute, k->trial->started_ns - ORCH_FILE_TIME_LAG_NS,
                           k->trial->ended_ns, digest))
        return;
    json_t *row = json_pack("[sns]", name, digest);
    json_array_append_new(k->inputs, row);
    if (orch_script_file_digest(absolute, digest))
        json_object_set_new(k->code, name, json_string(digest));
    add_there(k->there, row);
}

static void keep_reads(struct keeping *k)
{
    const GPtrArray *names = k->opened->read;
    g_autoptr(GHashTable) counts = count_by_folder(names);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *folder = g_path_get_dirname(name);
        g_autofree char *whole = g_strconcat(folder, "/", NULL);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, folder));
        if (is_there(k, name))
            continue;
        keep_input(k, count > ORCH_READS_OF_FOLDER && strcmp(folder, ".") != 0 ? whole : name);
    }
}

/* True when the trial wrote something below a folder, where it then looked for its own files. */
static bool wrote_below(const struct orch_opened_files *opened, const char *folder)
{
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, opened->written);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (orch_path_below(name, folder))
            return true;
    return false;
}

/* True when a module was read from a folder: Python lists those. */
static bool has_modules(const GPtrArray *read, const char *folder)
{
    for (guint i = 0; i < read->len; i++) {
        g_autofree char *of = g_path_get_dirname(read->pdata[i]);
        if (strcmp(of, folder) == 0 && orch_script_language_of(read->pdata[i]) != ORCH_SCRIPT_NONE)
            return true;
    }
    return false;
}

/* Of a folder that was listed and from which files were read, the names of all files of these kinds
 * are an input, named by a pattern. Not in the root, where people put files of any purpose. */
static void keep_listed(struct keeping *k)
{
    const GPtrArray *read = k->opened->read;
    g_autoptr(GHashTable) patterns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < read->len; i++) {
        g_autofree char *folder = g_path_get_dirname(read->pdata[i]);
        g_autofree char *name = g_path_get_basename(read->pdata[i]);
        const char *dot = strrchr(name, '.');
        g_autofree char *pattern = g_strconcat(folder, "/*", dot ? dot : "", NULL);
        if (strcmp(folder, ".") == 0 || !g_hash_table_contains(k->opened->listed, folder) ||
            !g_hash_table_add(patterns, g_strdup(pattern)) || is_there(k, pattern) ||
            wrote_below(k->opened, folder) || has_modules(read, folder))
            continue;
        keep_input(k, pattern);
    }
}

static void set_names(json_t *facts, const char *key, const GPtrArray *names)
{
    json_t *list = json_array();
    for (guint i = 0; i < MIN(names->len, (guint)WROTE_MAX); i++)
        json_array_append_new(list, json_string(names->pdata[i]));
    if (json_array_size(list))
        json_object_set_new(facts, key, list);
    else
        json_decref(list);
}

/* Adds names to the fact `rewritten`. */
static void add_rewritten(json_t *facts, const json_t *names)
{
    json_t *there = json_object_get(facts, ORCH_FACT_REWRITTEN);
    if (json_array_size(names) && there)
        json_array_extend(there, (json_t *)(uintptr_t)names);
    else if (json_array_size(names))
        json_object_set(facts, ORCH_FACT_REWRITTEN, (json_t *)(uintptr_t)names);
}

void orch_reads_keep(const struct orch_ended_trial *trial, int folder,
                     struct orch_file_digests *digests)
{
    struct orch_opened_files opened;
    orch_opened_files_read(folder, &opened);
    if (opened.why)
        json_object_set_new(trial->facts, ORCH_FACT_UNWATCHED, json_string(opened.why));
    if (opened.folder) {
        json_t *inputs = json_object_get(trial->record, "inputs");
        g_autoptr(GHashTable) there = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(json_t) rewritten = json_array();
        g_autoptr(json_t) code = json_object();
        g_autoptr(json_t) added = inputs ? json_incref(inputs) : json_array();
        struct keeping k = {.trial = trial,
                            .opened = &opened,
                            .digests = digests,
                            .there = there,
                            .inputs = added,
                            .rewritten = rewritten,
                            .code = code};
        for (size_t i = 0; i < json_array_size(added); i++)
            add_there(there, json_array_get(added, i));
        keep_reads(&k);
        keep_listed(&k);
        json_object_set(trial->record, "inputs", added);
        add_rewritten(trial->facts, rewritten);
        if (json_object_size(code))
            json_object_set(trial->facts, ORCH_FACT_READ_CODE, code);
        json_object_set_new(trial->facts, ORCH_FACT_WATCHED,
                            json_pack("{s:I s:I}", "read", (json_int_t)opened.read->len, "left_out",
                                      (json_int_t)(opened.left_out + k.left_out)));
        set_names(trial->facts, ORCH_FACT_WROTE, opened.wrote);
        set_names(trial->facts, ORCH_FACT_READ_AND_WRITTEN, opened.both);
    }
    orch_opened_files_clear(&opened);
}
