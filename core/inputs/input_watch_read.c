/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial has really read and written. */
#include "core/inputs/input_watch_private.h"

#include "core/inputs/content_digest.h"
#include "lib/base/file.h"

static bool is_accepted(const struct orch_input_watch *watch, const char *name)
{
    const struct watched_input *input = g_hash_table_lookup(watch->inputs, name);
    return input && input->is_accepted;
}

/* Whether a captured file may have been read with another content than the captured one. */
static bool is_read_too_new(const struct orch_input_watch *watch,
                            const struct orch_opened_file *file)
{
    g_autofree char *key = orch_watched_key(file);
    return file->read.is_known && orch_watched_is_too_new(watch, &file->read) &&
           !g_hash_table_contains(watch->verified, key);
}

/* Adds the captured files that a trial has read and that were not, or are not any more, as they
 * were captured. */
static void add_read_otherwise(struct orch_input_watch *watch, const struct orch_opened *opened,
                               int64_t started_ns, GPtrArray *names)
{
    g_autoptr(GPtrArray) doubtful = g_ptr_array_new();
    for (guint i = 0; i < opened->read->len; i++) {
        struct orch_opened_file *file = opened->read->pdata[i];
        if (!orch_watched_is_captured(watch, file->name) || is_accepted(watch, file->name))
            continue;
        if (!orch_opened_is_same(opened, file, started_ns))
            orch_texts_add_once(names, file->name);
        else if (is_read_too_new(watch, file))
            g_ptr_array_add(doubtful, file);
    }
    if (doubtful->len)
        orch_watched_differing(watch, doubtful, names);
}

static void accept_name(struct orch_input_watch *watch, const char *name)
{
    orch_watched_get(watch, name)->is_accepted = true;
}

/* Moves from `names` to `outputs` what the trial has written. */
static void take_outputs(struct orch_input_watch *watch, GPtrArray *names, GHashTable *written,
                         GHashTable *outputs)
{
    for (guint i = names->len; i-- > 0;) {
        const char *name = names->pdata[i];
        if (!g_hash_table_contains(written, name))
            continue;
        accept_name(watch, name);
        g_hash_table_add(outputs, g_strdup(name));
        g_ptr_array_remove_index(names, i);
    }
}

/* Lets the next look compare the content of files that a trial has read otherwise. */
static void doubt(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                  const GPtrArray *names)
{
    GPtrArray *reads = orch_watched_reads(watch, trial->cell->experiment);
    for (guint i = 0; i < names->len; i++) {
        struct watched_input *input = orch_watched_add_read(watch, reads, names->pdata[i], NULL);
        if (!input || input->is_known)
            continue;
        input->is_known = true;
        input->captured = (struct orch_file_id){.is_known = true, .inode = -1}; /* of no file */
    }
}

/* A trial has ended that may have written files. Adds to `others` those of which all trials that
 * ran then have ended, and none has written them. */
static void clear_of_suspicion(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial,
                               const struct orch_opened *opened, GPtrArray *others)
{
    for (guint i = watch->suspected->len; i-- > 0;) {
        struct watched_input *input = watch->suspected->pdata[i];
        if (!g_hash_table_remove(input->suspects, trial))
            continue;
        input->is_accepted = input->is_accepted || !orch_opened_is_whole(opened) ||
                             g_hash_table_contains(opened->written, input->path);
        if (g_hash_table_size(input->suspects) && !input->is_accepted)
            continue;
        if (!input->is_accepted)
            orch_texts_add_once(others, input->path);
        g_clear_pointer(&input->suspects, g_hash_table_unref);
        g_ptr_array_remove_index(watch->suspected, i);
    }
}

void orch_input_watch_judge(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            const struct orch_opened *opened, int64_t started_ns,
                            const struct orch_input_judgement *out)
{
    GPtrArray *code = out->code, *data = out->data;
    take_outputs(watch, code, opened->written, out->outputs);
    take_outputs(watch, data, opened->written, out->outputs);
    clear_of_suspicion(watch, trial, opened, out->others);
    if (orch_opened_is_whole(opened)) {
        add_read_otherwise(watch, opened, started_ns, code);
        doubt(watch, trial, code);
        g_ptr_array_set_size(data, 0);
    }
    for (guint i = 0; i < data->len; i++)
        accept_name(watch, data->pdata[i]);
}

void orch_input_watch_learn(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            const struct orch_opened *opened, int64_t started_ns)
{
    GPtrArray *reads = orch_watched_reads(watch, trial->cell->experiment);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, opened->written);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        accept_name(watch, name);
    for (guint i = 0; i < opened->read->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        const struct orch_opened_file *file = opened->read->pdata[i];
        g_autofree char *path = orch_opened_path(opened, file->name);
        const struct watched_input *known = g_hash_table_lookup(watch->inputs, file->name);
        bool is_new = !known || !known->is_read;
        if (!is_new || !orch_opened_is_same(opened, file, started_ns))
            continue;
        bool has_digest = !orch_watched_is_captured(watch, file->name) &&
                          orch_reads_digest(watch->all->digests, path, NULL, digest, NULL);
        struct watched_input *input =
            orch_watched_add_read(watch, reads, file->name, has_digest ? digest : NULL);
        if (!input || input->is_known)
            continue;
        input->is_known = true;
        input->captured = file->read.is_known ? file->read : orch_watched_look(watch, file->name);
    }
}
