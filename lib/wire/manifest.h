/* SPDX-License-Identifier: MIT */
/* What a plugin says of itself, as plain data: made from a compiled plugin's descriptor by
 * orch-host, or from a NAME.plugin file by core/plugin; travels as JSON in trial.json and on the
 * wire. Every string is owned; NULL where the plugin says nothing. */
#ifndef ORCH_WIRE_MANIFEST_H
#define ORCH_WIRE_MANIFEST_H

#include <glib.h>
#include <jansson.h>
#include <orch/plugin.h>
#include <stdbool.h>

/** One parameter. Texts (min, max, def) follow the rules of orch_value_parse. */
struct orch_param_spec {
    char *name;
    uint32_t type;  /* enum orch_type, perhaps with ORCH_LIST */
    uint32_t flags; /* ORCH_PARAM_* */
    size_t offset;  /* compiled plugins only; not on the wire */
    char *unit, *min, *max, *def, *help;
    char **choices; /* NULL-terminated, or NULL */
};

struct orch_metric_spec {
    char *name, *unit, *step_unit, *help;
    enum orch_better better;
    char *pattern; /* wrapped programs with metrics by expression: PCRE with one group */
};

struct orch_artifact_spec {
    char *name, *help;
    char *path; /* wrapped programs: the file to take at the end, from the working folder */
};

enum orch_plugin_kind {
    ORCH_PLUGIN_COMPILED, /* NAME.so */
    ORCH_PLUGIN_WRAPPED,  /* NAME.plugin: a command */
};

/** How a wrapped program's metrics come. */
enum orch_metrics_from {
    ORCH_METRICS_PROTOCOL, /* JSON lines on $ORCH_EVENTS */
    ORCH_METRICS_LINES,    /* JSON objects or "name value" on stdout */
    ORCH_METRICS_REGEX,    /* each metric's own expression, on stdout */
};

struct orch_manifest {
    enum orch_plugin_kind kind;
    char *path; /* absolute path of the .so or of the NAME.plugin; on the wire in trial.json */
    char *name, *version, *build, *summary, *licence;
    uint32_t flags; /* ORCH_PLUGIN_* */
    struct orch_needs needs;
    uint32_t abi_major, abi_minor; /* compiled only */
    bool has_check, has_cost;      /* compiled only */
    GPtrArray *params;             /* struct orch_param_spec * */
    GPtrArray *metrics;            /* struct orch_metric_spec * */
    GPtrArray *artifacts;          /* struct orch_artifact_spec * */
    /* wrapped only: */
    char **argv; /* with ${param}; NULL-terminated */
    enum orch_metrics_from metrics_from;
    bool any_metric; /* reports names that it does not declare: they are kept as they come */
    json_t *cost;    /* object: the fields of struct orch_cost as texts with ${param}; or NULL */
    /* compiled only, found out about the file, not on the wire: */
    char *sha256; /* of a plugin from elsewhere: only these bytes may be loaded; NULL: orch's own */
    char *code_id; /* what tells two builds apart. From elsewhere: the ELF build id, else
                      "sha256:DIGEST". Orch's own in a build tree: a digest of its sources; else
                      NULL */
};

struct orch_manifest *orch_manifest_new(void);
void orch_manifest_free(struct orch_manifest *manifest);

/** New rows, appended to the manifest, owned by it. */
struct orch_param_spec *orch_manifest_add_param(struct orch_manifest *manifest, const char *name,
                                                uint32_t type);
struct orch_metric_spec *orch_manifest_add_metric(struct orch_manifest *manifest, const char *name);
struct orch_artifact_spec *orch_manifest_add_artifact(struct orch_manifest *manifest,
                                                      const char *name);

/** What a command may name besides its parameters: seed, seed64, repeat, checkpoint_dir, ... NULL-ended. */
extern const char *const ORCH_TRIAL_VALUES[];

/** By name; NULL when there is none. Borrowed. */
const struct orch_param_spec *orch_manifest_param(const struct orch_manifest *manifest,
                                                  const char *name);
const struct orch_metric_spec *orch_manifest_metric(const struct orch_manifest *manifest,
                                                    const char *name);
const struct orch_artifact_spec *orch_manifest_artifact(const struct orch_manifest *manifest,
                                                        const char *name);

/** Checks what both kinds share: valid unique names, known types, defaults and bounds that parse
 * and lie within each other, a version of the form N.N.N. NULL when all is well, else one finding
 * ("parameter 'lr': default '2' is above its maximum 1"); the caller frees. */
char *orch_manifest_problem(const struct orch_manifest *manifest);

/** As JSON, and back. encode gives a new reference. decode: NULL with ORCH_ERROR_PROTOCOL. */
json_t *orch_manifest_encode(const struct orch_manifest *manifest);
struct orch_manifest *orch_manifest_decode(const json_t *json, GError **error);

/** "real", "list of int", ... and back (also "[int]"); 0 when unknown. format: the caller frees. */
char *orch_type_format(uint32_t type);
uint32_t orch_type_parse(const char *text);

#endif
