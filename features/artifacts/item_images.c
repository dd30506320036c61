/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `images`: PNG artifacts of runs in a grid, one for each setting. */
#include "core/report/answer.h"
#include "core/report/items.h"
#include "features/artifacts/recorded_notes.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

enum { NAMED_MOST = 4 };

/* The pictures that show the same, by the notes of their runs. */
struct shown {
    char *text;        /* "4 images each of Sandal and Bag"; NULL: the runs do not say */
    GPtrArray *labels; /* char *: settings of the pictures */
};

static void shown_free(gpointer pointer)
{
    struct shown *shown = pointer;
    g_free(shown->text);
    g_ptr_array_unref(shown->labels);
    g_free(shown);
}

static struct shown *shown_of(GPtrArray *all, const char *text)
{
    for (guint i = 0; i < all->len; i++)
        if (g_strcmp0(((struct shown *)all->pdata[i])->text, text) == 0)
            return all->pdata[i];
    struct shown *shown = g_new0(struct shown, 1);
    shown->text = g_strdup(text);
    shown->labels = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(all, shown);
    return shown;
}

/* "4 images each of Sandal and Bag (fashion-mnist)"; without a note of the runs: "2 pictures, one
 * for each dataset: fashion-mnist, cifar10" */
static void append_shown(GString *out, GHashTable *labels, const struct shown *shown,
                         const GPtrArray *axes, bool is_alone)
{
    const guint count = shown->labels->len;
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < count && count <= NAMED_MOST && axes->len; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", (char *)shown->labels->pdata[i]);
    g_string_append(out, out->len ? ". " : "");
    if (shown->text && is_alone && count == 1) {
        g_string_append(out, shown->text);
    } else if (shown->text && names->len) {
        g_string_append_printf(out, "%s%s (%s)", count > 1 ? "each: " : "", shown->text,
                               names->str);
    } else if (shown->text) {
        g_string_append_printf(out, "%u picture%s: %s", count, orch_plural(count), shown->text);
    } else {
        g_autofree char *words = axes->len ? orch_answer_axes(labels, axes) : g_strdup("run");
        g_string_append_printf(out, "%u picture%s", count, orch_plural(count));
        if (count > 1)
            g_string_append_printf(out, ", one for each %s", words);
        if (names->len)
            g_string_append_printf(out, ": %s", names->str);
    }
}

static void add_answer(struct orch_section *section, const GPtrArray *all, const GPtrArray *axes)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < all->len; i++)
        append_shown(text, section->labels, all->pdata[i], axes, all->len == 1);
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}

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

/* "learning rate 0.1, full mode, run 3f2a91c0" */
static char *caption_of(const struct orch_trials *trials, const struct orch_report_trial *trial,
                        const GPtrArray *axes)
{
    g_autofree char *label = axes->len ? NULL : orch_cell_label(trial->item->cell);
    g_autofree char *words = label ? orch_answer_series(trials->labels, label)
                                   : orch_answer_setting(trials, trial, axes);
    return g_strdup_printf("%s%srun %s", words, *words ? ", " : "",
                           orch_run_short_key(trial->run->key));
}

static void add_picture(struct orch_section_context *a, const struct orch_trials *trials,
                        const struct orch_report_trial *trial, const char *artifact,
                        const GPtrArray *axes, GPtrArray *all)
{
    bool is_gone;
    g_autofree char *path = orch_run_artifact(trials->store, trial->run, artifact, &is_gone);
    g_autofree char *caption = caption_of(trials, trial, axes);
    if (path && is_png(path)) {
        g_autofree char *text = orch_recorded_note_on(trial->run, artifact);
        char *label = orch_trial_label(trials, trial, axes);
        orch_section_picture(a->section, path, caption);
        g_ptr_array_add(shown_of(all, text)->labels, label ? label : g_strdup(""));
    } else if (path)
        orch_section_missing(a->section, NULL, "%s: '%s' is not a PNG file", caption, artifact);
    else
        orch_section_missing(
            a->section, NULL, "%s: %s '%s'", caption,
            is_gone ? "the store does not have the contents of" : "it left no artifact", artifact);
}

/* With `by`, shows the first picture for each of its values; otherwise one picture for each trial.
 */
static bool fill(struct orch_section_context *a, GError **error)
{
    const char *artifact = orch_json_text(a->item->spec, "artifact", "");
    g_autoptr(GPtrArray) axes = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(shown_free);
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
        add_picture(a, trials, trial, artifact, axes, all);
    }
    add_answer(a->section, all, axes);
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
