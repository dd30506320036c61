/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line. Dispatch, help, docs/commands, completion and man pages are generated from the
 * commands that the features list (core/feature/feature.h). A command is one file, cmd_NAME.c,
 * which parses options, calls other modules and prints tables. Only core/cli, core/commands
 * and files cmd_*.c and *_show.c of features print: data to stdout, messages to stderr. */
#ifndef ORCH_CORE_CLI_CLI_H
#define ORCH_CORE_CLI_CLI_H

#include "core/plugin/plugins.h"
#include "core/recipe/recipe.h"
#include "core/render/table.h"
#include "core/stats/numbers.h"
#include "core/workspace/workspace.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, the same for every command. */
enum {
    ORCH_EXIT_OK = 0,
    ORCH_EXIT_TRIAL = 1,
    ORCH_EXIT_USAGE = 2,
    ORCH_EXIT_STORE = 3,
    ORCH_EXIT_PLUGIN = 4,
    ORCH_EXIT_BUDGET = 6,
    ORCH_EXIT_CHECK = 7,
    ORCH_EXIT_INCOMPLETE = 8, /* `submit`: the hand-in was written, but some parts are open */
    ORCH_EXIT_INTERRUPTED = 130,
    ORCH_EXIT_TERMINATED = 143,
};

enum orch_option_kind {
    ORCH_OPT_FLAG,  /* bool */
    ORCH_OPT_TEXT,  /* const char *, NULL when absent */
    ORCH_OPT_INT,   /* int */
    ORCH_OPT_COUNT, /* int of at least 1; 0 when absent */
    ORCH_OPT_REAL,  /* double */
    ORCH_OPT_LIST,  /* const char **, NULL-terminated, NULL when absent; may be repeated */
};

struct orch_option {
    const char *name;  /* long name without dashes; NULL ends a table */
    char letter;       /* or 0 */
    const char *value; /* placeholder of the value in help, such as "N"; NULL for flags */
    enum orch_option_kind kind;
    size_t offset;     /* offset of the field in the command's option struct */
    const char *help;  /* one line of at most 72 characters */
    const char *group; /* heading above it in help, set by orch_command_options; NULL: none */
    bool is_rare;      /* likewise: left out of the short help */
    bool is_of_trial;  /* decides what a trial is or how its program runs, so that the command that
                          makes a run again has it, too; not where, how many or whether to start */
};
/** One row of a table of options: the struct and its member that the option sets, FLAG, TEXT or
 * LIST, the long name, then the other members: .letter = 'n', .value = "N", .help = "...". */
#define ORCH_OPTION(type, member, kind_, name_, ...)                                               \
    {                                                                                              \
        .name = name_, .kind = ORCH_OPT_##kind_, .offset = offsetof(type, member), __VA_ARGS__     \
    }

struct orch_cli;

/** A heading in a command's help. */
struct orch_option_group {
    const char *heading; /* NULL ends a table */
    const char *names;   /* of the options below it, between blanks; those with a '-' in front are
                            rare: the short help, one screen, leaves them out */
};

/** A command, which a feature lists in its descriptor. */
struct orch_command {
    const char *name;       /* "run", "db check" */
    const char *group;      /* heading in the list of commands, a word of GROUPS (commands.c) */
    bool is_listed;         /* in the short list of `orch help`, which is one screen */
    const char *family;     /* of the first command of several words that begin alike: what they
                               are about, a line of the short list; NULL */
    const char *summary;    /* one line */
    const char *usage;      /* the arguments after the name and the options: "RECIPE [NAME...]" */
    int min_args, max_args; /* max_args -1: any number */
    const struct orch_option *options; /* or NULL */
    size_t option_bytes;
    const struct orch_option_group *groups; /* of its options in help, or NULL */
    bool pages;           /* its output may be long, and is shown by the pager on a terminal */
    bool keeps_rest;      /* arguments after "--" are passed to a program */
    const char *about;    /* paragraphs for help and the man page, or NULL */
    const char *examples; /* lines of "command  # what it does", or NULL */
    /** Runs the command. Returns the exit status; -1 with an error set. */
    int (*run)(struct orch_cli *cli, const void *options, GError **error);
};

extern const struct orch_option ORCH_COMMON_OPTIONS[];
/** The number of words of the common option with which a command line begins, 1 or 2: common
 * options may precede the command. 0: it begins with no such option, or with one for help. */
int orch_common_option_words(int argc, char *const *argv);

/** A word that users of other programs may type as a command. */
struct orch_typed_word {
    const char *word, *hint; /* word NULL ends a table */
};

struct orch_feature;

/** The program `orch` with the given features (NULL-terminated; the first is ORCH_CORE). Returns
 * the exit status. */
int orch_main(int argc, char **argv, const struct orch_feature *const *features);
/** What 'orch --version' prints: version, plugin ABI and store schema. The caller frees. */
char *orch_cli_version(void);

/** The state that every command receives. */
struct orch_cli {
    const struct orch_command *command;
    const char **args; /* positional arguments */
    int arg_count;
    const char **rest; /* arguments after "--" (keeps_rest), NULL-terminated, or NULL */
    GPtrArray *given;  /* const char *: the long names of the options on the command line */
    GArray *parts;     /* struct orch_cli_part: what features add to the command (parts.h) */
    char **argv;       /* as typed */
    int argc;
    /* common options */
    const char *db, *directory, *who;
    const char **plugin_paths;
    bool json, quiet, verbose, help, no_pager;
    const char *color;  /* auto, always, never */
    const char *format; /* format of tables, for commands without their own --format; NULL: text */
    /* set by a command before it reads a recipe: an experiment whose plugin is not trusted is then
     * an error, instead of being left out with a warning like those whose plugin is not there */
    bool needs_every_plugin;
    /* opened on first use, freed at the end */
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    bool stdout_is_tty, stderr_is_tty;
};

/* ---- helpers of commands (shared.c) -----------------------------------------------------------
 */

/** Returns the workspace of `folder` (NULL: the current one). Borrowed. */
struct orch_workspace *orch_cli_workspace(struct orch_cli *cli, const char *folder, GError **error);
/** Opens the store of the current folder in `mode`; an error with a hint when there is none. */
struct orch_store *orch_cli_store(struct orch_cli *cli, enum orch_store_mode mode, GError **error);
struct orch_plugins *orch_cli_plugins(struct orch_cli *cli);
/** Takes in runs that have ended elsewhere, before the current runs are shown or used. */
void orch_cli_take_in(struct orch_cli *cli);
/** Whether an option, by its long name, is on the command line. */
bool orch_cli_is_given(const struct orch_cli *cli, const char *option);
/** Returns recipes/ or, without it, the current folder, in which bare names of plugins are also
 * looked up. The caller frees. */
char *orch_cli_recipe_folder(void);

/** What the options -s, -x, --profile, --part and --smoke select of a recipe. */
struct orch_variant {
    const char *profile;
    const char **settings, **sweeps;
    const char *part;
    bool smoke;
    bool leaves_out_unnamed; /* as of struct orch_recipe_options: set by commands that run trials */
};
#define ORCH_VARIANT_OPTIONS(type, member)                                                         \
    ORCH_OPTION(type, member.settings, LIST, "set", .letter = 's', .value = "[EXP.]PARAM=VALUE",   \
                .help = "set a parameter to one value", .is_of_trial = true),                      \
        ORCH_OPTION(type, member.sweeps, LIST, "sweep", .letter = 'x',                             \
                    .value = "[EXP.]PARAM=A,B,...",                                                \
                    .help = "give a parameter several values: lr=0.1,0.01 or n='range(1,8)'"),     \
        ORCH_OPTION(type, member.profile, TEXT, "profile", .letter = 'p', .value = "NAME",         \
                    .help = "use this profile (variant of the recipe), not the default one",       \
                    .is_of_trial = true)
#define ORCH_PART_OPTION(type, member)                                                             \
    ORCH_OPTION(type, member.part, TEXT, "part", .value = "K/N",                                   \
                .help = "only every N-th trial: 2/5 selects trials 2, 7, 12, ...")
#define ORCH_SMOKE_OPTION(type, member)                                                            \
    ORCH_OPTION(type, member.smoke, FLAG, "smoke",                                                 \
                .help = "quick test: two steps on synthetic data, nothing is recorded")

/** Reads a recipe, opens the workspace of its folder, and prints warnings. `targets`: use cli->args
 * from the second on as targets. NULL on error; `error` then has all findings. */
struct orch_expansion *orch_cli_recipe(struct orch_cli *cli, const char *path,
                                       const struct orch_variant *variant, GError **error);
/** Prints the warnings in `diags` to stderr. */
void orch_cli_warnings(struct orch_cli *cli, const struct orch_diags *diags);
/** Warns when the captured source tree is incomplete: it is in no repository, or files were left
 * out. */
void orch_cli_warn_of_source(struct orch_cli *cli);
/** Prints "orch: warning: ..." to stderr, unless --quiet. */
void orch_cli_warn(struct orch_cli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Prints each text (char *) as a warning. */
void orch_cli_warn_all(struct orch_cli *cli, const GPtrArray *texts);
/** Prints a message line to stderr, unless --quiet. */
void orch_cli_info(struct orch_cli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* ---- output (out.c) ---------------------------------------------------------------------------
 */

/** Prints text that may contain untrusted parts to stdout; escape sequences are neutralised. */
void orch_cli_print(const char *format, ...) G_GNUC_PRINTF(1, 2);
/** The same for text that must stay on one line. */
void orch_cli_print_line(const char *format, ...) G_GNUC_PRINTF(1, 2);

/** Prints a table to stdout, aligned or in the format of --format, and frees it. Under --json:
 * {"schema_version":1, "NAME":[{...}]}. */
void orch_cli_table_print(struct orch_cli *cli, struct orch_table *table, const char *name);
/** The same with an explicit format; --json takes precedence. */
void orch_cli_table_print_as(struct orch_cli *cli, struct orch_table *table, const char *name,
                             const char *format);
/** Returns the rows as JSON (new reference), or as aligned text with room for an indent of two;
 * both free the table. */
json_t *orch_cli_table_to_json(struct orch_table *table);
char *orch_cli_table_to_text(struct orch_table *table, bool color);
/** Checks the name of a table format. False with ORCH_ERROR_USAGE. */
bool orch_cli_format_check(const char *name, GError **error);
/** Writes the output of a trial to a terminal without control sequences, except the carriage return
 * of progress bars. `text` needs room for one more byte, and is modified during the call. */
void orch_cli_write_plain(char *text, size_t length);
/** Writes data, such as a table in CSV, to stdout: on a terminal without control sequences, and
 * elsewhere byte by byte as it is. */
void orch_cli_write_data(const struct orch_cli *cli, const char *text, size_t length);
/** Prints one JSON object with schema_version to stdout. Takes ownership. */
void orch_cli_print_json(json_t *object);
/** Whether this process has printed its JSON, to which nothing may be added. */
bool orch_cli_json_is_printed(void);
/** Prints JSON without schema_version, for a document whose form others prescribe. */
void orch_cli_print_json_bare(json_t *array);
/** Returns the width of the terminal at a file descriptor in columns, $COLUMNS first; 0: not a
 * terminal, or unknown (pager.c). */
int orch_terminal_columns(int fd);
/** Returns whether stdout (or stderr) should be coloured. */
bool orch_cli_color(const struct orch_cli *cli, bool on_stderr);

/* ---- help (help.c) ----------------------------------------------------------------------------
 */

void orch_help_overview(FILE *out, bool all);
void orch_help_command(FILE *out, const struct orch_command *command, bool whole);
/** Prints the commands that begin with a word ("predictor") with their summaries. False, without
 * output, when there are none. */
bool orch_help_group(FILE *out, const char *word);
/** Sets the error for an unknown command, with the nearest command, or orch's name for a command
 * known from other tools. */
void orch_command_unknown(int argc, const char *const *argv, GError **error);
/** Returns the commands of all features in the order of help, ended by NULL. */
const struct orch_command *const *orch_commands(void);
/** Finds a command by name; NULL when there is none. */
const struct orch_command *orch_command_find(const char *name);

/** Parses options and arguments (options.c). False with ORCH_ERROR_USAGE. */
bool orch_options_parse(struct orch_cli *cli, int argc, char **argv, void *options, GError **error);
/** Returns a word as it is typed in a shell, quoted where that is needed. The caller frees. */
char *orch_cli_shell_word(const char *word);
/** Parses an integer from 1 to `most`; `*inout` is unchanged when `text` is NULL. False with
 * ORCH_ERROR_USAGE, which names the option. */
bool orch_cli_count(const char *text, const char *option, int64_t most, int64_t *inout,
                    GError **error);

#endif
