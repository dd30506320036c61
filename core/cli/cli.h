/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: one table of commands makes dispatch, help, docs/commands, completion and man
 * pages. A command is one file, cmd_NAME.c: flags in, calls down, tables out. Nothing below this
 * folder prints. stdout is data, stderr is talk. */
#ifndef ORCH_CORE_CLI_CLI_H
#define ORCH_CORE_CLI_CLI_H

#include "core/plugin/plugins.h"
#include "core/recipe/recipe.h"
#include "core/report/numbers.h"
#include "core/report/table.h"
#include "core/run/workspace.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, the same on every verb. */
enum {
    ORCH_EXIT_OK = 0,
    ORCH_EXIT_TRIAL = 1,
    ORCH_EXIT_USAGE = 2,
    ORCH_EXIT_STORE = 3,
    ORCH_EXIT_PLUGIN = 4,
    ORCH_EXIT_BUDGET = 6,
    ORCH_EXIT_CHECK = 7,
    ORCH_EXIT_INTERRUPTED = 130,
    ORCH_EXIT_TERMINATED = 143,
};

enum orch_option_kind {
    ORCH_OPT_FLAG, /* bool */
    ORCH_OPT_TEXT, /* const char *, NULL when absent */
    ORCH_OPT_INT,  /* int */
    ORCH_OPT_REAL, /* double */
    ORCH_OPT_LIST, /* const char **, NULL-terminated, NULL when absent; may be given again */
};

struct orch_option {
    const char *name;  /* long name without dashes; NULL ends a table */
    char letter;       /* or 0 */
    const char *value; /* what to call its value in help, e.g. "N"; NULL for flags */
    enum orch_option_kind kind;
    size_t offset; /* in the command's option struct */
    const char *help;
};

struct orch_cli;

/** A row of the table of commands. */
struct orch_command {
    const char *name;       /* "run", "db check" */
    const char *group;      /* heading in the list of commands */
    const char *summary;    /* one line */
    const char *usage;      /* what stands behind the name and the options: "RECIPE [NAME...]" */
    int min_args, max_args; /* max_args -1: any number */
    const struct orch_option *options; /* or NULL */
    size_t option_bytes;
    bool keeps_rest;      /* arguments after "--" belong to a program */
    const char *about;    /* paragraphs for help and the man page, or NULL */
    const char *examples; /* lines of "command  # what it does", or NULL */
    /** Does it. Returns the exit status; -1 with an error set. */
    int (*run)(struct orch_cli *cli, const void *options, GError **error);
};

extern const struct orch_command *const ORCH_COMMANDS[]; /* NULL-terminated, in order of help */
extern const struct orch_option ORCH_COMMON_OPTIONS[];

/** What every command gets. */
struct orch_cli {
    const struct orch_command *command;
    const char **args; /* positional arguments */
    int arg_count;
    const char **rest; /* behind "--" (keeps_rest), NULL-terminated, or NULL */
    char **argv;       /* as typed */
    int argc;
    /* common options */
    const char *db, *directory, *who;
    const char **plugin_paths;
    bool json, quiet, verbose, help;
    const char *color;  /* auto, always, never */
    const char *format; /* of tables, where the command has no --format of its own; NULL: text */
    /* set by a command before it reads a recipe: an experiment whose plugin is not trusted is an
       error, and not left out with a warning */
    bool needs_every_plugin;
    /* made when asked for, freed at the end */
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    bool stdout_is_tty, stderr_is_tty;
};

/* ---- what commands share (shared.c) -----------------------------------------------------------
 */

/** The workspace of `folder` (NULL: the current one). Borrowed. */
struct orch_workspace *orch_cli_workspace(struct orch_cli *cli, const char *folder, GError **error);
/** The store of the current folder, for reading; an error with a hint when there is none. */
struct orch_store *orch_cli_store(struct orch_cli *cli, enum orch_store_mode mode, GError **error);
struct orch_plugins *orch_cli_plugins(struct orch_cli *cli);
/** The command line as a JSON array text. What it sets a secret parameter of `expansion` (which may
 * be NULL) to is left out: it is kept with every run, and travels. Caller frees. */
char *orch_cli_argv_json(const struct orch_cli *cli, const struct orch_expansion *expansion);

/** Options that name a recipe's variant: -s, -x, --profile, --part, --smoke. */
struct orch_variant {
    const char *profile;
    const char **settings, **sweeps;
    const char *part;
    bool smoke;
};
#define ORCH_VARIANT_OPTIONS(type, member)                                                         \
    {"set",                                                                                        \
     's',                                                                                          \
     "[EXP.]PARAM=VALUE",                                                                          \
     ORCH_OPT_LIST,                                                                                \
     offsetof(type, member.settings),                                                              \
     "set a parameter (a comma is text)"},                                                         \
        {"sweep",                                                                                  \
         'x',                                                                                      \
         "[EXP.]PARAM=A,B,...",                                                                    \
         ORCH_OPT_LIST,                                                                            \
         offsetof(type, member.sweeps),                                                            \
         "sweep a parameter over values, or range(A,B[,STEP])"},                                   \
        {"profile",                                                                                \
         'p',                                                                                      \
         "NAME",                                                                                   \
         ORCH_OPT_TEXT,                                                                            \
         offsetof(type, member.profile),                                                           \
         "use another profile than the recipe's default"},                                         \
        {"part",                                                                                   \
         0,                                                                                        \
         "K/N",                                                                                    \
         ORCH_OPT_TEXT,                                                                            \
         offsetof(type, member.part),                                                              \
         "only every N-th trial, beginning with the K-th"},                                        \
    {                                                                                              \
        "smoke", 0, NULL, ORCH_OPT_FLAG, offsetof(type, member.smoke),                             \
            "two steps on synthetic data, in a scratch store"                                      \
    }

/** Reads a recipe; opens the workspace of its folder. Prints warnings. NULL on error: `error` holds
 * all findings. `targets`: cli->args from the second on. */
struct orch_expansion *orch_cli_recipe(struct orch_cli *cli, const char *path,
                                       const struct orch_variant *variant, GError **error);
/** Prints warnings of `diags` to stderr. */
void orch_cli_warnings(struct orch_cli *cli, const struct orch_diags *diags);
/** Warns of what the captured source tree lacks: it is in no repository, or files were left out. */
void orch_cli_warn_of_source(struct orch_cli *cli);
/** "orch: warning: ..." on stderr, unless quiet. */
void orch_cli_warn(struct orch_cli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** A line of talk on stderr, unless quiet. */
void orch_cli_say(struct orch_cli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** The last 8 characters of a run key: what people are shown and may type. Borrowed from `key`. */
const char *orch_cli_short_key(const char *key);
/** "2 d ago". Caller frees. */
char *orch_cli_ago(int64_t utc_ns);

/* ---- output (out.c) ---------------------------------------------------------------------------
 */

/** A line to stdout of which parts may be a stranger's: no escape sequence reaches the terminal. */
void orch_cli_print(const char *format, ...) G_GNUC_PRINTF(1, 2);
/** The same where all of it must be one line. */
void orch_cli_print_line(const char *format, ...) G_GNUC_PRINTF(1, 2);

/** Prints a table to stdout and frees it: aligned, or as --format says. Under --json:
 * {"schema_version":1, "NAME":[{...}]}. */
void orch_table_print(struct orch_cli *cli, struct orch_table *table, const char *name);
/** The same in a format; --json goes before it. */
void orch_table_print_as(struct orch_cli *cli, struct orch_table *table, const char *name,
                         const char *format);
/** The rows as JSON (new reference), or aligned text for an indent of two; frees the table. */
json_t *orch_table_to_json(struct orch_table *table);
char *orch_table_to_text(struct orch_table *table, bool color);
/** False with ORCH_ERROR_USAGE for what is no format of tables. */
bool orch_format_check(const char *name, GError **error);
/** Writes bytes that a trial printed or made to a terminal, without what it would obey but the
 * return of a progress bar. `text` has room for one more byte and is changed meanwhile. */
void orch_cli_write_plain(char *text, size_t length);
/** Prints one JSON object with schema_version to stdout; steals it. */
void orch_cli_print_json(json_t *object);
/** Prints a JSON array as it is, for commands that promise one. */
void orch_cli_print_json_array(json_t *array);
/** Columns of the terminal behind a descriptor; 0: it is none, or does not say. */
int orch_terminal_columns(int fd);
/** True when stdout (or stderr) should have colour. */
bool orch_cli_color(const struct orch_cli *cli, bool on_stderr);

/* ---- help (help.c) ----------------------------------------------------------------------------
 */

void orch_help_overview(FILE *out, bool all);
void orch_help_command(FILE *out, const struct orch_command *command);
/** The commands that begin with a word ("predictor"), with their summaries. False, and nothing
 * printed: there are none. */
bool orch_help_group(FILE *out, const char *word);
char *orch_help_markdown(const struct orch_command *command);
char *orch_help_man(const struct orch_command *command);
/** The error for words that begin no command: the nearest one, or what others call it. */
void orch_command_unknown(int argc, const char *const *argv, GError **error);
/** For a name, or NULL. */
const struct orch_command *orch_command_find(const char *name);

/** Reads options and arguments (options.c). False with ORCH_ERROR_USAGE. */
bool orch_options_parse(struct orch_cli *cli, int argc, char **argv, void *options, GError **error);

#endif
