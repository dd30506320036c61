/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/written_files.h"

#include "core/inputs/own_outputs.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <stdlib.h>
#include <string.h>

/* A file that goes on from a run that is further back is not worth the time to find it. */
enum { RUNS_SEARCHED = 500, NAMES_SEARCHED = 2000 };

/* Who has written a file last in this command. */
struct maker {
    const void *trial;
    char key[ORCH_KEY_CHARS];
    bool is_in_place; /* in the user's folder, without a link to it */
    bool is_logged;   /* its values, or those of files in its folder, became metrics */
};

/* A run of an earlier command that has written a file, which is as the run has left it. */
struct earlier {
    char *key, *fingerprint;
    bool is_reused;
};

struct orch_written_files {
    struct orch_inputs *all;
    GHashTable *made;    /* name -> struct maker * */
    GHashTable *earlier; /* name -> struct earlier *, or NULL for none; NULL: not read */
    bool has_shared;     /* a shared file was named */
};

static void earlier_free(gpointer pointer)
{
    struct earlier *earlier = pointer;
    if (!earlier)
        return;
    g_free(earlier->key);
    g_free(earlier->fingerprint);
    g_free(earlier);
}

struct orch_written_files *orch_written_files_new(struct orch_inputs *all)
{
    struct orch_written_files *written = g_new0(struct orch_written_files, 1);
    written->all = all;
    written->made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return written;
}

void orch_written_files_free(struct orch_written_files *written)
{
    if (!written)
        return;
    g_hash_table_unref(written->made);
    if (written->earlier)
        g_hash_table_unref(written->earlier);
    g_free(written);
}

/* ---- earlier runs -----------------------------------------------------------------------------
 */

/* Whether a file is as a run has left it. Of a run by an earlier version of orch only the time at
 * which it ended is known. */
static bool is_as_left(const struct orch_written_files *written, const struct orch_run *by,
                       const json_t *facts, const char *name)
{
    struct stat info;
    g_autofree char *path = orch_path_absolute(name, written->all->workspace->root);
    return stat(path, &info) == 0 && (json_object_get(facts, ORCH_FACT_LEFT_AS)
                                          ? orch_own_output_is_as_left(facts, name, &info)
                                          : orch_timespec_ns(info.st_mtim) <= by->ended_ns);
}

/* Notes the files of a list of names that no newer run has written. Files that git captures do not
 * count: a run in a folder apart had its own. */
static void add_names(struct orch_written_files *written, const struct orch_run *by,
                      const json_t *facts, const char *list)
{
    const json_t *names = json_object_get(facts, list);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name || g_hash_table_size(written->earlier) >= NAMES_SEARCHED ||
            g_hash_table_contains(written->earlier, name) ||
            orch_inputs_is_captured(written->all, name))
            continue;
        struct earlier *earlier = NULL;
        if (is_as_left(written, by, facts, name)) {
            earlier = g_new0(struct earlier, 1);
            earlier->key = g_strdup(by->key);
            earlier->fingerprint = g_strdup(by->fingerprint);
            earlier->is_reused = orch_verdict_facts(orch_verdict_parse(by->state))->is_reused;
        }
        g_hash_table_insert(written->earlier, g_strdup(name), earlier);
    }
}

void orch_written_files_begin(struct orch_written_files *written,
                              const struct orch_experiment *experiment)
{
    struct orch_workspace *workspace = written->all->workspace;
    const struct orch_run_query query = {.limit = RUNS_SEARCHED, .with_hidden = true};
    if (written->earlier || experiment->manifest->kind != ORCH_PLUGIN_WRAPPED ||
        orch_plugin_is_ours(experiment->manifest) || orch_opened_are_off(written->all, experiment))
        return;
    written->earlier = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, earlier_free);
    const char *machine = orch_workspace_machine_key(workspace);
    g_autofree char *place = orch_opened_place(written->all);
    g_autoptr(GPtrArray) runs = orch_store_runs(workspace->store, &query, NULL, NULL);
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *by = runs->pdata[i];
        if (!by->facts || !strstr(by->facts, place) || g_strcmp0(by->machine_key, machine) != 0)
            continue;
        g_autoptr(json_t) facts = json_loads(by->facts, 0, NULL);
        if (g_strcmp0(orch_json_text(facts, ORCH_FACT_PLACE, NULL), place) != 0)
            continue;
        add_names(written, by, facts, ORCH_FACT_WROTE);
        add_names(written, by, facts, ORCH_FACT_READ_AND_WRITTEN);
    }
}

/* ---- a trial that has ended -------------------------------------------------------------------
 */

/* Whether a file that the trial opened lies in the user's folder: a folder apart has links to what
 * git ignores. */
static bool is_in_users_folder(const struct orch_writer *writer, const struct orch_opened *opened,
                               const char *name)
{
    if (!writer->is_apart)
        return true;
    g_autofree char *path = orch_opened_path(opened, name);
    char *folder = realpath(opened->folder, NULL), *real = realpath(path, NULL);
    bool is_own = folder && real && orch_path_within(real, folder);
    free(folder);
    free(real);
    return !is_own;
}

/* The run of an earlier command whose file this one still was when this command began; NULL: none.
 * An attempt of the same trial that was cut off left its checkpoint on purpose. */
static const struct earlier *earlier_maker(const struct orch_written_files *written,
                                           const struct orch_writer *writer, const char *name)
{
    const struct earlier *earlier =
        written->earlier ? g_hash_table_lookup(written->earlier, name) : NULL;
    bool is_own = earlier && g_strcmp0(earlier->fingerprint, writer->fingerprint) == 0;
    return is_own && !earlier->is_reused ? NULL : earlier;
}

/* A file that the trial has read before it wrote it. */
static void note_carried(const struct orch_written_files *written, const struct orch_writer *writer,
                         const char *name, struct orch_written_note *out)
{
    const struct maker *maker = g_hash_table_lookup(written->made, name);
    const struct earlier *earlier = maker ? NULL : earlier_maker(written, writer, name);
    const char *key = maker ? maker->key : earlier ? earlier->key : NULL;
    if (!key || (maker && maker->trial == writer->trial) ||
        json_object_size(out->carried) >= ORCH_CARRIED_MAX)
        return;
    json_object_set_new(out->carried, name, json_string(key));
    if (out->carried_first)
        return;
    out->carried_first = g_strdup(name);
    out->maker = maker ? maker->trial : NULL;
}

/* True for a file, or one below a folder, that the trial's loggers wrote. */
static bool is_logged(const struct orch_opened *opened, const char *name)
{
    g_autofree char *path = orch_opened_path(opened, name);
    for (size_t i = 0; i < json_array_size(opened->logged); i++) {
        const char *place = json_string_value(json_array_get(opened->logged, i));
        if (place && orch_path_within(path, place))
            return true;
    }
    return false;
}

/* A file that the trial has written: notes it, and whether another trial has before. */
static void note_written(struct orch_written_files *written, const struct orch_writer *writer,
                         const struct orch_opened *opened, const char *name,
                         struct orch_written_note *out)
{
    const struct maker *before = g_hash_table_lookup(written->made, name);
    bool is_in_place = !writer->is_apart;
    if (before && before->trial != writer->trial && before->is_in_place && is_in_place &&
        *name != '/' && !written->has_shared && !orch_inputs_is_captured(written->all, name)) {
        written->has_shared = true;
        out->shared = g_strdup(name);
    }
    struct maker *maker = g_new0(struct maker, 1);
    maker->is_logged = is_logged(opened, name);
    maker->trial = writer->trial;
    maker->is_in_place = is_in_place;
    g_strlcpy(maker->key, writer->key, sizeof maker->key);
    g_hash_table_insert(written->made, g_strdup(name), maker);
}

void orch_written_files_end(struct orch_written_files *written, const struct orch_writer *writer,
                            const struct orch_opened *opened, struct orch_written_note *out)
{
    const GPtrArray *const lists[] = {opened->both, opened->wrote};
    *out = (struct orch_written_note){.carried = json_object()};
    for (size_t i = 0; opened->folder && i < G_N_ELEMENTS(lists); i++)
        for (guint j = 0; j < lists[i]->len; j++) {
            const char *name = ((const struct orch_opened_file *)lists[i]->pdata[j])->name;
            if (!is_in_users_folder(writer, opened, name))
                continue;
            if (lists[i] == opened->both)
                note_carried(written, writer, name, out);
            note_written(written, writer, opened, name, out);
        }
}

void orch_written_note_clear(struct orch_written_note *note)
{
    g_free(note->shared);
    g_free(note->carried_first);
    json_decref(note->carried);
}

/* ---- files that git neither tracks nor ignores ------------------------------------------------
 */

/* True for an ignored path and all below it. `ignored`: as orch_vcs_ignored lists them, as a set.
 */
static bool is_ignored(GHashTable *ignored, const char *path)
{
    g_autofree char *part = g_strdup(path);
    for (char *slash = part; slash; slash = strrchr(part, '/')) {
        if (slash != part)
            *slash = '\0';
        if (g_hash_table_contains(ignored, part))
            return true;
    }
    return false;
}

/* The paths of orch_vcs_ignored as a set; NULL when they are not known. */
static GHashTable *ignored_paths(const struct orch_written_files *written)
{
    struct orch_vcs *vcs = written->all->workspace->vcs;
    g_autoptr(GPtrArray) list = vcs ? orch_vcs_ignored(vcs, NULL) : NULL;
    GHashTable *set = list ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    for (guint i = 0; list && i < list->len; i++)
        g_hash_table_add(set, g_strdup(list->pdata[i]));
    return set;
}

/* The file's topmost folder in which nothing was captured, "/out/", else the file: "/model.pt". */
static char *ignore_line(const struct orch_inputs *all, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        guint first;
        g_autofree char *folder = g_strndup(path, (gsize)(slash - path));
        if (!orch_inputs_below(all, folder, &first))
            return g_strconcat("/", folder, "/", NULL);
    }
    return g_strconcat("/", path, NULL);
}

unsigned orch_written_files_untracked(const struct orch_written_files *written, char **out_first,
                                      char **out_line)
{
    unsigned count = 0;
    const char *first = NULL;
    const struct orch_inputs *all = written->all;
    g_autoptr(GHashTable) ignored =
        all->files.tree_files && g_hash_table_size(written->made) ? ignored_paths(written) : NULL;
    if (!ignored)
        return 0;
    GHashTableIter iter;
    gpointer name, maker;
    g_hash_table_iter_init(&iter, written->made);
    while (g_hash_table_iter_next(&iter, &name, &maker)) {
        g_autofree char *path = orch_path_absolute(name, all->workspace->root);
        const struct maker *by = maker;
        if (*(char *)name == '/' || !by->is_in_place || by->is_logged ||
            orch_inputs_is_captured(all, name) || is_ignored(ignored, name) ||
            !g_file_test(path, G_FILE_TEST_EXISTS))
            continue;
        first = !first || strcmp(name, first) < 0 ? name : first;
        count++;
    }
    if (count) {
        *out_first = g_strdup(first);
        *out_line = ignore_line(all, first);
    }
    return count;
}
