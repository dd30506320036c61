/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/fingerprint.h"

#include "core/recipe/trial_environment.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/local_key.h"
#include "lib/base/text.h"
#include "lib/wire/secret.h"

#include <string.h>

#define FINGERPRINT_FORMAT "orch fingerprint 1"

static json_t *public_params(const struct orch_cell *cell, const GPtrArray *no_effect)
{
    json_t *out = json_object();
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        if (!spec || orch_cell_identifies(cell, spec))
            json_object_set(out, name, value);
    }
    for (guint i = 0; no_effect && i < no_effect->len; i++)
        json_object_del(out, no_effect->pdata[i]);
    return out;
}

static int compare_inputs(const void *a, const void *b)
{
    const struct orch_checked_input *x = *(struct orch_checked_input *const *)a;
    const struct orch_checked_input *y = *(struct orch_checked_input *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->sha256, y->sha256);
}

/* A word of a command with a secret in it. Digests over the words are published, and would betray a
 * short secret; so it enters as a digest with the key of this machine. New reference. */
static json_t *keyed_word(const char *word, const char *secret)
{
    g_autofree char *digest = orch_local_key_digest(secret);
    return json_sprintf("%.*s%s", (int)(secret - word), word, digest);
}

/* The words of an experiment's own command (`program:`): they are in the recipe, which is not part
 * of the inputs' tree. Paths below `root` are made relative to it, because its location differs
 * between machines. NULL when the command comes from a manifest, which is among the inputs. New
 * reference. */
static json_t *command_json(const struct orch_experiment *experiment, const char *root)
{
    if (!experiment->program)
        return NULL;
    json_t *words = json_array();
    char *const *argv = experiment->manifest->argv;
    for (size_t i = 0; argv && argv[i]; i++) {
        const char *secret = orch_secret_in_word((const char *const *)argv, i);
        const char *relative = root ? orch_path_below(argv[i], root) : NULL;
        json_array_append_new(words, secret ? keyed_word(argv[i], secret)
                                            : json_string(relative ? relative : argv[i]));
    }
    return words;
}

char *orch_command_id(const struct orch_experiment *experiment, const char *root)
{
    g_autoptr(json_t) words = command_json(experiment, root);
    if (!words)
        return NULL;
    g_autofree char *text = orch_json_canonical(words);
    char id[ORCH_SHA256_CHARS];
    orch_sha256(text, strlen(text), id);
    return g_strdup(id);
}

bool orch_fingerprint_has(const struct orch_cell *cell, const GPtrArray *no_effect,
                          const struct orch_param_spec *spec)
{
    return orch_cell_identifies(cell, spec) &&
           !(no_effect && orch_texts_have(no_effect, spec->name));
}

void orch_fingerprint(const struct orch_cell *cell, uint64_t seed, const GPtrArray *inputs,
                      const GPtrArray *no_effect, const char *inputs_id, const char *root,
                      const struct orch_fingerprint_ref *refs, size_t ref_count, char out[65])
{
    const struct orch_manifest *manifest = cell->experiment->manifest;
    g_autoptr(json_t) read = json_array();
    if (inputs && inputs->len) {
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();
        for (guint i = 0; i < inputs->len; i++)
            g_ptr_array_add(sorted, inputs->pdata[i]);
        g_ptr_array_sort(sorted, compare_inputs);
        for (guint i = 0; i < sorted->len; i++) {
            const struct orch_checked_input *input = sorted->pdata[i];
            json_array_append_new(read, json_pack("[ss]", input->name, input->sha256));
        }
    }
    g_autoptr(json_t) referred = json_array();
    for (size_t i = 0; i < ref_count; i++)
        json_array_append_new(
            referred, json_pack("[sss]", refs[i].param, refs[i].artifact, refs[i].fingerprint));
    g_autoptr(json_t) command = command_json(cell->experiment, root);
    g_autoptr(json_t) all =
        json_pack("[s s s o o O O s]", FINGERPRINT_FORMAT, manifest->name, manifest->version,
                  public_params(cell, no_effect), orch_json_u64(seed), read, referred,
                  inputs_id ? inputs_id : "");
    if (command)
        json_array_append(all, command);
    if (manifest->kind == ORCH_PLUGIN_WRAPPED && manifest->metrics_on)
        json_array_append_new(
            all, json_pack("{s:s}", "metrics_on", ORCH_METRICS_ON_NAMES[manifest->metrics_on]));
    if (manifest->metrics_files) {
        g_autofree char *patterns = g_strjoinv("\n", manifest->metrics_files);
        json_array_append_new(all, json_pack("{s:s}", "metrics_files", patterns));
    }
    if (cell->experiment->environment)
        json_array_append_new(
            all, json_pack("{s:s}", "environment", cell->experiment->environment->digest));
    if (cell->experiment->ranks) /* ranks that follow from the parameters are in those */
        json_array_append_new(all, json_pack("{s:i}", "ranks", (int)cell->experiment->ranks));
    g_autofree char *text = orch_json_canonical(all);
    orch_sha256(text, strlen(text), out);
}
