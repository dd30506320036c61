/* SPDX-License-Identifier: MIT */
/* A plugin's description as plain data. orch-host makes it from a compiled plugin's descriptor,
 * core/plugin from a NAME.plugin file; it is sent as JSON in trial.json and on the wire. All
 * strings are owned, and NULL if not given. */
#ifndef ORCH_WIRE_MANIFEST_H
#define ORCH_WIRE_MANIFEST_H

#include <glib.h>
#include <jansson.h>
#include <orch/plugin.h>
#include <stdbool.h>

/** A parameter. min, max and def follow the rules of orch_value_parse. */
struct orch_param_spec {
    char *name;
    uint32_t type;  /* enum orch_type, optionally with ORCH_LIST */
    uint32_t flags; /* ORCH_PARAM_* */
    size_t offset;  /* compiled plugins only; not sent */
    char *unit, *min, *max, *def, *label, *help;
    char **choices;  /* NULL-terminated, or NULL */
    bool keeps_text; /* of a program: a number reaches it as it is written; not sent */
};

struct orch_metric_spec {
    char *name, *unit, *step_unit, *label, *help;
    char *min, *max; /* no value is beyond them */
    enum orch_better better;
    char *pattern; /* wrapped programs with metrics_from REGEX: PCRE with one group */
};

struct orch_artifact_spec {
    char *name, *help;
    char *path; /* wrapped programs: file to collect at the end, relative to the working folder */
};

enum orch_plugin_kind {
    ORCH_PLUGIN_COMPILED, /* NAME.so */
    ORCH_PLUGIN_WRAPPED,  /* NAME.plugin: a command */
};

/** Source of a wrapped program's metrics. */
enum orch_metrics_from {
    ORCH_METRICS_PROTOCOL, /* JSON lines on $ORCH_EVENTS */
    ORCH_METRICS_LINES,    /* JSON objects or "name value" on stdout */
    ORCH_METRICS_REGEX,    /* a regular expression per metric, on stdout */
};

/** What LINES and REGEX read. The first three also read the files that a program's loggers write
 * (lib/loggers) when its metrics are `any`. */
enum orch_metrics_on {
    ORCH_METRICS_ON_STDOUT,
    ORCH_METRICS_ON_STDERR,
    ORCH_METRICS_ON_BOTH,
    ORCH_METRICS_ON_LINES, /* standard output, and no files */
    ORCH_METRICS_ON_FILES, /* files alone */
    ORCH_METRICS_ON_NONE,
};
/** "stdout", "stderr", ...; NULL-terminated, in the order of the enum. */
extern const char *const ORCH_METRICS_ON_NAMES[];

struct orch_manifest {
    enum orch_plugin_kind kind;
    char *path; /* absolute path of the .so or of the NAME.plugin; sent in trial.json */
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
    enum orch_metrics_on metrics_on;
    char **metrics_files; /* patterns of files that are logs whatever their names; NULL: none */
    bool any_metric;      /* may report metrics that it does not declare, which are kept */
    json_t *cost; /* object: the fields of struct orch_cost as texts with ${param}; or NULL */
    /* compiled plugins only, computed from the file and not sent: */
    char *sha256; /* for a plugin from elsewhere: the only contents that may be loaded; NULL: orch's
                     own */
    char *code_id; /* distinguishes builds. From elsewhere: the ELF build id, or "sha256:DIGEST".
                      Orch's own in a build tree: a digest of its sources; otherwise NULL */
};

struct orch_manifest *orch_manifest_new(void);
void orch_manifest_free(struct orch_manifest *manifest);

/** Append a new row to the manifest, which owns it. */
struct orch_param_spec *orch_manifest_add_param(struct orch_manifest *manifest, const char *name,
                                                uint32_t type);
struct orch_metric_spec *orch_manifest_add_metric(struct orch_manifest *manifest, const char *name);
struct orch_artifact_spec *orch_manifest_add_artifact(struct orch_manifest *manifest,
                                                      const char *name);

/** Whether the files that the program's loggers write become metrics. */
bool orch_manifest_reads_files(const struct orch_manifest *manifest);

/** Names besides parameters that a command may contain: seed, seed64, repeat, checkpoint_dir, ...
 * NULL-terminated. */
extern const char *const ORCH_TRIAL_VALUES[];

/** "${byte:e9}" in a command is the byte 0xe9: words of a command line need not be UTF-8. */
#define ORCH_BYTE_PREFIX "byte:"

/** Is it a secret, or a list of them? Its value is recorded as a keyed digest, and never shown or
 * compared. NULL: no. */
bool orch_param_is_secret(const struct orch_param_spec *spec);

/** Find a row by name; NULL if there is none. Borrowed. */
const struct orch_param_spec *orch_manifest_param(const struct orch_manifest *manifest,
                                                  const char *name);
const struct orch_metric_spec *orch_manifest_metric(const struct orch_manifest *manifest,
                                                    const char *name);
/** Which of a metric's values are better (direction.h). */
enum orch_better orch_metric_spec_better(const struct orch_metric_spec *spec);
const struct orch_artifact_spec *orch_manifest_artifact(const struct orch_manifest *manifest,
                                                        const char *name);

/** A name that an artifact of a program can have: a label without '/' that begins with no dot. */
bool orch_artifact_name_is_valid(const char *name);
/** A path of an artifact, with or without ${param}, is inside the folder in which the program
 * starts: it is relative and does not leave it. */
bool orch_artifact_path_is_inside(const char *path);

/** Validates what both kinds have in common: valid unique names, known types, consistent defaults
 * and bounds, a version of the form N.N.N. Returns NULL if valid, else the first problem
 * ("parameter 'lr': default '2' is above its maximum 1"). Caller frees. */
char *orch_manifest_problem(const struct orch_manifest *manifest);

/** Convert to and from JSON. encode returns a new reference; decode fails with
 * ORCH_ERROR_PROTOCOL. */
json_t *orch_manifest_encode(const struct orch_manifest *manifest);
struct orch_manifest *orch_manifest_decode(const json_t *json, GError **error);

/** Format and parse a type: "real", "list of int", ... (parse also accepts "[int]", and returns 0
 * for an unknown type). Caller frees the formatted text. */
char *orch_type_format(uint32_t type);
uint32_t orch_type_parse(const char *text);

#endif
