/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/written_words.h"

#include "core/inputs/opened.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"
#include "lib/wire/verdict.h"

#include <string.h>

/* What is known of a trial. */
struct words {
    const json_t *wrote, *inputs;
    bool has_all_inputs; /* all that was read is known */
    json_t *values;      /* of ${name} in words */
    char *cwd, *root;    /* where the command starts, and where the names of files begin */
};

static bool is_among(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (g_strcmp0(json_string_value(json_array_get(names, i)), name) == 0)
            return true;
    return false;
}

static bool is_within(const char *name, const char *folder)
{
    return name && orch_path_within(name, folder);
}

/* Whether a folder has only what the trial wrote, as far as it touched it. */
static bool is_output_folder(const struct words *w, const char *name)
{
    bool is_written = false;
    for (size_t i = 0; i < json_array_size(w->inputs); i++)
        if (is_within(json_string_value(json_array_get(json_array_get(w->inputs, i), 0)), name))
            return false;
    for (size_t i = 0; !is_written && i < json_array_size(w->wrote); i++)
        is_written = is_within(json_string_value(json_array_get(w->wrote, i)), name);
    return is_written && w->has_all_inputs;
}

static bool is_written(const struct words *w, const char *word)
{
    const char *equals = *word == '-' ? strchr(word, '=') : NULL;
    const char *given = equals ? equals + 1 : word;
    g_autofree char *text =
        *given && *given != '-' ? orch_value_expand(given, w->values, NULL) : NULL;
    if (!text || !*text)
        return false;
    g_autofree char *path = orch_path_absolute(text, w->cwd);
    const char *inner = orch_path_below(path, w->root);
    const char *name = inner ? inner : path;
    return is_among(w->wrote, name) || is_output_folder(w, name);
}

/* Where the names of files begin for the processes of the trial, and where the command starts. */
static bool find_folders(struct words *w, const json_t *record, const json_t *trial)
{
    const json_t *apart = json_object_get(trial, "apart");
    const char *copy = orch_json_text(apart, "copy", NULL), *cwd = orch_json_text(trial, "cwd", "");
    const char *origin = orch_json_text(apart, "origin", NULL);
    const char *inner = copy ? orch_path_within(cwd, copy) : NULL;
    w->root = g_strdup(origin ? origin : orch_json_text(record, ORCH_RECORD_IN_PLACE, NULL));
    if (origin)
        w->cwd = inner ? g_build_filename(origin, inner, NULL) : NULL;
    else
        w->cwd = g_path_is_absolute(cwd) ? g_strdup(cwd) : NULL;
    return w->root && w->cwd;
}

static json_t *values_of(const json_t *trial)
{
    json_t *values = json_copy(json_object_get(trial, "params"));
    static const char *const own[] = {"seed", "repeat"};
    for (unsigned i = 0; values && i < G_N_ELEMENTS(own); i++)
        if (!json_object_get(values, own[i]))
            json_object_set(values, own[i], json_object_get(trial, own[i]));
    return values;
}

void orch_written_words_note(struct gathering *all, const json_t *trial)
{
    const json_t *argv = json_object_get(json_object_get(trial, "manifest"), "argv");
    g_autofree char *in_part = orch_inputs_in_part(all->facts);
    g_autoptr(json_t) values = values_of(trial), found = json_array();
    struct words w = {.wrote = json_object_get(all->facts, ORCH_FACT_WROTE),
                      .inputs = json_object_get(all->record, "inputs"),
                      .has_all_inputs = !in_part,
                      .values = values};
    bool ok = w.wrote && values && find_folders(&w, all->record, trial);
    for (size_t i = 1; ok && i < json_array_size(argv); i++) {
        const char *word = json_string_value(json_array_get(argv, i));
        if (word && is_written(&w, word))
            json_array_append_new(found, json_integer((json_int_t)i));
    }
    if (json_array_size(found))
        json_object_set(all->facts, ORCH_FACT_WRITTEN_WORDS, found);
    g_free(w.cwd);
    g_free(w.root);
}
