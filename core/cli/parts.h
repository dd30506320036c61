/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts that features add to a command of another folder: options, and what they show. A feature
 * lists them in its descriptor (core/feature/feature.h). The options of a part are parsed into a
 * struct of its own, so that the command does not know them. */
#ifndef ORCH_CORE_CLI_PARTS_H
#define ORCH_CORE_CLI_PARTS_H

#include "core/cli/cli.h"

struct orch_document;
struct orch_findings;
struct orch_forecaster;
struct orch_plan;
struct orch_run_part;

/** What a command is about. Each command sets a few members, and leaves the others NULL:
 *   show, checkout            store, run
 *   db check                  store, faults
 *   doctor                    findings
 *   export                    selection, not_alone
 *   report                    not_alone; for `show` also document
 *   predictor score           not_alone
 *   plan, run --dry-run       plan, forecaster, usd_per_hour
 *   coverage                  plan, forecaster, items, usd_per_hour */
struct orch_subject {
    struct orch_store *store;
    const struct orch_run *run;
    const struct orch_document *document;
    struct orch_plan *plan;
    const struct orch_forecaster *forecaster; /* of the plan */
    const struct orch_selection *selection;   /* of runs, by the command's own options */
    struct orch_findings *findings;           /* of `doctor`; a part may add to it */
    const GPtrArray *items; /* const struct orch_plan_item *: trials of the plan */
    double usd_per_hour;    /* of a device, as given; 0: not given */
    GPtrArray *faults;      /* char *, of `db check`; a part may add to it */
    const char *not_alone;  /* names what was also asked for and does not go with a part that
                               stands alone, such as "option '--all'"; `look` of such a part
                               refuses it. NULL: nothing */
};

struct orch_command_part {
    const char *command;                   /* its name: "export" */
    const struct orch_option *options;     /* or NULL */
    size_t option_bytes;                   /* of the struct that the options fill */
    const char *heading;                   /* above the options in help; NULL: "other options" */
    const char *about, *examples;          /* continue the texts of the command's help; or NULL */
    bool (*is_asked)(const void *options); /* NULL: always */
    bool is_alone;   /* when it is asked for, the command prints nothing of its own */
    bool reads_only; /* of `plan`: trials that a plugin rejects here, where their data may be
                        missing, are no error (struct orch_plan_options) */
    /** Checks the options and finds out what `show` shows, before the command prints; it may keep
     * that in the options, for `clear` to free. NULL: nothing is to be done before. */
    bool (*look)(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error);
    /** Sets members of `json`, the object that the command prints under --json, or prints lines
     * when `json` is NULL. A part that stands alone prints in both cases. */
    bool (*show)(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error);
    void (*clear)(void *options);    /* frees what `look` kept in the options, also when it kept
                                        nothing; NULL: it keeps nothing */
    const struct orch_run_part *run; /* of a part of run, plan or try (run_part.h); or NULL */
};

/* ---- for commands ------------------------------------------------------------------------------
 */

/** Whether a part of the running command is asked for that stands alone. */
bool orch_cli_has_part_alone(const struct orch_cli *cli);
/** Whether one is asked for that only reads the plan. */
bool orch_cli_has_part_that_reads(const struct orch_cli *cli);
/** Calls `look`, then `show`, of each part of the running command that is asked for. */
bool orch_cli_parts_look(struct orch_cli *cli, const struct orch_subject *subject, GError **error);
bool orch_cli_parts_show(struct orch_cli *cli, const struct orch_subject *subject, json_t *json,
                         GError **error);
/** Does both for a part that stands alone (orch_cli_has_part_alone), whose command prints nothing.
 */
bool orch_cli_part_alone_show(struct orch_cli *cli, const struct orch_subject *subject,
                              GError **error);

/* ---- for the command line ----------------------------------------------------------------------
 */

/** A part of the running command, with its options. */
struct orch_cli_part {
    const struct orch_command_part *part;
    void *options;
};
/** Returns the parts of a command (struct orch_cli_part) with options that are all absent. */
GArray *orch_parts_new(const struct orch_command *command);
void orch_parts_free(GArray *parts);
/** Returns the options of a command and of its parts, ended by an option without a name. The
 * caller frees. */
struct orch_option *orch_command_options(const struct orch_command *command);
/** Returns the command's text `about`, or its `examples`, with those of its parts; NULL: none. The
 * caller frees. */
char *orch_command_about(const struct orch_command *command);
char *orch_command_examples(const struct orch_command *command);
/** Frees the arrays of list options, which grow during parsing. */
void orch_options_free_lists(const struct orch_option *table, void *options);

#endif
