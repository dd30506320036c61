/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads NAME.plugin, the YAML file that makes any program a plugin (docs/plugins.md has the
 * format). One table lists each key and the function that reads its value, ordered so that later
 * entries may refer to earlier ones (a command to its parameters). Every finding has the location
 * of its node, and all findings are made in one pass. */
#include "core/plugin/manifest_keys.h"
#include "core/plugin/manifest_reader.h"

#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/wire/direction.h"
#include "lib/wire/secret.h"

#include <string.h>

/* ---- keys -----------------------------------------------------------------------------------
 */

static const char *const METRICS_FROM_WORDS[] = {"protocol", "lines", "regex", "files", NULL};

static const struct orch_yaml_key NEEDS_KEYS[] = {{"gpus", .type = "count"},
                                                  {"memory", .type = "bytes"},
                                                  {"threads", .type = "count"},
                                                  {"mpi", .type = "flag"},
                                                  {0}};
const struct orch_yaml_key ORCH_METRIC_KEYS[] = {
    {"unit", .type = "blank"},
    {"better", .type = "nothing", .listed = orch_better_words},
    {"step", .type = "blank"},
    {"label", .type = "blank"},
    {"min", .type = "blank"},
    {"max", .type = "blank"},
    {"help", .type = "blank"},
    {"pattern", .type = "blank"},
    {0}};
static const struct orch_yaml_key ARTIFACT_KEYS[] = {
    {"path", .type = "text"}, {"help", .type = "text"}, {0}};
static const struct orch_yaml_key COST_KEYS[] = {
    {"network", .type = "text"},   {"precision", .type = "text"},
    {"framework", .type = "text"}, {"input", .type = "text"},
    {"images", .type = "text"},    {"batch", .type = "text"},
    {"workers", .type = "text"},   {"classes", .type = "text"},
    {"epochs", .type = "text"},    {"training", .type = "text"},
    {"unit", .type = "text"},      {"samples", .type = "text"},
    {"copies", .type = "text"},    {"actors", .type = "text"},
    {"steps", .type = "text"},     {0}};

/* ---- head --------------------------------------------------------------------------------- */

static void read_name(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    const char *text = orch_manifest_read_text(reader, node, "plugin");
    if (!text || strcmp(text, reader->manifest->name) == 0)
        return;
    g_autofree char *hint = g_strdup_printf("rename the file to '%s.plugin'", text);
    orch_manifest_finding(reader, node, false, hint,
                          "plugin is named '%s', but its file is '%s.plugin'", text,
                          reader->manifest->name);
}

static void read_version(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    orch_manifest_read_text_into(reader, node, "version", &reader->manifest->version);
    unsigned parts[3];
    char rest;
    if (sscanf(reader->manifest->version, "%9u.%9u.%9u%c", &parts[0], &parts[1], &parts[2],
               &rest) != 3)
        orch_manifest_finding(reader, node, false, "write three numbers, for example 1.0.0",
                              "version '%s' is not of the form N.N.N", reader->manifest->version);
}

static void read_about(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    orch_manifest_read_text_into(reader, node, "about", &reader->manifest->summary);
}

static void read_licence(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    orch_manifest_read_text_into(reader, node, "licence", &reader->manifest->licence);
}

static void read_timing(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    if (orch_manifest_read_bool(reader, node, "timing"))
        reader->manifest->flags |= ORCH_PLUGIN_TIMING;
}

static void read_metrics_from(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    enum { FILES = ORCH_METRICS_REGEX + 1 };
    unsigned from = (unsigned)orch_manifest_read_word(reader, node, "metrics_from",
                                                      METRICS_FROM_WORDS, ORCH_METRICS_LINES);
    reader->manifest->metrics_from =
        from == FILES ? ORCH_METRICS_LINES : (enum orch_metrics_from)from;
    if (from == FILES)
        reader->manifest->metrics_on = ORCH_METRICS_ON_FILES;
}

static void read_metrics_on(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    reader->manifest->metrics_on = (enum orch_metrics_on)orch_manifest_read_word(
        reader, node, "metrics_on", ORCH_METRICS_ON_NAMES, ORCH_METRICS_ON_STDOUT);
}

static void read_metrics_files(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    guint count = node->kind == ORCH_YAML_LIST ? node->items->len : 1;
    g_autoptr(GStrvBuilder) patterns = g_strv_builder_new();
    for (guint i = 0; i < count; i++) {
        const struct orch_yaml *item = node->kind == ORCH_YAML_LIST ? node->items->pdata[i] : node;
        const char *text = orch_manifest_read_text(reader, item, "metrics_files");
        if (text)
            g_strv_builder_add(patterns, text);
    }
    reader->manifest->metrics_files = g_strv_builder_end(patterns);
}

static void read_needs(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    struct orch_needs *needs = &reader->manifest->needs;
    if (node->kind != ORCH_YAML_MAP) {
        orch_manifest_finding(reader, node, false, "for example needs: {gpus: 1, memory: 1GiB}",
                              "needs must be a map");
        return;
    }
    orch_yaml_check_table(node, reader->file, "needs", NEEDS_KEYS, reader->diags);
    const struct orch_yaml *value = orch_yaml_get(node, "gpus");
    if (value)
        needs->gpus = (uint32_t)orch_manifest_read_number(reader, value, "gpus", ORCH_INT, "0");
    value = orch_yaml_get(node, "threads");
    if (value)
        needs->threads =
            (uint32_t)orch_manifest_read_number(reader, value, "threads", ORCH_INT, "0");
    value = orch_yaml_get(node, "memory");
    if (value)
        needs->memory_bytes =
            (uint64_t)orch_manifest_read_number(reader, value, "memory", ORCH_BYTES, "0");
    value = orch_yaml_get(node, "mpi");
    if (value)
        needs->mpi = orch_manifest_read_bool(reader, value, "mpi");
}

/* ---- metrics and artifacts ---------------------------------------------------------------- */

static enum orch_better read_better(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *node)
{
    if (orch_yaml_is_null(node))
        return ORCH_BETTER_NONE;
    return (enum orch_better)orch_manifest_read_word(reader, node, "better", orch_better_words(),
                                                     ORCH_BETTER_NONE);
}

/* Reads the regular expression of a metric, which must compile and have exactly one group, the
 * value. */
static void read_pattern(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                         struct orch_metric_spec *spec)
{
    orch_manifest_read_text_into(reader, node, "pattern", &spec->pattern);
    if (!spec->pattern)
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) regex = g_regex_new(spec->pattern, 0, 0, &error);
    if (!regex)
        orch_manifest_finding(reader, node, false, NULL, "metric '%s': %s", spec->name,
                              error->message);
    else if (g_regex_get_capture_count(regex) < 1)
        orch_manifest_finding(reader, node, false,
                              "put the number in parentheses, for example 'loss=([0-9.]+)'",
                              "metric '%s': its 'pattern' has no group", spec->name);
    if (reader->manifest->metrics_from != ORCH_METRICS_REGEX)
        orch_manifest_finding(reader, node, true, "write 'metrics_from: regex'",
                              "metric '%s': its 'pattern' is not used", spec->name);
}

static void read_metric(struct orch_manifest_reader *reader, const struct orch_yaml *key,
                        const struct orch_yaml *value)
{
    struct orch_metric_spec *spec = orch_manifest_add_metric(reader->manifest, key->text);
    if (value->kind != ORCH_YAML_MAP) {
        spec->better = read_better(reader, value);
    } else {
        g_autofree char *where = g_strdup_printf("metric '%s'", key->text);
        orch_yaml_check_table(value, reader->file, where, ORCH_METRIC_KEYS, reader->diags);
        const struct {
            const char *key;
            char **out;
        } texts[] = {{"unit", &spec->unit}, {"step", &spec->step_unit}, {"label", &spec->label},
                     {"min", &spec->min},   {"max", &spec->max},        {"help", &spec->help}};
        for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
            const struct orch_yaml *node = orch_yaml_get(value, texts[i].key);
            if (node)
                orch_manifest_read_text_into(reader, node, texts[i].key, texts[i].out);
        }
        const struct orch_yaml *better = orch_yaml_get(value, "better");
        spec->better = better ? read_better(reader, better) : ORCH_BETTER_NONE;
        const struct orch_yaml *pattern = orch_yaml_get(value, "pattern");
        if (pattern)
            read_pattern(reader, pattern, spec);
    }
    if (reader->manifest->metrics_from == ORCH_METRICS_REGEX && !spec->pattern)
        orch_manifest_finding(reader, key, false, "for example pattern: 'loss=([0-9.]+)'",
                              "metric '%s' has no 'pattern', but 'metrics_from' is 'regex'",
                              spec->name);
}

static void read_metrics(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR && strcmp(node->text, "any") == 0) {
        reader->manifest->any_metric = true;
        if (reader->manifest->metrics_from == ORCH_METRICS_REGEX)
            orch_manifest_finding(reader, node, false, "write metrics_from: lines",
                                  "'metrics: any' finds nothing if 'metrics_from' is 'regex'");
        return;
    }
    if (!orch_manifest_check_is_map(reader, node, "metrics",
                                    "as in metrics: {loss: min, accuracy: max}, or metrics: any"))
        return;
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        if (orch_manifest_check_name(reader, key, "metric"))
            read_metric(reader, key, node->items->pdata[i]);
    }
}

void orch_manifest_read_metrics(const char *file, const struct orch_yaml *node,
                                struct orch_manifest *manifest, struct orch_diags *diags)
{
    struct orch_manifest_reader reader = {
        .file = file, .diags = diags, .manifest = manifest, .root = node};
    read_metrics(&reader, node);
}

static void check_artifact_path(const struct orch_manifest_reader *reader,
                                const struct orch_yaml *node, const struct orch_artifact_spec *spec)
{
    if (!orch_artifact_path_is_inside(spec->path))
        orch_manifest_finding(
            reader, node, false, "give a path inside the folder in which the program starts",
            "artifact '%s': '%s' lies outside of the working folder", spec->name, spec->path);
}

static void read_artifact(struct orch_manifest_reader *reader, const struct orch_yaml *key,
                          const struct orch_yaml *value)
{
    struct orch_artifact_spec *spec = orch_manifest_add_artifact(reader->manifest, key->text);
    const struct orch_yaml *path = value;
    if (value->kind == ORCH_YAML_MAP) {
        g_autofree char *where = g_strdup_printf("artifact '%s'", key->text);
        orch_yaml_check_table(value, reader->file, where, ARTIFACT_KEYS, reader->diags);
        const struct orch_yaml *help = orch_yaml_get(value, "help");
        if (help)
            orch_manifest_read_text_into(reader, help, "help", &spec->help);
        path = orch_yaml_get(value, "path");
    }
    if (path)
        orch_manifest_read_text_into(reader, path, "path", &spec->path);
    if (spec->path)
        check_artifact_path(reader, path, spec);
    else if (reader->manifest->metrics_from != ORCH_METRICS_PROTOCOL)
        orch_manifest_finding(reader, key, false, "for example weights: weights.json",
                              "artifact '%s' has no path", spec->name);
}

static void read_artifacts(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    if (!orch_manifest_check_is_map(reader, node, "artifacts",
                                    "as in artifacts: {weights: weights.json}"))
        return;
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        if (orch_artifact_name_is_valid(key->text) ||
            orch_manifest_check_name(reader, key, "artifact"))
            read_artifact(reader, key, node->items->pdata[i]);
    }
}

static void read_cost(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    if (!orch_manifest_check_is_map(reader, node, "cost",
                                    "as in cost: {network: \"${net}\", batch: 64}"))
        return;
    orch_yaml_check_table(node, reader->file, "cost", COST_KEYS, reader->diags);
    reader->manifest->cost = json_object();
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        const char *text = orch_manifest_read_text(reader, node->items->pdata[i], key->text);
        if (!text)
            continue;
        orch_manifest_check_references(reader, node->items->pdata[i], text, "cost", false, NULL);
        json_object_set_new(reader->manifest->cost, key->text, json_string(text));
    }
}

/* ---- command ------------------------------------------------------------------------------ */

/* Warns about shell syntax, because such words are passed on literally, which is rarely intended.
 */
static void warn_of_shell_words(const struct orch_manifest_reader *reader,
                                const struct orch_yaml *node, char **argv)
{
    static const char *const words[] = {"|", "||", "&&", ";", ">", ">>", "<", "2>&1", "&", NULL};
    for (; *argv; argv++) {
        if (g_strv_contains(words, *argv) || **argv == '"' || **argv == '\'') {
            orch_manifest_finding(
                reader, node, true,
                "write a list, [program, argument, ...]; for a shell: [sh, -c, \"...\"]",
                "'command' does not run in a shell, so %s reaches the program unchanged", *argv);
            return;
        }
    }
}

static char **command_words(const struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    if (node->kind == ORCH_YAML_LIST) {
        for (guint i = 0; i < node->items->len; i++) {
            const char *text =
                orch_manifest_read_text(reader, node->items->pdata[i], "a word of the command");
            g_ptr_array_add(words, g_strdup(text ? text : ""));
        }
    } else {
        g_auto(GStrv) parts = g_strsplit_set(node->text, " \t\r\n", -1);
        for (char **part = parts; *part; part++)
            if (**part)
                g_ptr_array_add(words, g_strdup(*part));
    }
    g_ptr_array_add(words, NULL);
    char **argv = (char **)g_ptr_array_steal(words, NULL);
    if (node->kind == ORCH_YAML_SCALAR)
        warn_of_shell_words(reader, node, argv);
    return argv;
}

/* Warns about parameters that are never passed to the program, because sweeping them has no effect.
 */
static void warn_of_unused(const struct orch_manifest_reader *reader, GHashTable *used)
{
    const struct orch_yaml *rows = orch_yaml_get(reader->root, "parameters");
    if (reader->manifest->metrics_from == ORCH_METRICS_PROTOCOL)
        return; /* it receives all parameters in the 'run' message */
    for (guint i = 0; i < reader->manifest->params->len; i++) {
        const struct orch_param_spec *spec = reader->manifest->params->pdata[i];
        if (g_hash_table_contains(used, spec->name) || orch_param_is_secret(spec))
            continue; /* a secret is better read from the environment */
        g_autofree char *hint =
            g_strdup_printf("pass it on: --%s, \"${%s}\"", spec->name, spec->name);
        orch_manifest_finding(reader, orch_yaml_get_key(rows, spec->name), true, hint,
                              "parameter '%s' changes nothing: 'command' does not use it",
                              spec->name);
    }
}

static bool is_secret_reference(const struct orch_manifest *manifest, const char *word)
{
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        g_autofree char *reference = g_strdup_printf("${%s}", spec->name);
        if (orch_param_is_secret(spec) && strstr(word, reference))
            return true;
    }
    return false;
}

/* Every user of the machine can read the command line of a process, and a manifest is a file that
 * others read. */
static void warn_of_secret(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                           size_t i)
{
    const char *const *words = (const char *const *)reader->manifest->argv;
    const char *literal = orch_secret_in_word(words, i);
    if (is_secret_reference(reader->manifest, words[i]))
        orch_manifest_finding(
            reader, node, true,
            "leave the secret out of 'command': the program can read $ORCH_PARAM_name",
            "'command': with 'ps', every user of the machine sees the secret in '%s'", words[i]);
    if (!literal)
        return;
    const char *before = literal == words[i] ? words[i - 1] : words[i];
    size_t length = literal == words[i] ? strlen(before) : (size_t)(literal - before);
    orch_manifest_finding(
        reader, node, true,
        "make the secret a parameter of type 'secret', which the program reads from "
        "$ORCH_PARAM_name",
        "'command': the text after '%.*s' looks like a secret, and this file is shared",
        (int)length, before);
}

static void read_command(struct orch_manifest_reader *reader, const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_MAP) {
        orch_manifest_finding(reader, node, false,
                              "for example command: [python3, train.py, --lr, \"${lr}\"]",
                              "'command' must be a list of words, or one line");
        return;
    }
    reader->manifest->argv = command_words(reader, node);
    if (!reader->manifest->argv[0] || !*reader->manifest->argv[0]) {
        orch_manifest_finding(reader, node, false,
                              "for example command: [python3, train.py, --lr, \"${lr}\"]",
                              "command is empty");
        return;
    }
    g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; reader->manifest->argv[i]; i++) {
        const struct orch_yaml *word = node->kind == ORCH_YAML_LIST ? node->items->pdata[i] : node;
        orch_manifest_check_references(reader, word, reader->manifest->argv[i], "command", true,
                                       used);
        warn_of_secret(reader, word, i);
    }
    warn_of_unused(reader, used);
}

/* ---- whole file --------------------------------------------------------------------------- */

static const struct {
    struct orch_yaml_key key;
    void (*read)(struct orch_manifest_reader *reader, const struct orch_yaml *node);
} FIELDS[] = {
    {{"plugin", .type = "dashed"}, read_name},
    {{"version", .type = "blank"}, read_version},
    {{"about", .type = "blank"}, read_about},
    {{"licence", .type = "blank"}, read_licence},
    {{"timing", .type = "flag"}, read_timing},
    {{"needs", .keys = NEEDS_KEYS, .type = "nothing"}, read_needs},
    {{"metrics_from", .words = METRICS_FROM_WORDS}, read_metrics_from},
    {{"metrics_on", .words = ORCH_METRICS_ON_NAMES}, read_metrics_on},
    {{"metrics_files", .type = "texts"}, read_metrics_files},
    {{"parameters", .type = "value", .keys = ORCH_PARAMETER_KEYS, .named = ORCH_YAML_ANY},
     orch_manifest_read_parameters},
    {{"metrics", ORCH_METRICS_VALUE}, read_metrics},
    {{"artifacts", .type = "text", .keys = ARTIFACT_KEYS, .named = ORCH_YAML_ANY}, read_artifacts},
    {{"cost", .keys = COST_KEYS, .type = "nothing"}, read_cost},
    {{"command", .type = "command", .is_required = true}, read_command},
};

GArray *orch_manifest_keys(void)
{
    GArray *keys = g_array_new(TRUE, FALSE, sizeof(struct orch_yaml_key));
    for (unsigned i = 0; i < G_N_ELEMENTS(FIELDS); i++)
        g_array_append_val(keys, FIELDS[i].key);
    return keys;
}

static void read_fields(struct orch_manifest_reader *reader)
{
    g_autoptr(GArray) keys = orch_manifest_keys();
    orch_yaml_check_table(reader->root, reader->file, "a plugin's manifest",
                          (const struct orch_yaml_key *)(void *)keys->data, reader->diags);
    for (unsigned i = 0; i < G_N_ELEMENTS(FIELDS); i++) {
        const struct orch_yaml *node = orch_yaml_get(reader->root, FIELDS[i].key.name);
        if (node && (!orch_yaml_is_null(node) || strcmp(FIELDS[i].key.name, "command") == 0))
            FIELDS[i].read(reader, node);
    }
    if (!orch_yaml_get(reader->root, "command"))
        orch_manifest_finding(reader, reader->root, false,
                              "for example command: [python3, train.py, --lr, \"${lr}\"]",
                              "a plugin's manifest needs 'command'");
}

/* The name of the file without its ending; NULL after a finding. */
static char *name_from_path(const char *path, struct orch_diags *diags)
{
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *name = g_str_has_suffix(base, ".plugin")
                                ? g_strndup(base, strlen(base) - strlen(".plugin"))
                                : g_strdup(base);
    if (orch_name_is_valid(name, true))
        return g_steal_pointer(&name);
    orch_diags_add(diags, false, path, 0, 0,
                   "rename the file: a lower-case letter, then letters, digits, '_' and '-'",
                   "plugin name '%s' is not valid", name);
    return NULL;
}

static struct orch_manifest *manifest_begin(const char *path, char *name)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_WRAPPED;
    manifest->path = orch_path_absolute(path, NULL);
    manifest->name = name;
    manifest->version = g_strdup("1.0.0");
    manifest->metrics_from = ORCH_METRICS_LINES;
    return manifest;
}

struct orch_manifest *orch_manifest_load(const char *path, struct orch_diags *diags)
{
    const unsigned errors_before = diags->error_count;
    char *name = name_from_path(path, diags);
    struct orch_yaml *root = name ? orch_yaml_parse_file(path, diags) : NULL;
    if (!root) {
        g_free(name);
        return NULL;
    }
    struct orch_manifest_reader reader = {.file = path, .diags = diags, .root = root};
    reader.manifest = manifest_begin(path, name);
    if (root->kind == ORCH_YAML_MAP)
        read_fields(&reader);
    else
        orch_manifest_finding(&reader, root, false,
                              "begin with 'plugin: NAME' and 'command: [...]'",
                              "a plugin's manifest must be a map");
    if (diags->error_count == errors_before) {
        g_autofree char *problem = orch_manifest_problem(reader.manifest);
        if (problem)
            orch_manifest_finding(&reader, root, false, NULL, "%s", problem);
    }
    orch_yaml_free(root);
    if (diags->error_count == errors_before)
        return reader.manifest;
    orch_manifest_free(reader.manifest);
    return NULL;
}
