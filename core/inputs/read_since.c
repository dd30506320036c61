/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of another machine are compared only in files of the work tree that lie here, too: other
 * paths mean nothing here, and data need not be on every machine. */
#include "core/inputs/read_since.h"

#include "core/inputs/read_digest.h"
#include "core/inputs/scripts.h"
#include "lib/base/ident.h"
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
        bool is_part = !checked->is_word && (name[length] == '/' || input[length - 1] == '/');
        bool is_below = length && strncmp(name, input, length) == 0 && (!name[length] || is_part);
        if (is_below)
            return true;
    }
    return false;
}

/* The digest of a path as it is now, "" when it is gone; looked up once. Borrowed. */
static const char *digest_now(struct orch_inputs *all, const struct orch_run *run, const char *path)
{
    const char *known = g_hash_table_lookup(all->files.read_digests, path);
    char digest[ORCH_SHA256_CHARS] = "";
    if (known)
        return known;
    if (!orch_reads_digest(all->digests, path, run->started_ns - ORCH_FILE_TIME_LAG_NS,
                           run->ended_ns, digest))
        *digest = 0;
    char *kept = g_strdup(digest);
    g_hash_table_insert(all->files.read_digests, g_strdup(path), kept);
    return kept;
}

/* How a file that a run read differs now. */
enum difference { SAME, OTHER_COMMENTS, CHANGED, GONE };

static enum difference difference(struct orch_inputs *all, const struct orch_run *run,
                                  const struct orch_stored_input *then, const char *code_then)
{
    char code[ORCH_SHA256_CHARS];
    bool is_here = g_strcmp0(run->machine_key, orch_workspace_machine_key(all->workspace)) == 0;
    if (!is_here && *then->name == '/')
        return SAME;
    const char *root = all->workspace->root;
    g_autofree char *path =
        *then->name == '/' ? g_strdup(then->name) : g_strconcat(root, "/", then->name, NULL);
    const char *now = digest_now(all, run, path);
    if (strcmp(now, then->sha256) == 0)
        return SAME;
    if (!*now)
        return is_here ? GONE : SAME;
    bool is_same_code =
        *code_then && orch_script_file_digest(path, code) && strcmp(code, code_then) == 0;
    return is_same_code ? OTHER_COMMENTS : CHANGED;
}

/* The note that scripts which a run read have other comments now. The caller frees. */
static char *comments_note(const struct orch_run *run)
{
    return g_strconcat("comments ", run->key, NULL);
}

char *orch_read_since(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                      const struct orch_run *run, char **out_name)
{
    if (!has_fact(run, ORCH_FACT_WATCHED))
        return NULL;
    g_autoptr(json_t) facts =
        has_fact(run, ORCH_FACT_READ_CODE) ? json_loads(run->facts, 0, NULL) : NULL;
    const json_t *code = json_object_get(facts, ORCH_FACT_READ_CODE);
    g_autoptr(GPtrArray) inputs = orch_store_inputs(all->workspace->store, run->id, NULL);
    GHashTable *covered = covered_files(all, trial->id);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *then = inputs->pdata[i];
        if (then->from_key || !then->sha256 || is_input_of(trial, then->name) ||
            (covered && g_hash_table_contains(covered, then->name)))
            continue;
        enum difference how = difference(all, run, then, orch_json_text(code, then->name, ""));
        if (how == CHANGED || how == GONE)
            *out_name = g_strdup(then->name);
        if (*out_name)
            return g_strdup_printf("%s, which this run read, %s", then->name,
                                   how == GONE                ? "is gone"
                                   : strstr(then->name, "/*") ? "has other files now"
                                                              : "has changed since");
        if (how == OTHER_COMMENTS)
            g_hash_table_insert(all->files.read_digests, comments_note(run), g_strdup(""));
    }
    return NULL;
}

const char *orch_read_wrote(const struct orch_run *run, const GPtrArray *names)
{
    if (!names->len || !has_fact(run, ORCH_FACT_WROTE))
        return NULL;
    g_autoptr(json_t) facts = json_loads(run->facts, 0, NULL);
    const json_t *wrote = json_object_get(facts, ORCH_FACT_WROTE);
    for (guint i = 0; i < names->len; i++)
        for (size_t j = 0; j < json_array_size(wrote); j++)
            if (g_strcmp0(json_string_value(json_array_get(wrote, j)), names->pdata[i]) == 0)
                return names->pdata[i];
    return NULL;
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

char *orch_read_not_compared(const struct orch_run *run)
{
    if (!has_fact(run, ORCH_FACT_WATCHED) && !has_fact(run, ORCH_FACT_UNWATCHED))
        return NULL;
    g_autoptr(json_t) facts = json_loads(run->facts, 0, NULL);
    const char *why = orch_json_text(facts, ORCH_FACT_UNWATCHED, NULL);
    gint64 left_out = orch_json_int(json_object_get(facts, ORCH_FACT_WATCHED), "left_out", 0);
    if (why)
        return g_strdup_printf("what it read was not noted: %s", why);
    char *both = read_and_written(facts);
    if (both || left_out <= 0)
        return both;
    return g_strdup_printf("%lld more files that it read are not compared", (long long)left_out);
}
