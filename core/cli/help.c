/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates help from the table of commands in three forms: for the terminal, as a page of
 * docs/commands, and as a man page. */
#include "core/cli/manual.h"
#include "core/cli/parts.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { SHORT_EXAMPLES = 4 }; /* lines of examples in the help of one screen */

/* Wraps a line to `columns` at spaces; continuation lines begin with `indent` spaces. */
static void print_wrapped(FILE *out, const char *line, int columns, int indent)
{
    int at = 0;
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    for (int i = 0; words[i]; i++) {
        int width = orch_text_columns(words[i]);
        bool breaks = at > indent && at + 1 + width > columns;
        if (breaks)
            fprintf(out, "\n%*s", indent, "");
        else if (i)
            fputc(' ', out);
        at = breaks ? indent + width : at + (i > 0) + width;
        fputs(words[i], out);
    }
    fputc('\n', out);
}

static void print_command_line(FILE *out, const char *name, const char *summary, int columns)
{
    g_autofree char *line = g_strdup_printf("  %-19s %s", name, summary);
    print_wrapped(out, line, columns < 60 ? INT_MAX : columns, 22);
}

static void list_commands(FILE *out, bool all, int columns)
{
    const char *group = NULL;
    for (const struct orch_command *const *c = orch_commands(); *c; c++) {
        if (!all && !(*c)->is_listed)
            continue;
        if (g_strcmp0(group, (*c)->group) != 0)
            fprintf(out, "\n%s:\n", (*c)->group);
        group = (*c)->group;
        print_command_line(out, (*c)->name, (*c)->summary, columns);
    }
}

/* A line for each group of commands that begin with the same word. */
static void list_families(FILE *out, int columns)
{
    fputs("\nMore commands ('orch db' lists those of db):\n", out);
    for (const struct orch_command *const *c = orch_commands(); *c; c++) {
        g_autofree char *word = g_strndup((*c)->name, strcspn((*c)->name, " "));
        if ((*c)->family)
            print_command_line(out, word, (*c)->family, columns);
    }
}

void orch_help_overview(FILE *out, bool all)
{
    int columns = orch_terminal_columns(fileno(out));
    fputs("orch runs experiments, and keeps every result with the source code that made it.\n\n"
          "usage: orch COMMAND [OPTION...] [ARGUMENT...]\n",
          out);
    list_commands(out, all, columns);
    if (!all) {
        list_families(out, columns);
        fputs("\n'orch help -a' lists all commands, 'orch help COMMAND' explains one.\n", out);
    }
    fputs("'orch help TOPIC' prints a page of the manual, 'orch help topics' all topics.\n", out);
}

static void append_option(GString *out, const struct orch_option *option)
{
    g_autofree char *left =
        g_strdup_printf("%s%c%s--%s%s%s", option->letter ? "-" : "  ",
                        option->letter ? option->letter : ' ', option->letter ? ", " : " ",
                        option->name, option->value ? " " : "", option->value ? option->value : "");
    g_string_append_printf(out, "  %-30s %s\n", left, option->help);
}

/* Appends the options that have this heading; NULL is that of options without one. */
static void append_options(GString *out, const struct orch_option *options, const char *group,
                           const char *heading, bool with_rare)
{
    bool has_any = false;
    for (; options && options->name; options++) {
        if (g_strcmp0(options->group, group) != 0 || (options->is_rare && !with_rare))
            continue;
        if (!has_any)
            g_string_append_printf(out, "\n%s:\n", heading);
        has_any = true;
        append_option(out, options);
    }
}

/* Appends all options, by the headings in the order in which they occur first; those without one
 * come last. */
static void append_groups(GString *out, const struct orch_option *options, bool with_rare)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (const struct orch_option *o = options; o->name; o++)
        if (o->group && g_hash_table_add(seen, (char *)(uintptr_t)o->group))
            append_options(out, options, o->group, o->group, with_rare);
    append_options(out, options, NULL, g_hash_table_size(seen) ? "other options" : "options",
                   with_rare);
}

static char *usage_line(const struct orch_command *command)
{
    g_autofree struct orch_option *options = orch_command_options(command);
    return g_strdup_printf("orch %s%s%s%s", command->name, options->name ? " [OPTION...]" : "",
                           *command->usage ? " " : "", command->usage);
}

/* Replaces the list of common options in the help of each command, whose own option 'format' may
 * have other values. */
static void append_common_line(GString *out, const struct orch_option *own)
{
    bool has_format = false;
    for (; own && own->name; own++)
        has_format = has_format || strcmp(own->name, "format") == 0;
    g_string_append_printf(out,
                           "\n--json,%s --db FILE, -C DIR and others work with every command: see "
                           "'orch help options'\n",
                           has_format ? "" : " --format tsv,");
}

/* Returns the help topic 'options'. */
static char *common_options_text(void)
{
    GString *out = g_string_new("orch help options - the options that every command accepts\n");
    append_options(out, ORCH_COMMON_OPTIONS, NULL, "options of every command", true);
    g_string_append(out, "\n"
                         "Long option names can be abbreviated as long as they are unique. '--' "
                         "ends the options.\n");
    return g_string_free(out, FALSE);
}

static int rare_count(const struct orch_option *options)
{
    int count = 0;
    for (; options->name; options++)
        count += options->is_rare;
    return count;
}

/* Ends a text behind its first lines. */
static void keep_lines(char *text, int count)
{
    for (; *text; text++)
        if (*text == '\n' && --count == 0)
            *text = 0;
}

static void append_pointer(GString *out, const struct orch_command *command, bool has_more,
                           int options)
{
    if (options)
        g_string_append_printf(out, "\n'orch help %s' explains more, with %d more options.\n",
                               command->name, options);
    else if (has_more)
        g_string_append_printf(out, "\n'orch help %s' explains more.\n", command->name);
}

/* `whole`: all paragraphs, options and examples; else the first ones, for one screen. */
static char *help_text(const struct orch_command *command, bool whole)
{
    GString *out = g_string_new(NULL);
    g_autofree char *usage = usage_line(command);
    g_string_append_printf(out, "orch %s - %s\n\nusage: %s\n", command->name, command->summary,
                           usage);
    g_autofree char *about = orch_command_about(command);
    g_autofree char *examples = orch_command_examples(command);
    g_autofree struct orch_option *options = orch_command_options(command);
    char *more = about && !whole ? strstr(about, "\n\n") : NULL;
    if (more)
        *more = 0;
    if (about)
        g_string_append_printf(out, "\n%s\n", about);
    append_groups(out, options, whole);
    append_common_line(out, options);
    if (examples && !whole)
        keep_lines(examples, SHORT_EXAMPLES);
    if (examples)
        g_string_append_printf(out, "\nexamples:\n%s\n", examples);
    append_pointer(out, command, more, whole ? 0 : rare_count(options));
    return g_string_free(out, FALSE);
}

/* Wraps help text to the terminal's width. Descriptions of options stay in their column. */
static void print_help_text(FILE *out, const char *text)
{
    int columns = orch_terminal_columns(fileno(out));
    if (columns < 60) {
        fputs(text, out);
        return;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool in_examples = false;
    for (int i = 0; lines[i] && (lines[i + 1] || *lines[i]); i++) {
        in_examples = in_examples || strcmp(lines[i], "examples:") == 0;
        bool is_option = lines[i][0] == ' ';
        if (in_examples || orch_text_columns(lines[i]) <= columns)
            fprintf(out, "%s\n", lines[i]);
        else
            print_wrapped(out, lines[i], MIN(columns, 100), is_option ? 33 : 0);
    }
}

void orch_help_command(FILE *out, const struct orch_command *command, bool whole)
{
    g_autofree char *text = help_text(command, whole);
    print_help_text(out, text);
}

bool orch_help_group(FILE *out, const char *word)
{
    g_autofree char *prefix = g_strconcat(word, " ", NULL);
    int width = 0;
    for (const struct orch_command *const *c = orch_commands(); *c; c++)
        if (g_str_has_prefix((*c)->name, prefix))
            width = MAX(width, (int)strlen((*c)->name));
    if (!width)
        return false;
    fprintf(out, "orch %s - several commands\n\nusage: orch %s COMMAND\n\n", word, word);
    for (const struct orch_command *const *c = orch_commands(); *c; c++)
        if (g_str_has_prefix((*c)->name, prefix))
            fprintf(out, "  orch %-*s  %s\n", width, (*c)->name, (*c)->summary);
    fprintf(out,
            "\n"
            "'orch %s COMMAND --help' describes one.\n",
            word);
    return true;
}

static char *help_markdown(const struct orch_command *command)
{
    g_autofree char *text = help_text(command, true);
    return g_strdup_printf("# orch %s\n\n```text\n%s```\n", command->name, text);
}

static void append_roff(GString *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '-' || *p == '\\')
            g_string_append_c(out, '\\');
        if ((*p == '.' || *p == '\'') && (p == text || p[-1] == '\n'))
            g_string_append(out, "\\&");
        g_string_append_c(out, *p);
    }
}

static void roff_options(GString *out, const struct orch_option *options)
{
    for (; options && options->name; options++) {
        g_string_append(out, ".TP\n\\fB");
        if (options->letter)
            g_string_append_printf(out, "\\-%c\\fR, \\fB", options->letter);
        g_string_append(out, "\\-\\-");
        append_roff(out, options->name);
        g_string_append(out, "\\fR");
        if (options->value) {
            g_string_append(out, " \\fI");
            append_roff(out, options->value);
            g_string_append(out, "\\fR");
        }
        g_string_append_c(out, '\n');
        append_roff(out, options->help);
        g_string_append_c(out, '\n');
    }
}

static char *help_man(const struct orch_command *command)
{
    GString *out = g_string_new(NULL);
    g_autofree char *dashed = g_strdelimit(g_strdup(command->name), " ", '-');
    g_autofree char *upper = g_ascii_strup(dashed, -1);
    g_autofree char *usage = usage_line(command);
    g_string_append_printf(
        out, ".TH ORCH\\-%s 1 \"\" \"orch %s\" \"orch manual\"\n.SH NAME\norch\\-%s \\- ", upper,
        ORCH_VERSION, dashed);
    append_roff(out, command->summary);
    g_string_append(out, "\n.SH SYNOPSIS\n.B ");
    append_roff(out, usage);
    g_string_append_c(out, '\n');
    g_autofree char *about = orch_command_about(command);
    g_autofree char *examples = orch_command_examples(command);
    g_autofree struct orch_option *options = orch_command_options(command);
    if (about) {
        g_string_append(out, ".SH DESCRIPTION\n");
        g_auto(GStrv) paragraphs = g_strsplit(about, "\n\n", -1);
        for (int i = 0; paragraphs[i]; i++) {
            g_string_append(out, i ? ".PP\n" : "");
            append_roff(out, paragraphs[i]);
            g_string_append_c(out, '\n');
        }
    }
    g_string_append(out, ".SH OPTIONS\n");
    roff_options(out, options);
    g_string_append(out, ".PP\nThe options that every command has are in\n.BR orch (1).\n");
    if (examples) {
        g_string_append(out, ".SH EXAMPLES\n.nf\n");
        append_roff(out, examples);
        g_string_append(out, "\n.fi\n");
    }
    g_string_append(out,
                    ".SH EXIT STATUS\n0 well; 1 some trial failed; 2 usage or recipe; 3 store or "
                    "I/O; 4 plugin missing or incompatible; 6 stopped by budget or deadline; 7 "
                    "check failed; 8 handed in, but not complete; 130 interrupted.\n");
    return g_string_free(out, FALSE);
}

/* ---- orch help --------------------------------------------------------------------------------
 */

struct help_options {
    const char *markdown, *man;
    bool all;
};

static const struct orch_option HELP_OPTIONS[] = {
    ORCH_OPTION(struct help_options, all, FLAG, "all", .letter = 'a', .help = "list all commands"),
    ORCH_OPTION(struct help_options, markdown, TEXT, "markdown", .value = "DIR",
                .help = "write every command's page into DIR"),
    ORCH_OPTION(struct help_options, man, TEXT, "man", .value = "DIR",
                .help = "write every command's man page into DIR"),
    {0}};

/* Generates orch(1), the overview; each command has a page of its own. */
static char *man_overview(void)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(
        out,
        ".TH ORCH 1 \"\" \"orch %s\" \"orch manual\"\n.SH NAME\norch \\- run experiments from "
        "recipes and record every result\n.SH SYNOPSIS\n.B orch\n"
        ".I COMMAND\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH COMMANDS\n",
        ORCH_VERSION);
    for (const struct orch_command *const *c = orch_commands(); *c; c++) {
        g_autofree char *dashed = g_strdelimit(g_strdup((*c)->name), " ", '-');
        g_string_append(out, ".TP\n.BR orch\\-");
        append_roff(out, dashed);
        g_string_append(out, " (1)\n");
        append_roff(out, (*c)->summary);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, ".SH OPTIONS OF EVERY COMMAND\n");
    roff_options(out, ORCH_COMMON_OPTIONS);
    return g_string_free(out, FALSE);
}

static bool write_page(const char *folder, const char *name, const char *text, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return orch_file_write(path, text, strlen(text), false, error);
}

static bool write_pages(const char *folder, bool man, GError **error)
{
    GString *index = g_string_new("# Commands\n\nMade by `orch help --markdown docs/commands` from "
                                  "the table that the program itself uses.\n\n");
    bool ok = orch_dir_make(folder, error);
    for (const struct orch_command *const *c = orch_commands(); ok && *c; c++) {
        g_autofree char *dashed = g_strdelimit(g_strdup((*c)->name), " ", '-');
        g_autofree char *name = g_strdup_printf(man ? "orch-%s.1" : "%s.md", dashed);
        g_autofree char *text = man ? help_man(*c) : help_markdown(*c);
        ok = write_page(folder, name, text, error);
        g_string_append_printf(index, "- [orch %s](%s) - %s\n", (*c)->name, name, (*c)->summary);
    }
    g_autofree char *common = common_options_text();
    g_autofree char *common_page =
        g_strdup_printf("# orch help options\n\n```text\n%s```\n", common);
    g_string_append(index,
                    "- [orch help options](options.md) - the options that every command accepts\n");
    ok = ok && (man || write_page(folder, "options.md", common_page, error));
    g_autofree char *overview = man ? man_overview() : NULL;
    ok = ok && write_page(folder, man ? "orch.1" : "README.md", man ? overview : index->str, error);
    g_string_free(index, TRUE);
    return ok;
}

static int columns_of_text(void)
{
    int columns = orch_terminal_columns(STDOUT_FILENO);
    return columns < 60 ? INT_MAX : MIN(columns, 100);
}

/* Prints what there is to say of a command, a group of commands or a topic. False without an error
 * when there is nothing of that name. */
static bool explain(const char *name, GError **error)
{
    const struct orch_command *command = orch_command_find(name);
    const struct orch_help_topic *topic = orch_manual_topic(name);
    if (strcmp(name, "options") == 0) {
        g_autofree char *text = common_options_text();
        print_help_text(stdout, text);
        return true;
    }
    if (strcmp(name, "topics") == 0) {
        orch_manual_topics(stdout, true);
        return true;
    }
    if (command) {
        orch_help_command(stdout, command, true);
        return true;
    }
    return topic ? orch_manual_print(stdout, topic, columns_of_text(), error)
                 : orch_help_group(stdout, name);
}

static int unknown(const struct orch_cli *cli, GError **error)
{
    if (!error || !*error)
        orch_command_unknown(cli->arg_count, cli->args, error);
    return -1;
}

static int run_help(struct orch_cli *cli, const void *options, GError **error)
{
    const struct help_options *o = options;
    if (o->markdown || o->man) {
        if ((o->markdown && !write_pages(o->markdown, false, error)) ||
            (o->man && !write_pages(o->man, true, error)))
            return -1;
        return ORCH_EXIT_OK;
    }
    if (!cli->arg_count) {
        orch_help_overview(stdout, o->all);
        return ORCH_EXIT_OK;
    }
    g_autofree char *name = g_strjoinv(" ", (char **)(void *)cli->args);
    return explain(name, error) ? ORCH_EXIT_OK : unknown(cli, error);
}

const struct orch_command ORCH_COMMAND_HELP = {
    .name = "help",
    .group = "Maintain",
    .pages = true,
    .summary = "list the commands, explain one, or print a page of the manual",
    .usage = "[COMMAND|TOPIC|options|topics]",
    .max_args = 3,
    .options = HELP_OPTIONS,
    .option_bytes = sizeof(struct help_options),
    .run = run_help,
};
