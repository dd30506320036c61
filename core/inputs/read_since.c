/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of another machine are compared only in files of the work tree that lie here, too: other
 * paths mean nothing here, and data need not be on every machine. */
#include "core/inputs/inputs.h"

#include "core/inputs/content_digest.h"
#include "core/inputs/opened.h"
#include "core/inputs/scripts.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <string.h>

/* True when the run's facts have a member of that name. */
static bool has_fact(const struct orch_run *run, const char *name)
{
    g_autofree char *member = g_strdup_printf("\"%s\"", name);
    return run->facts && strstr(run->facts, member);
}

/* The files that the trial's inputs id covers. Borrowed; NULL when that is no tree. */
static GHashTable *covered_files(struct orch_inputs *all, const char *inputs_id)
{
    struct orch_vcs *vcs = all->workspace->vcs;
    GHashTable *files = inputs_id ? g_hash_table_lookup(all->files.covered, inputs_id) : NULL;
    if (files || !vcs || !inputs_id || !*inputs_id)
        return files;
    g_autoptr(GPtrArray) paths = orch_vcs_list(vcs, inputs_id, "", NULL);
    files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; paths && i < paths->len; i++)
        g_hash_table_add(files, g_strdup(paths->pdata[i]));
    g_hash_table_insert(all->files.covered, g_strdup(inputs_id), files);
    return files;
}

static bool is_input_of(const struct orch_trial_inputs *trial, const char *name)
{
    for (guint i = 0; trial->list && i < trial->list->len; i++) {
        const struct orch_checked_input *checked = trial->list->pdata[i];
        const char *input = checked->name;
        size_t length = strlen(input);
        if (!length || strncmp(name, input, length) != 0)
            continue;
        bool is_part = !checked->is_word && (name[length] == '/' || input[length - 1] == '/');
        if (!name[length] || is_part)
            return true;
    }
    return false;
}

/* The names of the files that a run wrote, as far as they are kept. The caller unrefs; the facts
 * own the names. */
static GHashTable *written_by(const json_t *facts)
{
    static const char *const lists[] = {ORCH_FACT_WROTE, ORCH_FACT_READ_AND_WRITTEN};
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        const json_t *list = json_object_get(facts, lists[i]);
        for (size_t j = 0; j < json_array_size(list); j++)
            if (json_is_string(json_array_get(list, j)))
                g_hash_table_add(names,
                                 (gpointer)(uintptr_t)json_string_value(json_array_get(list, j)));
    }
    return names;
}

/* What stands for the digest of a path that leaves out names: both. The caller frees. */
static char *key_of(const char *path, GHashTable *own)
{
    g_autoptr(GList) names =
        own ? g_list_sort(g_hash_table_get_keys(own), (GCompareFunc)strcmp) : NULL;
    GString *key = g_string_new(path);
    for (GList *at = names; at; at = at->next)
        g_string_append_printf(key, "\n%s", (char *)at->data);
    return g_string_free(key, FALSE);
}

/* The digest of a path as it is now, "" when it is gone; looked up once. In a folder, `own` does
 * not count (may be NULL). Borrowed. */
static const char *digest_now(struct orch_inputs *all, const char *path, GHashTable *own)
{
    g_autofree char *key = key_of(path, own);
    const char *known = g_hash_table_lookup(all->files.read_digests, key);
    char digest[ORCH_SHA256_CHARS] = "";
    if (known)
        return known;
    if (!orch_reads_digest(all->digests, path, own, digest, NULL))
        *digest = 0;
    char *kept = g_strdup(digest);
    g_hash_table_insert(all->files.read_digests, g_steal_pointer(&key), kept);
    return kept;
}

/* How a file that a run read differs now. */
enum difference { SAME, OTHER_COMMENTS, CHANGED, GONE };

/* A run that is compared with the files as they are now. */
struct then {
    const struct orch_run *run;
    json_t *facts;       /* NULL: not needed */
    GHashTable *written; /* names of files that it wrote */
    bool is_here;        /* it was made on this machine */
};

static bool is_folder(const struct orch_stored_input *input)
{
    return g_str_has_suffix(input->name, "/");
}

static void then_init(struct then *then, struct orch_inputs *all, const struct orch_run *run,
                      const GPtrArray *inputs)
{
    bool has_folder = false;
    for (guint i = 0; i < inputs->len; i++)
        has_folder = has_folder || is_folder(inputs->pdata[i]);
    *then = (struct then){.run = run};
    if (has_folder || has_fact(run, ORCH_FACT_READ_CODE))
        then->facts = json_loads(run->facts, 0, NULL);
    then->written = written_by(then->facts);
    then->is_here = g_strcmp0(run->machine_key, orch_workspace_machine_key(all->workspace)) == 0;
}

static void then_clear(struct then *then)
{
    json_decref(then->facts);
    g_hash_table_unref(then->written);
}

static enum difference difference(struct orch_inputs *all, const struct then *then,
                                  const struct orch_stored_input *input)
{
    char code[ORCH_SHA256_CHARS];
    const char *code_then =
        orch_json_text(json_object_get(then->facts, ORCH_FACT_READ_CODE), input->name, "");
    if (!then->is_here && *input->name == '/')
        return SAME;
    g_autofree char *path = *input->name == '/'
                                ? g_strdup(input->name)
                                : g_strconcat(all->workspace->root, "/", input->name, NULL);
    g_autoptr(GHashTable) own =
        is_folder(input) ? orch_own_in_folder(input->name, then->written) : NULL;
    const char *now = digest_now(all, path, own);
    if (strcmp(now, input->sha256) == 0)
        return SAME;
    if (!*now)
        return then->is_here ? GONE : SAME;
    bool is_same_code =
        *code_then && orch_script_file_digest(path, code) && strcmp(code, code_then) == 0;
    return is_same_code ? OTHER_COMMENTS : CHANGED;
}

/* The note that scripts which a run read have other comments now. The caller frees. */
static char *comments_note(const struct orch_run *run)
{
    return g_strconcat("comments ", run->key, NULL);
}

/* The first input of the run that is not any more what it was; NULL for none. */
static const struct orch_stored_input *
first_changed(struct orch_inputs *all, const struct orch_trial_inputs *trial,
              const struct then *then, const GPtrArray *inputs, enum difference *out_how)
{
    GHashTable *covered = covered_files(all, trial->id);
    for (guint i = 0; i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        if (input->from_key || !input->sha256 || is_input_of(trial, input->name) ||
            (covered && g_hash_table_contains(covered, input->name) &&
             orch_inputs_is_captured(all, input->name)))
            continue;
        *out_how = difference(all, then, input);
        if (*out_how == CHANGED || *out_how == GONE)
            return input;
        if (*out_how == OTHER_COMMENTS)
            g_hash_table_insert(all->files.read_digests, comments_note(then->run), g_strdup(""));
    }
    return NULL;
}

/* Why a file that the run read keeps it from being reused; NULL for none. `*out_name`: the file.
 * The caller frees both. */
static char *read_since(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                        const struct orch_run *run, char **out_name)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(all->workspace->store, run->id, NULL);
    if (!inputs)
        return NULL;
    struct then then;
    enum difference how;
    then_init(&then, all, run, inputs);
    const struct orch_stored_input *changed = first_changed(all, trial, &then, inputs, &how);
    then_clear(&then);
    if (!changed)
        return NULL;
    *out_name = g_strdup(changed->name);
    return g_strdup_printf("%s, which this run read, %s", changed->name,
                           how == GONE                   ? "is gone"
                           : strstr(changed->name, "/*") ? "has other files now"
                                                         : "has changed since");
}

/* The first of these files (char *) that the run wrote, or may have written; NULL: none. Borrowed
 * from the list. */
static const char *wrote_one(const struct orch_run *run, const GPtrArray *names)
{
    if (!names->len || !has_fact(run, ORCH_FACT_WROTE))
        return NULL;
    g_autoptr(json_t) facts = json_loads(run->facts, 0, NULL);
    g_autoptr(GHashTable) written = written_by(facts);
    bool is_cut = json_array_size(json_object_get(facts, ORCH_FACT_WROTE)) >= ORCH_WROTE_MAX;
    for (guint i = 0; i < names->len; i++)
        if (is_cut || g_hash_table_contains(written, names->pdata[i]))
            return names->pdata[i];
    return NULL;
}

/* The reason when inputs of the run changed while it ran, or may have, else NULL. */
static char *rewritten(const struct orch_inputs *all, const struct orch_run *run)
{
    if (has_fact(run, ORCH_FACT_NOT_LOOKED_AT))
        return g_strdup("its inputs were not checked again after orch was killed");
    g_autoptr(json_t) facts =
        has_fact(run, ORCH_FACT_REWRITTEN) ? json_loads(run->facts, 0, NULL) : NULL;
    const char *first =
        json_string_value(json_array_get(json_object_get(facts, ORCH_FACT_REWRITTEN), 0));
    g_autofree char *path = first ? orch_path_absolute(first, all->workspace->root) : NULL;
    return first ? g_strdup_printf("%s was %s while the run used it", first,
                                   g_file_test(path, G_FILE_TEST_EXISTS) ? "written" : "removed")
                 : NULL;
}

char *orch_inputs_since(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                        const struct orch_run *run, GPtrArray *changed)
{
    g_autofree char *name = NULL;
    char *why = rewritten(all, run);
    if (!why && has_fact(run, ORCH_FACT_WATCHED))
        why = read_since(all, trial, run, &name);
    const char *wrote = why || !changed ? NULL : wrote_one(run, changed);
    if (wrote)
        return g_strdup_printf("%s, which a later run read, has changed since", wrote);
    if (name && changed)
        g_ptr_array_add(changed, g_steal_pointer(&name));
    return why;
}

bool orch_read_other_comments(struct orch_inputs *all, const struct orch_run *run)
{
    g_autofree char *note = comments_note(run);
    return g_hash_table_contains(all->files.read_digests, note);
}

/* "state.db is both read and written by this run"; NULL for none. */
static char *read_and_written(const json_t *facts)
{
    const json_t *names = json_object_get(facts, ORCH_FACT_READ_AND_WRITTEN);
    const char *first = json_string_value(json_array_get(names, 0));
    size_t count = json_array_size(names);
    if (!first)
        return NULL;
    g_autofree char *more =
        count > 1 ? g_strdup_printf(" and %zu more are", count - 1) : g_strdup(" is");
    return g_strdup_printf("%s%s both read and written by this run, so not compared", first, more);
}

char *orch_inputs_in_part(const json_t *facts)
{
    const char *why = orch_json_text(facts, ORCH_FACT_UNWATCHED, NULL);
    const json_t *watched = json_object_get(facts, ORCH_FACT_WATCHED);
    const json_t *gaps = json_object_get(watched, ORCH_WATCHED_GAPS);
    const char *first = json_string_value(json_array_get(gaps, 0));
    size_t count = json_array_size(gaps);
    gint64 left_out = orch_json_int(watched, "left_out", 0); /* of earlier versions */
    if (why)
        return g_strdup_printf("what it read was not noted: %s", why);
    if (!first)
        return left_out > 0 ? g_strdup_printf("%lld more files that it read are not compared",
                                              (long long)left_out)
                            : NULL;
    g_autofree char *more =
        count > 1 ? g_strdup_printf(" (and %zu more)", count - 1) : g_strdup("");
    return g_strdup_printf("what it read and wrote is known in part: %s%s", first, more);
}

char *orch_read_not_compared(const struct orch_run *run)
{
    if (!has_fact(run, ORCH_FACT_WATCHED) && !has_fact(run, ORCH_FACT_UNWATCHED))
        return NULL;
    g_autoptr(json_t) facts = json_loads(run->facts, 0, NULL);
    g_autofree char *in_part = orch_inputs_in_part(facts), *both = read_and_written(facts);
    if (in_part && both)
        return g_strdup_printf("%s; %s", in_part, both);
    return in_part ? g_steal_pointer(&in_part) : g_steal_pointer(&both);
}
