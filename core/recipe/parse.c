/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts the YAML tree of a recipe to a draft: checks the keys and their types, and resolves the
 * names of plugins and experiments. Parameter values are checked in values.c. */
#include "core/recipe/internal.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/wire/system_metrics.h"
#include "lib/wire/value.h"

#include <string.h>

static const char *const TOP_KEYS[] = {
    "format", "recipe", "about",         "profile", "profiles",  "problems", "experiments", "with",
    "seed",   "share",  "require_clean", "report",  "allowance", "jobs",     NULL};
static const char *const EXPERIMENT_KEYS[] = {
    "plugin",  "with",    "sweep",     "zip",     "repeat", "reuse",          "inputs",
    "program", "timeout", "resources", "retries", "share",  "system_metrics", "only_when_named",
    NULL};
static const char *const PROFILE_KEYS[] = {"with", "experiments", "jobs", NULL};
static const char *const PART_KEYS[] = {"with", "sweep", "zip", "repeat", "timeout", "skip", NULL};
static const char *const RESOURCE_KEYS[] = {"gpus",  "cores",     "memory", "time",
                                            "ranks", "exclusive", NULL};
static const char *const REUSE_WORDS[] = {"device", "any", "never", NULL};
static const char *const SHARE_WORDS[] = {"none", "source", NULL};
/* Reserved, because they begin other kinds of ${...}. */
static const char *const RESERVED_NAMES[] = {"best", "env", "recipe", NULL};

/* Keys that users know from other tools. */
static const struct {
    const char *key, *hint;
} FOREIGN[] = {
    {"params", "parameters go under 'with:'"},
    {"parameters", "parameters go under 'with:'"},
    {"grid", "lists of values go under 'sweep:'"},
    {"matrix", "lists of values go under 'sweep:'"},
    {"seeds", "write 'repeat: 5'; the seeds follow from the recipe's 'seed:'"},
    {"needs", "a reference such as \"${pretrain.weights}\" implies it"},
    {"depends", "a reference such as \"${pretrain.weights}\" implies it"},
    {"command", "write 'program: ./mine.py' beside 'plugin:', or a NAME.plugin file"},
    {"script", "write 'program: ./mine.py' beside 'plugin:', or a NAME.plugin file"},
    {"include", "write shared values once under 'with:' of the recipe or of a profile"},
    {"extends", "write shared values once under 'with:' of the recipe or of a profile"},
};

static void check_keys(struct recipe_draft *draft, const struct orch_yaml *map, const char *where,
                       const char *const *known)
{
    unsigned before = draft->diags->items->len;
    orch_yaml_check_keys(map, draft->path, where, known, draft->diags);
    for (guint i = before; i < draft->diags->items->len; i++) {
        struct orch_diag *diag = draft->diags->items->pdata[i];
        for (unsigned j = 0; j < G_N_ELEMENTS(FOREIGN); j++) {
            g_autofree char *quoted = g_strdup_printf("unknown key '%s'", FOREIGN[j].key);
            if (!g_str_has_prefix(diag->what, quoted))
                continue;
            g_free(diag->hint);
            diag->hint = g_strdup(FOREIGN[j].hint);
        }
    }
}

static const struct orch_yaml *key_at(const struct orch_yaml *map, guint i)
{
    return map->keys->pdata[i];
}

static const struct orch_yaml *value_at(const struct orch_yaml *map, guint i)
{
    return map->items->pdata[i];
}

static bool name_fits(struct recipe_draft *draft, const struct orch_yaml *key, const char *kind)
{
    if (!orch_name_is_valid(key->text, true)) {
        orch_recipe_error_at(draft, key, "use lower-case letters, digits, '_' and '-'",
                             "'%s' cannot be the name of %s", key->text, kind);
        return false;
    }
    return true;
}

/* ---- with, sweep, zip --------------------------------------------------------------------------
 */

static void read_settings(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                          GArray *out)
{
    const struct orch_yaml *block = orch_recipe_get_map(draft, map, key);
    if (block && block->keys->len > RECIPE_SETTINGS_MAX) {
        orch_recipe_error_at(draft, block, NULL, "'%s' has %u entries, at most %d are allowed", key,
                             block->keys->len, RECIPE_SETTINGS_MAX);
        return;
    }
    for (guint i = 0; block && i < block->keys->len; i++) {
        struct recipe_setting setting = {key_at(block, i)->text, draft->path, key_at(block, i),
                                         value_at(block, i)};
        g_array_append_val(out, setting);
    }
}

/* Checks that one level sets a parameter only once. */
static void check_once(struct recipe_draft *draft, const GArray *settings, const GArray *others,
                       const char *this_key, const char *other_key)
{
    for (guint i = 0; i < settings->len; i++) {
        const struct recipe_setting *setting = &g_array_index(settings, struct recipe_setting, i);
        const struct recipe_setting *other = orch_recipe_setting_find(others, setting->name);
        if (other)
            orch_recipe_error(draft, orch_recipe_key_place(setting), "remove one of the two",
                              "'%s' is set under '%s' and again under '%s' (line %d, column %d)",
                              setting->name, this_key, other_key, other->key->line,
                              other->key->column);
    }
}

static void read_block(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct recipe_block *block)
{
    read_settings(draft, map, "with", block->with);
    read_settings(draft, map, "sweep", block->sweep);
    read_settings(draft, map, "zip", block->zip);
    check_once(draft, block->sweep, block->with, "sweep", "with");
    check_once(draft, block->zip, block->with, "zip", "with");
    check_once(draft, block->zip, block->sweep, "zip", "sweep");
}

static void read_part(struct recipe_draft *draft, const struct orch_yaml *map,
                      struct recipe_part *part)
{
    orch_recipe_block_init(&part->block);
    part->timeout_s = -1;
    read_block(draft, map, &part->block);
    int64_t repeat;
    if (orch_recipe_get_count(draft, map, "repeat", "1", "10000", &repeat))
        part->repeat = (int)repeat;
    double timeout_s;
    if (orch_recipe_get_duration(draft, map, "timeout", &timeout_s))
        part->timeout_s = timeout_s;
}

/* Reads 'system_metrics': off, or the time between two samples. */
static void read_system_metrics(struct recipe_draft *draft, const struct orch_yaml *map,
                                struct orch_experiment *made)
{
    static const char *const off[] = {"off", "false", "no", NULL};
    const struct orch_yaml *node = orch_yaml_get(map, "system_metrics");
    made->system_interval_s = ORCH_SYSTEM_INTERVAL_S;
    if (node && node->kind == ORCH_YAML_SCALAR && g_strv_contains(off, node->text))
        made->system_interval_s = 0;
    else if (orch_recipe_get_duration(draft, map, "system_metrics", &made->system_interval_s) &&
             made->system_interval_s < ORCH_SYSTEM_INTERVAL_S)
        orch_recipe_error_at(draft, node, "write 'off', or a time such as 5s",
                             "'system_metrics': '%s' is below the shortest interval, 1 s",
                             node->text);
}

/* ---- experiments -------------------------------------------------------------------------------
 */

/* Keeps the experiment by name but without trials, because its parameters are unknown. */
static void leave_out_untrusted(struct recipe_draft *draft, const struct orch_yaml *node,
                                const char *plugin, struct recipe_experiment *experiment,
                                const GError *error)
{
    struct orch_experiment *made = experiment->made;
    g_autofree char *what = orch_error_what(error);
    orch_diags_add(draft->diags, true, draft->path, node->line, node->column,
                   orch_error_hint(error), "experiment '%s' is skipped: %s", experiment->name,
                   what);
    made->skipped = made->is_untrusted = true;
    made->skip_reason = g_steal_pointer(&what);
    made->own_manifest = orch_manifest_new();
    made->own_manifest->name = g_strdup(plugin);
    made->own_manifest->version = g_strdup("");
    made->own_manifest->summary = g_strdup("");
}

static void find_plugin(struct recipe_draft *draft, const struct orch_yaml *map,
                        struct recipe_experiment *experiment)
{
    const struct orch_yaml *node = orch_yaml_get(map, "plugin");
    g_autofree char *name = NULL;
    if (!node)
        orch_recipe_error_at(draft, experiment->key, "add 'plugin: NAME'; see 'orch plugin ls'",
                             "experiment '%s' has no plugin", experiment->name);
    if (!orch_recipe_get_text(draft, map, "plugin", &name))
        return;
    g_autoptr(GError) error = NULL;
    experiment->manifest = orch_plugins_find(draft->plugins, name, draft->out->folder, &error);
    if (!experiment->manifest && error->code == ORCH_ERROR_TRUST &&
        draft->options->leaves_out_untrusted)
        leave_out_untrusted(draft, node, name, experiment, error);
    else if (!experiment->manifest)
        orch_recipe_error_from(draft, (struct recipe_place){draft->path, node->line, node->column},
                               error);
}

/* `program:` is one text, split as a shell would without expanding, or a list. */
static char **read_argv(struct recipe_draft *draft, const struct orch_yaml *map,
                        const struct recipe_experiment *experiment)
{
    g_autoptr(GPtrArray) words = orch_recipe_get_texts(draft, map, "program");
    if (!words || !experiment->manifest) /* the command may name the plugin's parameters */
        return NULL;
    const struct orch_yaml *node = orch_yaml_get(map, "program");
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) split = NULL;
    g_autoptr(GError) error = NULL;
    if (node->kind == ORCH_YAML_SCALAR && !g_shell_parse_argv(node->text, NULL, &split, &error)) {
        bool is_empty = error->code == G_SHELL_ERROR_EMPTY_STRING;
        orch_recipe_error_at(draft, node, "write it as a list: [python3, mine.py]",
                             is_empty ? "'program' is empty"
                                      : "'program' cannot be read as a command: a quote is not "
                                        "closed");
        return NULL;
    }
    guint count = split ? g_strv_length(split) : words->len;
    bool is_well = count > 0;
    if (!is_well)
        orch_recipe_error_at(draft, node, "write it as a list: [python3, mine.py]",
                             "'program' is empty");
    for (guint i = 0; i < count; i++) {
        const struct orch_yaml *at = split ? node : words->pdata[i];
        char *word = orch_recipe_expand_variables(
            draft, (struct recipe_place){draft->path, at->line, at->column},
            split ? split[i] : at->text, experiment->manifest, NULL);
        is_well = is_well && word;
        g_ptr_array_add(argv, word ? word : g_strdup(""));
    }
    if (!is_well)
        return NULL;
    g_ptr_array_add(argv, NULL);
    return g_strdupv((char **)argv->pdata);
}

/* Combines the plugin's tables with the user's command. The command starts in the same folder as
 * that of a NAME.plugin beside the recipe. */
static void use_program(struct recipe_draft *draft, const struct orch_yaml *map,
                        struct recipe_experiment *experiment)
{
    char **argv = read_argv(draft, map, experiment);
    experiment->made->program = argv;
    if (!argv)
        return;
    g_autoptr(GError) error = NULL;
    json_t *json = orch_manifest_encode(experiment->manifest);
    struct orch_manifest *own = orch_manifest_decode(json, &error);
    json_decref(json);
    if (!own) {
        const struct orch_yaml *node = orch_yaml_get(map, "program");
        orch_recipe_error_from(draft, (struct recipe_place){draft->path, node->line, node->column},
                               error);
        return;
    }
    own->kind = ORCH_PLUGIN_WRAPPED;
    own->has_check = own->has_cost = false;
    g_free(own->path);
    own->path = orch_path_absolute(draft->path, NULL);
    g_free(own->build);
    own->build = NULL;
    g_strfreev(own->argv);
    own->argv = g_strdupv(argv);
    experiment->made->own_manifest = own;
    experiment->manifest = own;
}

/* Reads the number of MPI processes, which orch starts only of a compiled plugin that needs MPI. */
static void read_ranks(struct recipe_draft *draft, const struct orch_yaml *resources,
                       struct recipe_experiment *experiment)
{
    int64_t count;
    if (!orch_recipe_get_count(draft, resources, "ranks", "1", "4096", &count))
        return;
    const struct orch_manifest *manifest = experiment->manifest;
    if (manifest && manifest->kind == ORCH_PLUGIN_WRAPPED)
        orch_recipe_error_at(draft, orch_yaml_get(resources, "ranks"),
                             "start mpirun in its command: [mpirun, -n, \"${workers}\", ...]",
                             "'ranks': '%s' is not a compiled plugin", manifest->name);
    else if (manifest && !manifest->needs.mpi)
        orch_recipe_error_at(draft, orch_yaml_get(resources, "ranks"),
                             "remove it, or set needs.mpi in the plugin",
                             "'ranks': plugin '%s' does not use MPI", manifest->name);
    experiment->made->ranks = (unsigned)count;
}

static void read_resources(struct recipe_draft *draft, const struct orch_yaml *map,
                           struct recipe_experiment *experiment)
{
    struct orch_experiment *made = experiment->made;
    if (experiment->manifest) {
        made->gpus = experiment->manifest->needs.gpus;
        made->memory_bytes = (int64_t)experiment->manifest->needs.memory_bytes;
        made->cores = experiment->manifest->needs.threads;
    }
    const struct orch_yaml *resources = orch_recipe_get_map(draft, map, "resources");
    if (!resources)
        return;
    check_keys(draft, resources, "'resources'", RESOURCE_KEYS);
    g_autofree char *gpus_min = g_strdup_printf("%u", made->gpus);
    g_autofree char *cores_min = g_strdup_printf("%u", made->cores);
    int64_t count, bytes = made->memory_bytes;
    if (orch_recipe_get_count(draft, resources, "gpus", gpus_min, "1024", &count))
        made->gpus = (unsigned)count;
    if (orch_recipe_get_count(draft, resources, "cores", cores_min, "4096", &count))
        made->cores = (unsigned)count;
    if (orch_recipe_get_bytes(draft, resources, "memory", &bytes)) {
        g_autofree char *needed = orch_bytes_format(made->memory_bytes);
        if (bytes < made->memory_bytes)
            orch_recipe_error_at(draft, orch_yaml_get(resources, "memory"), NULL,
                                 "'memory': plugin '%s' needs at least %s",
                                 experiment->manifest->name, needed);
        made->memory_bytes = bytes;
    }
    read_ranks(draft, resources, experiment);
    orch_recipe_get_bool(draft, resources, "exclusive", &made->exclusive);
    orch_recipe_get_duration(draft, resources, "time", &made->time_s);
}

static void read_inputs(struct recipe_draft *draft, const struct orch_yaml *map,
                        struct orch_experiment *made)
{
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(draft, map, "inputs");
    if (!texts)
        return;
    GPtrArray *inputs = g_ptr_array_new();
    for (guint i = 0; i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        if (!*node->text || g_path_is_absolute(node->text))
            orch_recipe_error_at(draft, node, "write it relative to the recipe: inputs: [mine.py]",
                                 "'inputs': '%s' is not a relative path", node->text);
        g_ptr_array_add(inputs, g_strdup(node->text));
    }
    g_ptr_array_add(inputs, NULL);
    made->inputs = (char **)g_ptr_array_free(inputs, FALSE);
}

static void read_reuse(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct recipe_experiment *experiment)
{
    const struct orch_yaml *node = orch_yaml_get(map, "reuse");
    unsigned word;
    if (node && node->kind == ORCH_YAML_SCALAR && strcmp(node->text, "where") == 0) {
        orch_recipe_error_at(draft, node, "write 'reuse: device'",
                             "'reuse': 'where' is now called 'device'");
        return;
    }
    experiment->has_reuse = orch_recipe_get_choice(draft, map, "reuse", REUSE_WORDS, &word);
    if (experiment->has_reuse)
        experiment->reuse = (enum orch_recipe_reuse)word;
}

static void read_experiment(struct recipe_draft *draft, const struct orch_yaml *map,
                            struct recipe_experiment *experiment)
{
    struct orch_experiment *made = experiment->made;
    g_autofree char *where = g_strdup_printf("experiment '%s'", experiment->name);
    check_keys(draft, map, where, EXPERIMENT_KEYS);
    find_plugin(draft, map, experiment);
    if (!experiment->manifest)
        draft->has_unknown_plugin = experiment->is_broken = true;
    read_part(draft, map, &experiment->own);
    if (orch_yaml_get(map, "program"))
        use_program(draft, map, experiment);
    read_resources(draft, map, experiment);
    read_inputs(draft, map, made);
    read_reuse(draft, map, experiment);
    orch_recipe_get_bool(draft, map, "only_when_named", &made->only_when_named);
    unsigned word;
    made->share_source = draft->share_source;
    if (orch_recipe_get_choice(draft, map, "share", SHARE_WORDS, &word))
        made->share_source = word == 1;
    int64_t retries;
    made->retries = 1;
    if (orch_recipe_get_count(draft, map, "retries", "0", "100", &retries))
        made->retries = made->timeout_retries = (unsigned)retries;
    read_system_metrics(draft, map, made);
    made->manifest = experiment->manifest ? experiment->manifest : made->own_manifest;
}

static struct recipe_experiment *experiment_new(struct recipe_draft *draft,
                                                const struct orch_yaml *key)
{
    struct recipe_experiment *experiment = g_new0(struct recipe_experiment, 1);
    experiment->key = key;
    experiment->name = key->text;
    experiment->fixed = g_array_new(FALSE, TRUE, sizeof(struct recipe_fixed));
    experiment->dimensions = g_ptr_array_new_with_free_func(orch_recipe_dimension_free);
    struct orch_experiment *made = g_new0(struct orch_experiment, 1);
    made->name = g_strdup(key->text);
    made->line = key->line;
    made->column = key->column;
    made->origins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    experiment->made = made;
    g_ptr_array_add(draft->out->experiments, made);
    g_ptr_array_add(draft->experiments, experiment);
    g_hash_table_insert(draft->by_name, key->text, experiment);
    return experiment;
}

static void read_experiments(struct recipe_draft *draft)
{
    const struct orch_yaml *map = orch_recipe_get_map(draft, draft->root, "experiments");
    if (!map || map->keys->len == 0) {
        if (!orch_yaml_get(draft->root, "experiments"))
            orch_recipe_error_at(draft, draft->root, "add 'experiments: { NAME: { plugin: ... } }'",
                                 "a recipe needs 'experiments'");
        else if (orch_yaml_is_null(orch_yaml_get(draft->root, "experiments")) || map)
            orch_recipe_error_at(draft, orch_yaml_get_key(draft->root, "experiments"), NULL,
                                 "'experiments' is empty");
        return;
    }
    if (map->keys->len > RECIPE_EXPERIMENTS_MAX)
        orch_recipe_error_at(draft, map, "split the recipe",
                             "a recipe has at most %d experiments, found %u",
                             RECIPE_EXPERIMENTS_MAX, map->keys->len);
    for (guint i = 0; i < MIN(map->keys->len, RECIPE_EXPERIMENTS_MAX); i++) {
        const struct orch_yaml *key = key_at(map, i), *value = value_at(map, i);
        struct recipe_experiment *experiment = experiment_new(draft, key);
        experiment->is_broken = !name_fits(draft, key, "an experiment");
        if (g_strv_contains(RESERVED_NAMES, key->text)) {
            orch_recipe_error_at(
                draft, key, "give it another name",
                "'%s' cannot be the name of an experiment: ${%s...} has another meaning", key->text,
                key->text);
            experiment->is_broken = true;
        }
        if (value->kind != ORCH_YAML_MAP)
            orch_recipe_error_at(draft, value, "write 'plugin: NAME' below it",
                                 "experiment '%s' takes a map, found %s", key->text,
                                 orch_recipe_node_kind(value));
        unsigned before = draft->diags->error_count;
        read_experiment(draft, value, experiment);
        if (draft->diags->error_count > before)
            experiment->is_broken = true;
        g_ptr_array_add(draft->experiment_names, key->text);
    }
}

/* ---- profiles ----------------------------------------------------------------------------------
 */

static void read_skip(struct recipe_draft *draft, const struct orch_yaml *map,
                      struct recipe_part *part)
{
    const struct orch_yaml *node = orch_yaml_get(map, "skip");
    if (!node)
        return;
    if (node->kind == ORCH_YAML_SCALAR && !node->quoted) {
        struct orch_param_spec spec = {.name = (char *)(uintptr_t) "skip", .type = ORCH_BOOL};
        json_t *value = orch_value_parse_scalar(&spec, node->text, NULL);
        if (value) {
            part->skip = json_is_true(value);
            json_decref(value);
            return;
        }
    }
    part->skip = orch_recipe_get_text(draft, map, "skip", &part->skip_reason);
}

static void free_part(void *part)
{
    orch_recipe_part_free(part);
}

static void read_parts(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct recipe_profile *profile)
{
    const struct orch_yaml *parts = orch_recipe_get_map(draft, map, "experiments");
    for (guint i = 0; parts && i < parts->keys->len; i++) {
        const struct orch_yaml *key = key_at(parts, i), *value = value_at(parts, i);
        if (!g_hash_table_contains(draft->by_name, key->text)) {
            g_autofree char *hint = orch_recipe_hint_names(
                draft, key->text, (const char *const *)draft->experiment_names->pdata);
            orch_recipe_error_at(draft, key, hint, "unknown experiment '%s' in profile '%s'",
                                 key->text, profile->name);
            continue;
        }
        if (value->kind != ORCH_YAML_MAP)
            orch_recipe_error_at(draft, value, NULL, "the settings for '%s' take a map, found %s",
                                 key->text, orch_recipe_node_kind(value));
        g_autofree char *where =
            g_strdup_printf("profile '%s', experiment '%s'", profile->name, key->text);
        check_keys(draft, value, where, PART_KEYS);
        struct recipe_part *part = g_new0(struct recipe_part, 1);
        read_part(draft, value, part);
        read_skip(draft, value, part);
        g_hash_table_insert(profile->parts, key->text, part);
    }
}

/* `jobs` of the recipe or of a profile; `*out` stays when there is none. */
static void read_jobs(struct recipe_draft *draft, const struct orch_yaml *map, unsigned *out)
{
    int64_t count;
    if (orch_recipe_get_count(draft, map, "jobs", "1", "1024", &count))
        *out = (unsigned)count;
}

static void read_profiles(struct recipe_draft *draft)
{
    const struct orch_yaml *map = orch_recipe_get_map(draft, draft->root, "profiles");
    if (map && map->keys->len > RECIPE_PROFILES_MAX)
        orch_recipe_error_at(draft, map, "split the recipe",
                             "a recipe has at most %d profiles, found %u", RECIPE_PROFILES_MAX,
                             map->keys->len);
    for (guint i = 0; map && i < MIN(map->keys->len, RECIPE_PROFILES_MAX); i++) {
        const struct orch_yaml *key = key_at(map, i), *value = value_at(map, i);
        name_fits(draft, key, "a profile");
        if (value->kind != ORCH_YAML_MAP && !orch_yaml_is_null(value))
            orch_recipe_error_at(draft, value, NULL, "profile '%s' takes a map, found %s",
                                 key->text, orch_recipe_node_kind(value));
        struct recipe_profile *profile = g_new0(struct recipe_profile, 1);
        profile->key = key;
        profile->name = key->text;
        profile->with = g_array_new(FALSE, TRUE, sizeof(struct recipe_setting));
        profile->parts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_part);
        g_ptr_array_add(draft->profiles, profile);
        g_autofree char *where = g_strdup_printf("profile '%s'", key->text);
        check_keys(draft, value, where, PROFILE_KEYS);
        read_settings(draft, value, "with", profile->with);
        read_parts(draft, value, profile);
        read_jobs(draft, value, &profile->jobs);
    }
}

static const struct recipe_profile *find_profile(struct recipe_draft *draft, const char *name,
                                                 struct recipe_place place)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < draft->profiles->len; i++) {
        const struct recipe_profile *profile = draft->profiles->pdata[i];
        if (strcmp(profile->name, name) == 0)
            return profile;
        g_ptr_array_add(names, (char *)(uintptr_t)profile->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = orch_recipe_hint_names(draft, name, (const char *const *)names->pdata);
    orch_recipe_error(draft, place, hint ? hint : "add it under 'profiles:'",
                      "unknown profile '%s'", name);
    return NULL;
}

static void choose_profile(struct recipe_draft *draft)
{
    g_autofree char *name = NULL;
    const struct orch_yaml *node = orch_yaml_get(draft->root, "profile");
    if (orch_recipe_get_text(draft, draft->root, "profile", &name))
        draft->profile =
            find_profile(draft, name, (struct recipe_place){draft->path, node->line, node->column});
    if (draft->options->profile) {
        g_autofree char *option = g_strdup_printf("--profile %s", draft->options->profile);
        draft->profile =
            find_profile(draft, draft->options->profile, (struct recipe_place){.file = option});
    }
    if (draft->profile)
        draft->out->profile = g_strdup(draft->profile->name);
    if (draft->profile && draft->profile->jobs)
        draft->out->jobs = draft->profile->jobs;
}

/* ---- problems and the rest ---------------------------------------------------------------------
 */

static void read_problem(struct recipe_draft *draft, const struct orch_yaml *key,
                         const struct orch_yaml *value)
{
    name_fits(draft, key, "a problem");
    if (g_hash_table_contains(draft->by_name, key->text))
        orch_recipe_error_at(draft, key, "give it another name",
                             "problem '%s' has the name of an experiment", key->text);
    GPtrArray *members = g_ptr_array_new();
    g_hash_table_insert(draft->problems, key->text, members);
    g_ptr_array_add(draft->out->problems, g_strdup(key->text));
    g_autoptr(GPtrArray) texts = orch_recipe_texts_of(draft, value, key->text);
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        struct recipe_experiment *experiment = g_hash_table_lookup(draft->by_name, node->text);
        if (experiment) {
            g_ptr_array_add(members, (char *)(uintptr_t)experiment->name);
            continue;
        }
        g_autofree char *hint = orch_recipe_hint_names(
            draft, node->text, (const char *const *)draft->experiment_names->pdata);
        orch_recipe_error_at(draft, node, hint, "unknown experiment '%s' in problem '%s'",
                             node->text, key->text);
    }
    if (texts && texts->len == 0)
        orch_recipe_error_at(draft, key, "name its experiments: p1: [pretrain, finetune]",
                             "problem '%s' is empty", key->text);
}

static void read_problems(struct recipe_draft *draft)
{
    const struct orch_yaml *map = orch_recipe_get_map(draft, draft->root, "problems");
    for (guint i = 0; map && i < map->keys->len; i++)
        read_problem(draft, key_at(map, i), value_at(map, i));
}

static void read_format(struct recipe_draft *draft)
{
    const struct orch_yaml *node = orch_yaml_get(draft->root, "format");
    if (!node)
        orch_recipe_error_at(draft, draft->root, "begin the file with 'format: 1'",
                             "the recipe has no 'format'");
    else if (node->kind != ORCH_YAML_SCALAR || strcmp(node->text, "1") != 0)
        orch_recipe_error_at(draft, node, "this orch reads 'format: 1'",
                             "unknown format '%s', expected 1",
                             node->text ? node->text : orch_recipe_node_kind(node));
}

static void read_name(struct recipe_draft *draft)
{
    struct orch_expansion *out = draft->out;
    if (!orch_yaml_get(draft->root, "recipe"))
        orch_recipe_error_at(draft, draft->root, "add 'recipe: NAME'", "the recipe has no name");
    else if (orch_recipe_get_text(draft, draft->root, "recipe", &out->name))
        name_fits(draft, orch_yaml_get(draft->root, "recipe"), "a recipe");
    orch_recipe_get_text(draft, draft->root, "about", &out->about);
}

static void read_seed(struct recipe_draft *draft)
{
    const struct orch_yaml *node = orch_yaml_get(draft->root, "seed");
    g_autofree char *text = NULL;
    if (!orch_recipe_get_text(draft, draft->root, "seed", &text))
        return;
    guint64 seed;
    if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &seed, NULL))
        draft->out->seed = seed;
    else
        orch_recipe_error_at(draft, node,
                             "give one number: the seeds of repeats are derived from it",
                             "'seed': '%s' is not an integer from 0 to 2^64 - 1", text);
}

void orch_recipe_parse(struct recipe_draft *draft)
{
    const struct orch_yaml *root = draft->root;
    if (root->kind != ORCH_YAML_MAP) {
        orch_recipe_error_at(draft, root, "begin the file with 'format: 1'",
                             "a recipe is a map (key: value), found %s",
                             orch_recipe_node_kind(root));
        return;
    }
    check_keys(draft, root, "the recipe", TOP_KEYS);
    read_format(draft);
    read_name(draft);
    read_seed(draft);
    orch_recipe_get_bool(draft, root, "require_clean", &draft->out->require_clean);
    orch_recipe_read_allowance(draft);
    read_jobs(draft, root, &draft->out->jobs);
    unsigned word = 0;
    orch_recipe_get_choice(draft, root, "share", SHARE_WORDS, &word);
    draft->share_source = word == 1;
    read_settings(draft, root, "with", draft->with);
    read_experiments(draft);
    g_ptr_array_add(draft->experiment_names, NULL);
    read_profiles(draft);
    choose_profile(draft);
    read_problems(draft);
}
