/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `images`: PNG artifacts of runs in a grid, one for each setting. */
#include "core/report/items.h"

#include "lib/base/file.h"
#include "lib/base/json.h"

#include <stdio.h>
#include <string.h>

static bool is_png(const char *path)
{
    static const char magic[8] = {'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'};
    char head[sizeof magic];
    FILE *file = orch_file_open_stream(path, NULL);
    bool is = file && fread(head, 1, sizeof head, file) == sizeof head &&
              memcmp(head, magic, sizeof magic) == 0;
    if (file)
        fclose(file);
    return is;
}

/* "lr 0.1, mode full, run 3f2a91c0" */
static char *caption_of(const struct orch_trials *trials, const struct orch_report_trial *trial,
                        const GPtrArray *axes)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = orch_trial_value(trials, trial, axes->pdata[i]);
        if (value)
            g_string_append_printf(text, "%s %s, ", (char *)axes->pdata[i], value);
    }
    if (!axes->len) {
        g_autofree char *label = orch_cell_label(trial->item->cell);
        g_string_append_printf(text, "%s, ", label);
    }
    g_string_append_printf(text, "run %s", orch_run_short_key(trial->run->key));
    return g_string_free(text, FALSE);
}

static void add_picture(struct orch_section_context *a, const struct orch_trials *trials,
                        const struct orch_report_trial *trial, const char *artifact,
                        const GPtrArray *axes)
{
    bool is_gone;
    g_autofree char *path = orch_run_artifact(trials->store, trial->run, artifact, &is_gone);
    g_autofree char *caption = caption_of(trials, trial, axes);
    if (path && is_png(path))
        orch_section_picture(a->section, path, caption);
    else if (path)
        orch_section_missing(a->section, NULL, "%s: '%s' is not a PNG file", caption, artifact);
    else
        orch_section_missing(a->section, NULL, "%s: %s '%s'", caption,
                             is_gone ? "the store has not the bytes of" : "it left no", artifact);
}

/* With `by`, shows the first picture for each of its values; otherwise one picture for each trial.
 */
static bool fill(struct orch_section_context *a, GError **error)
{
    const char *artifact = orch_json_text(a->item->spec, "artifact", "");
    g_autoptr(GPtrArray) axes = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!trials)
        return false;
    for (guint i = trials->all->len; i-- > 0;) /* keep only trials that can have a picture */
        if (!orch_manifest_artifact(((struct orch_report_trial *)trials->all->pdata[i])
                                        ->item->cell->experiment->manifest,
                                    artifact))
            g_ptr_array_remove_index(trials->all, i);
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        g_autofree char *label = orch_trial_label(trials, trial, axes);
        bool is_new = label && (!axes->len || !g_hash_table_contains(seen, label));
        orch_section_trial(a->section, trials, trial);
        if (!trial->run || !is_new)
            continue;
        g_hash_table_add(seen, g_steal_pointer(&label));
        add_picture(a, trials, trial, artifact, axes);
    }
    orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "artifact", .shape = ORCH_SHAPE_ARTIFACT, .is_required = true},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_IMAGES = {
    .name = "images",
    .keys = KEYS,
    .fill = fill,
};
