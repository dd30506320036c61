/* SPDX-License-Identifier: MIT */
#include "lib/wire/manifest.h"

#include "lib/wire/direction.h"

#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <stdarg.h>
#include <string.h>

const char *const ORCH_METRICS_ON_NAMES[] = {"stdout", "stderr", "both", "lines",
                                             "files",  "none",   NULL};

const char *const ORCH_TRIAL_VALUES[] = {"seed",      "seed64",       "repeat", "checkpoint_dir",
                                         "trial_dir", "manifest_dir", NULL};

bool orch_manifest_reads_files(const struct orch_manifest *manifest)
{
    if (manifest->kind != ORCH_PLUGIN_WRAPPED || manifest->metrics_from == ORCH_METRICS_PROTOCOL)
        return false;
    return manifest->metrics_on == ORCH_METRICS_ON_FILES ||
           ((manifest->any_metric || manifest->metrics_files) &&
            manifest->metrics_on <= ORCH_METRICS_ON_BOTH);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void param_free(void *pointer)
{
    struct orch_param_spec *spec = pointer;
    g_free(spec->name);
    g_free(spec->unit);
    g_free(spec->min);
    g_free(spec->max);
    g_free(spec->def);
    g_free(spec->label);
    g_free(spec->help);
    g_strfreev(spec->choices);
    g_free(spec);
}

static void metric_free(void *pointer)
{
    struct orch_metric_spec *spec = pointer;
    g_free(spec->name);
    g_free(spec->unit);
    g_free(spec->step_unit);
    g_free(spec->label);
    g_free(spec->min);
    g_free(spec->max);
    g_free(spec->help);
    g_free(spec->pattern);
    g_free(spec);
}

static void artifact_free(void *pointer)
{
    struct orch_artifact_spec *spec = pointer;
    g_free(spec->name);
    g_free(spec->help);
    g_free(spec->path);
    g_free(spec);
}

struct orch_manifest *orch_manifest_new(void)
{
    struct orch_manifest *manifest = g_new0(struct orch_manifest, 1);
    manifest->params = g_ptr_array_new_with_free_func(param_free);
    manifest->metrics = g_ptr_array_new_with_free_func(metric_free);
    manifest->artifacts = g_ptr_array_new_with_free_func(artifact_free);
    return manifest;
}

void orch_manifest_free(struct orch_manifest *manifest)
{
    if (!manifest)
        return;
    g_free(manifest->path);
    g_free(manifest->name);
    g_free(manifest->version);
    g_free(manifest->sha256);
    g_free(manifest->code_id);
    g_free(manifest->build);
    g_free(manifest->summary);
    g_free(manifest->licence);
    g_ptr_array_unref(manifest->params);
    g_ptr_array_unref(manifest->metrics);
    g_ptr_array_unref(manifest->artifacts);
    g_strfreev(manifest->argv);
    g_strfreev(manifest->metrics_files);
    json_decref(manifest->cost);
    g_free(manifest);
}

struct orch_param_spec *orch_manifest_add_param(struct orch_manifest *manifest, const char *name,
                                                uint32_t type)
{
    struct orch_param_spec *spec = g_new0(struct orch_param_spec, 1);
    spec->name = g_strdup(name);
    spec->type = type;
    g_ptr_array_add(manifest->params, spec);
    return spec;
}

struct orch_metric_spec *orch_manifest_add_metric(struct orch_manifest *manifest, const char *name)
{
    struct orch_metric_spec *spec = g_new0(struct orch_metric_spec, 1);
    spec->name = g_strdup(name);
    g_ptr_array_add(manifest->metrics, spec);
    return spec;
}

struct orch_artifact_spec *orch_manifest_add_artifact(struct orch_manifest *manifest,
                                                      const char *name)
{
    struct orch_artifact_spec *spec = g_new0(struct orch_artifact_spec, 1);
    spec->name = g_strdup(name);
    g_ptr_array_add(manifest->artifacts, spec);
    return spec;
}

/* ---- by name ----------------------------------------------------------------------------------
 */

/* The name is the first member of every row. */
static const char *row_name(const void *row)
{
    return *(char *const *)row;
}
G_STATIC_ASSERT(offsetof(struct orch_param_spec, name) == 0);
G_STATIC_ASSERT(offsetof(struct orch_metric_spec, name) == 0);
G_STATIC_ASSERT(offsetof(struct orch_artifact_spec, name) == 0);

static const void *find(const GPtrArray *rows, const char *name)
{
    for (guint i = 0; name && i < rows->len; i++)
        if (g_strcmp0(row_name(rows->pdata[i]), name) == 0)
            return rows->pdata[i];
    return NULL;
}

bool orch_param_is_secret(const struct orch_param_spec *spec)
{
    return spec && (spec->type & ~(uint32_t)ORCH_LIST) == ORCH_SECRET;
}

const struct orch_param_spec *orch_manifest_param(const struct orch_manifest *manifest,
                                                  const char *name)
{
    return find(manifest->params, name);
}

const struct orch_metric_spec *orch_manifest_metric(const struct orch_manifest *manifest,
                                                    const char *name)
{
    return find(manifest->metrics, name);
}

enum orch_better orch_metric_spec_better(const struct orch_metric_spec *spec)
{
    return orch_direction_of(spec->name, spec->unit, spec->better).better;
}

const struct orch_artifact_spec *orch_manifest_artifact(const struct orch_manifest *manifest,
                                                        const char *name)
{
    return find(manifest->artifacts, name);
}

/* ---- types ------------------------------------------------------------------------------------
 */

static const char *const TYPE_NAMES[] = {
    [ORCH_BOOL] = "bool",         [ORCH_INT] = "int",           [ORCH_REAL] = "real",
    [ORCH_STRING] = "string",     [ORCH_ENUM] = "enum",         [ORCH_PATH] = "path",
    [ORCH_ARTIFACT] = "artifact", [ORCH_DURATION] = "duration", [ORCH_BYTES] = "bytes",
    [ORCH_MONEY] = "money",       [ORCH_SECRET] = "secret",
};

char *orch_type_format(uint32_t type)
{
    uint32_t element = type & ~(uint32_t)ORCH_LIST;
    if (element == 0 || element >= G_N_ELEMENTS(TYPE_NAMES))
        return g_strdup_printf("unknown type %u", type);
    return g_strconcat(type & ORCH_LIST ? "list of " : "", TYPE_NAMES[element], NULL);
}

static uint32_t parse_element(const char *text, size_t length)
{
    for (uint32_t i = 1; i < G_N_ELEMENTS(TYPE_NAMES); i++)
        if (strlen(TYPE_NAMES[i]) == length && memcmp(TYPE_NAMES[i], text, length) == 0)
            return i;
    return 0;
}

uint32_t orch_type_parse(const char *text)
{
    size_t length = strlen(text);
    bool is_list = true;
    if (g_str_has_prefix(text, "list of ")) {
        text += 8;
        length -= 8;
    } else if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
        text += 1;
        length -= 2;
    } else {
        is_list = false;
    }
    uint32_t element = parse_element(text, length);
    return element && is_list ? element | ORCH_LIST : element;
}

/* ---- validation -------------------------------------------------------------------------------
 */

bool orch_artifact_name_is_valid(const char *name)
{
    return orch_label_is_valid(name) && !strchr(name, '/') && *name != '.';
}

bool orch_artifact_path_is_inside(const char *path)
{
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    return !g_path_is_absolute(path) && !g_strv_contains((const char *const *)parts, "..");
}

/* `is_free`: a program's own names ("C", "optimizer.lr", "weights.pt") are valid, too; NULL: none
 * is. */
static char *names_problem(const GPtrArray *rows, const char *what,
                           bool (*is_free)(const char *name))
{
    for (guint i = 0; i < rows->len; i++) {
        const char *name = row_name(rows->pdata[i]);
        if (!orch_name_is_valid(name, false) && !(is_free && is_free(name)))
            return g_strdup_printf("%s name '%s' is not [a-z][a-z0-9_]* of at most 63 characters",
                                   what, name ? name : "");
        if (find(rows, name) != rows->pdata[i])
            return g_strdup_printf("%s '%s' is declared twice", what, name);
    }
    return NULL;
}

static bool type_is_known(uint32_t type)
{
    uint32_t element = type & ~(uint32_t)ORCH_LIST;
    return element != 0 && element < G_N_ELEMENTS(TYPE_NAMES);
}

static bool type_has_bounds(uint32_t type)
{
    static const unsigned bounded = 1u << ORCH_INT | 1u << ORCH_REAL | 1u << ORCH_DURATION |
                                    1u << ORCH_BYTES | 1u << ORCH_MONEY;
    return bounded >> (type & ~(uint32_t)ORCH_LIST) & 1;
}

/* Reports a bound that does not parse, or a minimum above the maximum. */
static char *bounds_problem(const struct orch_param_spec *spec)
{
    if (!spec->min && !spec->max)
        return NULL;
    if (!type_has_bounds(spec->type))
        return g_strdup_printf("parameter '%s': a bound on a type without order", spec->name);
    struct orch_param_spec bare = {.name = spec->name, .type = spec->type & ~(uint32_t)ORCH_LIST};
    json_t *values[2] = {NULL, NULL};
    const char *texts[2] = {spec->min, spec->max};
    char *problem = NULL;
    for (int i = 0; i < 2 && !problem; i++) {
        if (texts[i] && !(values[i] = orch_value_parse_scalar(&bare, texts[i], NULL)))
            problem = g_strdup_printf("parameter '%s': its %s '%s' does not parse", spec->name,
                                      i ? "maximum" : "minimum", texts[i]);
    }
    if (values[0] && values[1] && json_number_value(values[0]) > json_number_value(values[1]))
        problem = g_strdup_printf("parameter '%s': minimum %s is above its maximum %s", spec->name,
                                  spec->min, spec->max);
    json_decref(values[0]);
    json_decref(values[1]);
    return problem;
}

static char *param_problem(const struct orch_param_spec *spec)
{
    if (!type_is_known(spec->type))
        return g_strdup_printf("parameter '%s': type %u is not known", spec->name, spec->type);
    bool is_enum = (spec->type & ~(uint32_t)ORCH_LIST) == ORCH_ENUM;
    if (is_enum && (!spec->choices || !spec->choices[0]))
        return g_strdup_printf("parameter '%s': an enum without choices", spec->name);
    if (!is_enum && spec->choices)
        return g_strdup_printf("parameter '%s': choices for a type that is no enum", spec->name);
    char *problem = bounds_problem(spec);
    if (problem || !spec->def)
        return problem;
    g_autoptr(GError) error = NULL;
    json_t *value = orch_value_parse(spec, spec->def, &error);
    json_decref(value);
    if (value)
        return NULL;
    /* "parameter 'lr': 2 is above ..." becomes "parameter 'lr': default '2' is above ..." */
    g_autofree char *head = g_strdup_printf("parameter '%s': ", spec->name);
    const char *rest =
        g_str_has_prefix(error->message, head) ? error->message + strlen(head) : error->message;
    g_autofree char *first_line = g_strndup(rest, strcspn(rest, "\n"));
    g_autofree char *plain = g_strconcat(spec->def, " ", NULL);
    g_autofree char *quoted = g_strdup_printf("'%s' ", spec->def);
    const char *tail = first_line;
    if (g_str_has_prefix(tail, plain))
        tail += strlen(plain);
    else if (g_str_has_prefix(tail, quoted))
        tail += strlen(quoted);
    else
        return g_strdup_printf("%sdefault '%s': %s", head, spec->def, first_line);
    return g_strdup_printf("%sdefault '%s' %s", head, spec->def, tail);
}

/* N.N.N, optionally with -suffix or +suffix. */
static bool version_is_valid(const char *version)
{
    for (int part = 0; version && part < 3; part++) {
        size_t digits = strspn(version, "0123456789");
        if (digits == 0 || (part < 2 && version[digits] != '.'))
            return false;
        version += digits + (part < 2);
    }
    return version && (!*version || *version == '-' || *version == '+');
}

static char *wrapped_problem(const struct orch_manifest *manifest)
{
    if (manifest->kind != ORCH_PLUGIN_WRAPPED)
        return NULL;
    if (!manifest->argv || !manifest->argv[0])
        return g_strdup("a command without words");
    for (guint i = 0; manifest->metrics_from == ORCH_METRICS_REGEX && i < manifest->metrics->len;
         i++) {
        const struct orch_metric_spec *spec = manifest->metrics->pdata[i];
        if (!spec->pattern)
            continue;
        g_autoptr(GError) error = NULL;
        g_autoptr(GRegex) regex = g_regex_new(spec->pattern, G_REGEX_RAW, 0, &error);
        if (!regex)
            return g_strdup_printf("metric '%s': its pattern is not a regular expression: %s",
                                   spec->name, error->message);
        if (g_regex_get_capture_count(regex) < 1)
            return g_strdup_printf("metric '%s': its pattern has no group for the value",
                                   spec->name);
    }
    return NULL;
}

char *orch_manifest_problem(const struct orch_manifest *manifest)
{
    if (!orch_name_is_valid(manifest->name, true))
        return g_strdup_printf("plugin name '%s' is not [a-z][a-z0-9_-]* of at most 63 characters",
                               manifest->name ? manifest->name : "");
    if (!version_is_valid(manifest->version))
        return g_strdup_printf("version '%s' is not of the form N.N.N",
                               manifest->version ? manifest->version : "");
    bool is_wrapped = manifest->kind == ORCH_PLUGIN_WRAPPED;
    char *problem = names_problem(manifest->params, "parameter",
                                  is_wrapped ? orch_setting_name_is_valid : NULL);
    if (!problem)
        problem = names_problem(manifest->metrics, "metric", NULL);
    if (!problem)
        problem = names_problem(manifest->artifacts, "artifact",
                                is_wrapped ? orch_artifact_name_is_valid : NULL);
    for (guint i = 0; !problem && i < manifest->params->len; i++)
        problem = param_problem(manifest->params->pdata[i]);
    return problem ? problem : wrapped_problem(manifest);
}
