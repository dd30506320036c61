/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the experiments of a recipe: plugin or program, settings, resources, inputs. */
#include "core/plugin/manifest_keys.h"
#include "core/recipe/own_program.h"
#include "core/recipe/parse_parts.h"
#include "core/recipe/trial_environment.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/wire/system_metrics.h"
#include "lib/wire/value.h"

#include <string.h>

static const char *const OFF_WORDS[] = {"off", "false", "no", NULL};
static const char *const SEED_WORDS[] = {"shared", "device", NULL};
static const char *const REUSE_WORDS[] = {"device", "any", "never", NULL};
static const struct orch_yaml_key RESOURCE_KEYS[] = {
    {"gpus", .type = "gpus"},
    {"cores", .type = "count", .max = 4096},
    {"memory", .type = "bytes"},
    {"time", .type = "duration"},
    {"ranks", .type = "count", .min = 1, .max = 4096},
    {"exclusive", .type = "flag"},
    {0}};
const struct orch_yaml_key ORCH_EXPERIMENT_KEYS[] = {
    {"plugin", .type = "text"},
    {"program", .type = "command"},
    {"with", .type = "values"},
    {"sweep", .type = "sweeps"},
    {"zip", .type = "sweeps"},
    {"search", .type = "sweeps"},
    {"repeat", .type = "repeat"},
    {"seed", .words = SEED_WORDS},
    {"objective", .keys = ORCH_OBJECTIVE_KEYS, .type = "nothing"},
    {"reuse", .words = REUSE_WORDS},
    {"inputs", .type = "texts"},
    {"keep", .type = "texts"},
    {"environment", .keys = ORCH_ENVIRONMENT_KEYS, .type = "nothing"},
    {"timeout", .type = "duration"},
    {"resources", .keys = RESOURCE_KEYS, .type = "nothing"},
    {"retries", .type = "count", .max = 100},
    {"share", .words = ORCH_RECIPE_SHARE_WORDS},
    {"system_metrics", .type = "duration", .words = OFF_WORDS},
    {"only_when_named", .type = "flag"},
    {"types", .type = "text", .named = ORCH_YAML_ANY},
    {"artifacts", .type = "text", .named = ORCH_YAML_ANY},
    {"metrics_on", .words = ORCH_METRICS_ON_NAMES},
    {"metrics", ORCH_METRICS_VALUE},
    {"metrics_files", .type = "texts"},
    {0}};
/* Reserved, because they begin other kinds of ${...}. */
static const char *const RESERVED_NAMES[] = {"best", "env", "recipe", NULL};

/* Reads 'system_metrics': off, or the time between two samples. */
static void read_system_metrics(struct recipe_draft *draft, const struct orch_yaml *map,
                                struct orch_experiment *made)
{
    const struct orch_yaml *node = orch_yaml_get(map, "system_metrics");
    made->system_interval_s = ORCH_SYSTEM_INTERVAL_S;
    if (node && node->kind == ORCH_YAML_SCALAR && g_strv_contains(OFF_WORDS, node->text))
        made->system_interval_s = 0;
    else if (orch_recipe_get_duration(draft, map, "system_metrics", &made->system_interval_s) &&
             made->system_interval_s < ORCH_SYSTEM_INTERVAL_S)
        orch_recipe_error_at(draft, node, "write 'off', or a time such as 5s",
                             "'system_metrics': '%s' is below the shortest interval, 1 s",
                             node->text);
}

/* Keeps the experiment by name but without trials, because its parameters are unknown. What is said
 * of it, and whether, is known when the targets and the profile are. */
static void leave_out(struct recipe_experiment *experiment, const struct orch_yaml *node,
                      const char *plugin, const GError *error)
{
    struct orch_experiment *made = experiment->made;
    experiment->plugin_node = node;
    made->skipped = made->is_unavailable = true;
    made->skip_reason = orch_error_what(error);
    if (error->code == ORCH_ERROR_NO_PLUGIN) {
        experiment->lacks_plugin = made->skip_reason;
        made->skip_reason = g_strdup_printf("there is no plugin '%s' here", plugin);
    }
    made->skip_hint = g_strdup(orch_error_hint(error));
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
    if (!node && orch_yaml_get(map, "program"))
        orch_recipe_make_manifest(draft, map, experiment);
    else if (!node)
        orch_recipe_error_at(
            draft, experiment->key,
            "add 'plugin: NAME' ('orch plugin ls' lists plugins) or 'program: COMMAND'",
            "experiment '%s' has neither a plugin nor a program", experiment->name);
    if (!orch_recipe_get_text(draft, map, "plugin", &name))
        return;
    g_autoptr(GError) error = NULL;
    experiment->manifest = orch_plugins_find(draft->plugins, name, draft->out->folder, &error);
    if (!experiment->manifest &&
        (error->code == ORCH_ERROR_NO_PLUGIN ||
         (error->code == ORCH_ERROR_TRUST && draft->options->leaves_out_untrusted)))
        leave_out(experiment, node, name, error);
    else if (!experiment->manifest)
        orch_recipe_error_from(draft, (struct recipe_place){draft->path, node->line, node->column},
                               error);
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
                             "start mpirun in 'command': [mpirun, -n, \"${workers}\", ...]",
                             "'ranks': plugin '%s' is not a compiled one", manifest->name);
    else if (manifest && !manifest->needs.mpi)
        orch_recipe_error_at(draft, orch_yaml_get(resources, "ranks"),
                             "remove 'ranks', or set needs.mpi in the plugin",
                             "'ranks': plugin '%s' does not use MPI", manifest->name);
    experiment->made->ranks = (unsigned)count;
}

/* Reads the number of GPUs of a trial: a whole number, or a share of one GPU. */
static void read_gpus(struct recipe_draft *draft, const struct orch_yaml *resources,
                      struct orch_experiment *made)
{
    static const double LEAST = 0.01;
    const struct orch_yaml *node = orch_yaml_get(resources, "gpus");
    g_autofree char *least = g_strdup_printf("%u", made->gpus);
    double share;
    int64_t count;
    bool is_share = node && node->kind == ORCH_YAML_SCALAR && strchr(node->text, '.') &&
                    orch_real_parse(node->text, &share) && share > 0 && share < 1;
    if (!is_share) {
        if (orch_recipe_get_count(draft, resources, "gpus", least, "1024", &count)) {
            made->gpus = (unsigned)count;
            made->hides_gpus = !count;
        }
        return;
    }
    if (made->gpus > 1)
        orch_recipe_error_at(draft, node, NULL, "'gpus': the plugin needs at least %u GPUs",
                             made->gpus);
    if (share < LEAST)
        orch_recipe_error_at(draft, node, "write a share such as 0.5, or a whole number",
                             "'gpus': %s is below the smallest share of a GPU, %g", node->text,
                             LEAST);
    made->gpus = 1;
    made->gpu_share = share;
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
    orch_recipe_check_keys(draft, resources, "'resources'", RESOURCE_KEYS);
    g_autofree char *cores_min = g_strdup_printf("%u", made->cores);
    int64_t count, bytes = made->memory_bytes;
    read_gpus(draft, resources, made);
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

/* Reads `inputs` or `keep`: patterns relative to the recipe. */
static void read_patterns(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                          char ***out)
{
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(draft, map, key);
    if (!texts)
        return;
    GPtrArray *patterns = g_ptr_array_new();
    for (guint i = 0; i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        if (!*node->text || g_path_is_absolute(node->text))
            orch_recipe_error_at(draft, node, "write a path below the recipe's folder",
                                 "'%s': '%s' is not a relative path", key, node->text);
        g_ptr_array_add(patterns, g_strdup(node->text));
    }
    g_ptr_array_add(patterns, NULL);
    *out = (char **)g_ptr_array_free(patterns, FALSE);
}

static void read_reuse(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct recipe_experiment *experiment)
{
    unsigned word;
    experiment->has_reuse = orch_recipe_get_choice(draft, map, "reuse", REUSE_WORDS, &word);
    if (experiment->has_reuse)
        experiment->reuse = (enum orch_recipe_reuse)word;
}

/* Reads 'seed: device'. The seeds of a device need a device that does not depend on how many trials
 * run at once. */
static void read_seed(struct recipe_draft *draft, const struct orch_yaml *map,
                      struct orch_experiment *made)
{
    unsigned word;
    if (!orch_recipe_get_choice(draft, map, "seed", SEED_WORDS, &word))
        return;
    made->seed_by_device = word == 1;
    if (made->seed_by_device && !made->cores && !made->gpus)
        orch_recipe_error_at(draft, orch_yaml_get(map, "seed"),
                             "add 'resources: { cores: 1 }' or 'resources: { gpus: 1 }'",
                             "'seed: device' needs 'cores' or 'gpus' in 'resources'");
}

/* Reports keys that only a program's experiment has. */
static void check_program_keys(struct recipe_draft *draft, const struct orch_yaml *map)
{
    static const struct {
        const char *key, *needs, *hint;
    } rows[] = {{"artifacts", "program", "the plugin declares its artifacts"},
                {"metrics_on", "program", "the plugin says where its metrics come from"},
                {"metrics_files", "program", "the plugin says where its metrics come from"},
                {"metrics", NULL, "the plugin declares its metrics"},
                {"types", NULL, "the plugin declares the types of its parameters"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (orch_yaml_get(map, rows[i].key) &&
            (rows[i].needs ? !orch_yaml_get(map, rows[i].needs)
                           : orch_yaml_get(map, "plugin") != NULL))
            orch_recipe_error_at(draft, orch_yaml_get_key(map, rows[i].key), rows[i].hint,
                                 "'%s' can only be used in an experiment with %s", rows[i].key,
                                 rows[i].needs ? "'program'" : "'program' and no plugin");
}

static void read_experiment(struct recipe_draft *draft, const struct orch_yaml *map,
                            struct recipe_experiment *experiment)
{
    struct orch_experiment *made = experiment->made;
    g_autofree char *where = g_strdup_printf("experiment '%s'", experiment->name);
    orch_recipe_check_keys(draft, map, where, ORCH_EXPERIMENT_KEYS);
    find_plugin(draft, map, experiment);
    if (!experiment->manifest)
        draft->has_unknown_plugin = experiment->is_broken = true;
    orch_recipe_read_part(draft, map, &experiment->own);
    if (orch_yaml_get(map, "program"))
        orch_recipe_use_program(draft, map, experiment);
    check_program_keys(draft, map);
    read_resources(draft, map, experiment);
    read_patterns(draft, map, "inputs", &made->inputs);
    read_patterns(draft, map, "keep", &made->keep);
    read_reuse(draft, map, experiment);
    read_seed(draft, map, made);
    orch_recipe_read_objective(draft, map, experiment);
    orch_recipe_get_bool(draft, map, "only_when_named", &made->only_when_named);
    made->share_source = draft->share_source;
    orch_recipe_read_share(draft, map, &made->share_source);
    int64_t retries;
    made->retries = 1;
    if (orch_recipe_get_count(draft, map, "retries", "0", "100", &retries))
        made->retries = made->timeout_retries = (unsigned)retries;
    read_system_metrics(draft, map, made);
    made->manifest = experiment->manifest ? experiment->manifest : made->own_manifest;
    made->environment = orch_recipe_read_environment(draft, map, draft->out->folder);
    if (made->environment && made->manifest && !made->is_unavailable &&
        made->manifest->kind != ORCH_PLUGIN_WRAPPED)
        orch_recipe_error_at(draft, orch_yaml_get_key(map, "environment"),
                             "remove 'environment': a compiled plugin has its own libraries",
                             "'environment' is only for an experiment whose trials run a program");
}

static struct recipe_experiment *experiment_new(struct recipe_draft *draft,
                                                const struct orch_yaml *key)
{
    struct recipe_experiment *experiment = g_new0(struct recipe_experiment, 1);
    experiment->key = key;
    experiment->name = key->text;
    experiment->fixed = g_array_new(FALSE, TRUE, sizeof(struct recipe_fixed));
    experiment->searched = g_array_new(FALSE, FALSE, sizeof(struct recipe_searched));
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

void orch_recipe_read_experiments(struct recipe_draft *draft)
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
        const struct orch_yaml *key = orch_recipe_key_at(map, i),
                               *value = orch_recipe_value_at(map, i);
        struct recipe_experiment *experiment = experiment_new(draft, key);
        experiment->is_broken = !orch_recipe_check_name(draft, key, "an experiment");
        if (g_strv_contains(RESERVED_NAMES, key->text)) {
            orch_recipe_error_at(
                draft, key, "give the experiment another name",
                "'%s' cannot be the name of an experiment, because ${%s...} already has a meaning",
                key->text, key->text);
            experiment->is_broken = true;
        }
        if (value->kind != ORCH_YAML_MAP)
            orch_recipe_error_at(draft, value, "write 'plugin: NAME' below the experiment's name",
                                 "experiment '%s' must be a map, found %s", key->text,
                                 orch_recipe_node_kind(value));
        unsigned before = draft->diags->error_count;
        read_experiment(draft, value, experiment);
        if (draft->diags->error_count > before)
            experiment->is_broken = true;
        g_ptr_array_add(draft->experiment_names, key->text);
    }
}
