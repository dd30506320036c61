/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/labels/run_labels.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "store/read/find_runs.h"

#include <string.h>

enum { NOTE_BYTES_MAX = 100000 };

/* Returns the key of the run that `named` names; the caller frees. */
static char *key_of(struct orch_store *store, const char *named, GError **error)
{
    struct orch_run *run = orch_store_run(store, named, error);
    char *key = run ? g_strdup(run->key) : NULL;
    orch_run_free(run);
    return key;
}

/* ---- notes ------------------------------------------------------------------------------------
 */

static void free_note(gpointer pointer)
{
    struct orch_run_note *note = pointer;
    g_free(note->text);
    g_free(note);
}

GPtrArray *orch_run_notes(struct orch_store *store, const char *named, char **out_key,
                          GError **error)
{
    g_autofree char *key = key_of(store, named, error);
    g_autoptr(GPtrArray) stored = key ? orch_store_notes(store, key, error) : NULL;
    if (!stored)
        return NULL;
    GPtrArray *notes = g_ptr_array_new_with_free_func(free_note);
    for (guint i = 0; i < stored->len; i++) {
        const struct orch_stored_note *note = stored->pdata[i];
        if (strcmp(note->kind, "note") != 0)
            continue;
        struct orch_run_note *copy = g_new0(struct orch_run_note, 1);
        *copy = (struct orch_run_note){g_strdup(note->text), note->is_public};
        g_ptr_array_add(notes, copy);
    }
    *out_key = g_steal_pointer(&key);
    return notes;
}

bool orch_run_add_note(struct orch_store *store, const char *named, const char *text,
                       bool is_public, char **out_key, GError **error)
{
    g_autofree char *key = key_of(store, named, error);
    if (!key)
        return false;
    if (!*text || strlen(text) > NOTE_BYTES_MAX || !g_utf8_validate(text, -1, NULL)) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "a note takes 1 to %d bytes of UTF-8 text; this note has %zu",
                       NOTE_BYTES_MAX, strlen(text));
        return false;
    }
    if (!orch_store_note(store, key, "note", is_public, text, error))
        return false;
    *out_key = g_steal_pointer(&key);
    return true;
}

/* ---- tags -------------------------------------------------------------------------------------
 */

bool orch_run_check_label(const char *what, const char *text, GError **error)
{
    if (orch_label_is_valid(text) && !strchr("@-", *text))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "use one word of at most 200 bytes that does not begin with '-' or '@'",
                   "%s '%s' is not valid", what, text);
    return false;
}

static void free_tagged(gpointer pointer)
{
    struct orch_tagged_run *tagged = pointer;
    g_free(tagged->key);
    if (tagged->tags)
        g_ptr_array_unref(tagged->tags);
    g_free(tagged);
}

static GPtrArray *tags_of(struct orch_store *store, const GPtrArray *runs, GError **error)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_tagged);
    for (guint i = 0; i < runs->len; i++) {
        struct orch_tagged_run *tagged = g_new0(struct orch_tagged_run, 1);
        tagged->key = g_strdup(((const struct orch_run *)runs->pdata[i])->key);
        tagged->tags = orch_store_tags(store, tagged->key, error);
        g_ptr_array_add(all, tagged);
        if (!tagged->tags) {
            g_ptr_array_unref(all);
            return NULL;
        }
    }
    return all;
}

GPtrArray *orch_run_tags(struct orch_store *store, const char *selected, GError **error)
{
    g_autoptr(GPtrArray) runs = orch_store_find_runs(store, selected, error);
    return runs ? tags_of(store, runs, error) : NULL;
}

static bool add_tag(struct orch_store *store, const char *key, const char *tag, bool is_public,
                    bool *out_changed, GError **error)
{
    g_autoptr(GPtrArray) tags = orch_store_tags(store, key, error);
    bool has = tags && g_ptr_array_find_with_equal_func(tags, tag, g_str_equal, NULL);
    *out_changed = !has;
    return tags &&
           ((has && !is_public) || orch_store_note(store, key, "tag", is_public, tag, error));
}

GPtrArray *orch_run_change_tags(struct orch_store *store, const char *selected,
                                const char *const *tags, bool removes, bool is_public,
                                unsigned *out_changed, GError **error)
{
    g_autoptr(GPtrArray) runs = orch_store_find_runs(store, selected, error);
    *out_changed = 0;
    for (guint i = 0; runs && i < runs->len; i++)
        for (int j = 0; tags[j]; j++) {
            const char *key = ((const struct orch_run *)runs->pdata[i])->key;
            bool changed = false;
            if (!(removes ? orch_store_untag(store, key, tags[j], &changed, error)
                          : add_tag(store, key, tags[j], is_public, &changed, error)))
                return NULL;
            *out_changed += changed;
        }
    return runs ? tags_of(store, runs, error) : NULL;
}

/* ---- names ------------------------------------------------------------------------------------
 */

/* Returns the key of the other run that `name` means, or NULL. */
static char *taken_by(struct orch_store *store, const char *key, const char *name)
{
    struct orch_run *now = orch_store_run(store, name, NULL);
    char *other = now && strcmp(now->key, key) != 0 ? g_strdup(now->key) : NULL;
    orch_run_free(now);
    return other;
}

bool orch_run_rename(struct orch_store *store, const char *named, const char *name, bool is_public,
                     char **out_key, char **out_name, char **out_taken, GError **error)
{
    g_autofree char *key = key_of(store, named, error);
    if (!key || (name && !orch_store_set_name(store, key, name, is_public, error)))
        return false;
    GError *problem = NULL;
    char *now = orch_store_name(store, key, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    *out_taken = name && *name ? taken_by(store, key, name) : NULL;
    *out_name = now;
    *out_key = g_steal_pointer(&key);
    return true;
}
