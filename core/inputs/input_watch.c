/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look is a stat of each input: its size, inode, and times of modification and change. Only when
 * one of them differs, or changed so late that the capture may have missed it, the tree is captured
 * again and the inputs' contents are compared.
 *
 * Rejected: inotify, which loses events, does not work on network file systems and needs a watch
 * for each folder; comparing contents before and after each trial, which reads large inputs
 * thousands of times and misses a change that was taken back in between.
 *
 * Files that are new since the capture do not count: a trial may have made them. The next command
 * captures them. */
#include "core/inputs/input_watch_private.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <string.h>

static void input_free(gpointer pointer)
{
    struct watched_input *input = pointer;
    g_free(input->path);
    g_clear_pointer(&input->suspects, g_hash_table_unref);
    g_free(input);
}

static GHashTable *lists_new(void)
{
    return g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
}

struct orch_input_watch *orch_input_watch_new(struct orch_inputs *all)
{
    struct orch_input_watch *watch = g_new0(struct orch_input_watch, 1);
    const struct orch_source *source = all->workspace->source;
    watch->all = all;
    watch->inputs = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, input_free);
    watch->by_experiment = lists_new();
    watch->by_trial = lists_new();
    watch->reads = lists_new();
    watch->suspected = g_ptr_array_new();
    watch->verified = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    watch->captured_ns = source && source->captured_ns ? source->captured_ns : all->made_ns;
    return watch;
}

void orch_input_watch_free(struct orch_input_watch *watch)
{
    if (!watch)
        return;
    g_hash_table_unref(watch->by_trial);
    g_hash_table_unref(watch->by_experiment);
    g_hash_table_unref(watch->reads);
    g_ptr_array_unref(watch->suspected);
    g_hash_table_unref(watch->verified);
    g_hash_table_unref(watch->inputs);
    g_free(watch);
}

/* ---- looks ------------------------------------------------------------------------------------
 */

/* A folder's own times change with every file that a trial makes in it, so only its inode counts.
 */
struct orch_file_id orch_watched_look(const struct orch_input_watch *watch, const char *name)
{
    struct stat info;
    g_autofree char *path = orch_path_absolute(name, watch->all->workspace->root);
    if (stat(path, &info) != 0)
        return (struct orch_file_id){0};
    if (S_ISDIR(info.st_mode))
        return (struct orch_file_id){.is_known = true, .inode = (int64_t)info.st_ino};
    return orch_file_id_of(&info);
}

/* True when a file may have changed after the tree was captured and before its first look. */
bool orch_watched_is_too_new(const struct orch_input_watch *watch, const struct orch_file_id *look)
{
    return orch_file_may_have_changed(look->changed_ns, watch->captured_ns - ORCH_FILE_TIME_LAG_NS);
}

/* Whether the first look at a file leaves open that it has changed since the capture. */
static bool is_doubtful(const struct orch_input_watch *watch, const struct watched_input *input)
{
    const struct orch_file_id *now = &input->seen;
    if (input->is_only_read && !orch_watched_is_captured(watch, input->path))
        return false;
    return !now->is_known ? !input->is_only_read : orch_watched_is_too_new(watch, now);
}

/* ---- before and after a trial -----------------------------------------------------------------
 */

static bool is_code(const struct orch_input_watch *watch, const struct watched_input *input)
{
    g_autofree char *path = orch_path_absolute(input->path, watch->all->workspace->root);
    return orch_input_is_code(path);
}

/* Looks at files, and collects those that changed since their first look, or that may have changed
 * between the capture and their first look. */
static void compare(struct orch_input_watch *watch, const GPtrArray *inputs, GPtrArray *changed)
{
    for (guint i = 0; i < inputs->len; i++) {
        struct watched_input *input = inputs->pdata[i];
        struct orch_file_id now = input->seen = orch_watched_look(watch, input->path);
        bool is_first = !input->is_known;
        /* a file that was read and comes into being is made by a trial */
        bool is_made = input->is_only_read && !input->captured.is_known;
        bool is_same = orch_file_id_equal(&input->captured, &now) ||
                       (!input->captured.is_known && !now.is_known);
        input->is_known = true;
        if (is_first || is_made)
            input->captured = now;
        if (is_first ? is_doubtful(watch, input) : !is_same && !is_made)
            g_ptr_array_add(changed, input);
    }
}

/* Takes what the last look saw as captured. */
static void accept(const GPtrArray *inputs)
{
    for (guint i = 0; i < inputs->len; i++) {
        struct watched_input *input = inputs->pdata[i];
        input->captured = input->seen;
        input->rewrites++;
    }
}

static uint64_t stamp_of(const GPtrArray *inputs)
{
    uint64_t stamp = 0;
    for (guint i = 0; i < inputs->len; i++)
        stamp += ((const struct watched_input *)inputs->pdata[i])->rewrites;
    return stamp;
}

/* Whether the content that a changed input had can still be had. Outside of a repository nothing
 * can, and the sweep ends. */
static bool is_kept(const struct orch_input_watch *watch, const struct watched_input *input)
{
    const struct orch_source *source = watch->all->workspace->source;
    return !source || !source->tree || orch_watched_is_captured(watch, input->path);
}

bool orch_input_watch_before(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                             uint64_t *out_stamp, struct orch_input_change *out, GError **error)
{
    g_autoptr(GPtrArray) inputs = orch_watched_inputs(watch, trial, error);
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    *out = (struct orch_input_change){0};
    if (!inputs)
        return false;
    compare(watch, inputs, changed);
    for (guint i = changed->len; i-- > 0;) {
        struct watched_input *input = changed->pdata[i];
        if (!input->is_accepted && !input->suspects)
            continue;
        input->captured = input->seen;
        g_ptr_array_remove_index(changed, i);
    }
    if (changed->len && orch_watched_has_captured(watch, trial, changed)) {
        accept(changed);
        g_ptr_array_set_size(changed, 0);
    }
    for (guint i = 0; i < changed->len; i++) {
        out->is_captured = out->is_captured || is_kept(watch, changed->pdata[i]);
        out->is_code = out->is_code || is_code(watch, changed->pdata[i]);
    }
    if (changed->len)
        out->names =
            orch_input_names(((const struct watched_input *)changed->pdata[0])->path, changed->len);
    *out_stamp = stamp_of(inputs);
    return true;
}

void orch_input_watch_take_new(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial)
{
    g_autoptr(GPtrArray) inputs = orch_watched_inputs(watch, trial, NULL);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        struct watched_input *input = inputs->pdata[i];
        if (is_kept(watch, input))
            continue;
        input->captured = input->seen;
        *input->sha256 = 0;
    }
}

/* A trial that runs may have written a file that has changed. */
static void suspect(struct orch_input_watch *watch, struct watched_input *input,
                    const struct orch_trial_inputs *trial)
{
    if (!input->suspects) {
        input->suspects = g_hash_table_new(NULL, NULL);
        g_ptr_array_add(watch->suspected, input);
    }
    g_hash_table_add(input->suspects, (gpointer)(uintptr_t)trial);
}

void orch_input_watch_after(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            uint64_t stamp, enum orch_trial_stage stage, GPtrArray *code,
                            GPtrArray *data)
{
    g_autoptr(GPtrArray) inputs = orch_watched_inputs(watch, trial, NULL);
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    if (!inputs)
        return;
    bool is_rewritten = stamp_of(inputs) != stamp;
    for (guint i = stage == ORCH_TRIAL_NOTED ? inputs->len : 0; i-- > 0;)
        if (((const struct watched_input *)inputs->pdata[i])->is_only_read)
            g_ptr_array_remove_index_fast(inputs, i); /* what it has opened says more */
    compare(watch, inputs, changed);
    for (guint i = 0; is_rewritten && !changed->len && i < inputs->len; i++)
        if (((const struct watched_input *)inputs->pdata[i])->rewrites)
            g_ptr_array_add(changed, inputs->pdata[i]);
    for (guint i = 0; i < changed->len; i++) {
        struct watched_input *input = changed->pdata[i];
        bool is_data = input->is_accepted || input->suspects || !is_code(watch, input);
        orch_texts_add_once(is_data ? data : code, input->path);
        if (is_data && stage == ORCH_TRIAL_RUNS)
            suspect(watch, input, trial);
    }
    for (guint i = 0; i < inputs->len; i++) {
        const struct watched_input *input = inputs->pdata[i];
        if (input->is_accepted && !input->is_only_read)
            orch_texts_add_once(data, input->path);
    }
}
