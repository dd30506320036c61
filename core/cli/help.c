/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates help from the table of commands in three forms: for the terminal, as a page of
 * docs/commands, and as a man page. */
#include "core/cli/parts.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <limits.h>
#include <string.h>

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

void orch_help_overview(FILE *out, bool all)
{
    fputs("orch runs experiments from recipes, and records every result under the git tree\n"
          "that made it.\n\n"
          "The five most used commands:\n\n"
          "  orch run RECIPE     run what is missing; run it again to resume\n"
          "  orch plan RECIPE    show what would run, and why\n"
          "  orch ls             list the recorded runs\n"
          "  orch show RUN       show all of one run\n"
          "  orch best METRIC    rank settings, and test the winner's lead\n\n",
          out);
    const char *advice = orch_advice(ORCH_ADVICE_OVERVIEW, NULL);
    if (advice)
        fprintf(out, "%s\n", advice);
    const char *group = NULL;
    int columns = orch_terminal_columns(fileno(out));
    for (const struct orch_command *const *c = orch_commands(); all && *c; c++) {
        const struct orch_command *command = *c;
        if (g_strcmp0(group, command->group) != 0)
            fprintf(out, "%s%s:\n\n", group ? "\n" : "", command->group);
        group = command->group;
        g_autofree char *line = g_strdup_printf("  %-19s %s", command->name, command->summary);
        print_wrapped(out, line, columns < 60 ? INT_MAX : columns, 22);
    }
    fputs(
        all ? "\n'orch COMMAND --help' shows the options of a command, 'orch help options' those\n"
              "that every command has.\n"
            : "'orch help' lists all commands, 'orch help COMMAND' describes one.\n",
        out);
}

static void append_options(GString *out, const struct orch_option *options, const char *heading)
{
    if (!options || !options->name)
        return;
    g_string_append_printf(out, "\n%s:\n", heading);
    for (; options->name; options++) {
        g_autofree char *left = g_strdup_printf(
            "%s%c%s--%s%s%s", options->letter ? "-" : "  ", options->letter ? options->letter : ' ',
            options->letter ? ", " : " ", options->name, options->value ? " " : "",
            options->value ? options->value : "");
        g_string_append_printf(out, "  %-30s %s\n", left, options->help);
    }
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
    append_options(out, ORCH_COMMON_OPTIONS, "options of every command");
    g_string_append(
        out, "\n"
             "Long names can be abbreviated while they are unique. '--' ends the options.\n");
    return g_string_free(out, FALSE);
}

static char *help_text(const struct orch_command *command)
{
    GString *out = g_string_new(NULL);
    g_autofree char *usage = usage_line(command);
    g_string_append_printf(out, "orch %s - %s\n\nusage: %s\n", command->name, command->summary,
                           usage);
    g_autofree char *about = orch_command_about(command);
    g_autofree char *examples = orch_command_examples(command);
    g_autofree struct orch_option *options = orch_command_options(command);
    if (about)
        g_string_append_printf(out, "\n%s\n", about);
    append_options(out, options, "options");
    append_common_line(out, options);
    if (examples)
        g_string_append_printf(out, "\nexamples:\n%s\n", examples);
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

void orch_help_command(FILE *out, const struct orch_command *command)
{
    g_autofree char *text = help_text(command);
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

char *orch_help_markdown(const struct orch_command *command)
{
    g_autofree char *text = help_text(command);
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

char *orch_help_man(const struct orch_command *command)
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
};

static const struct orch_option HELP_OPTIONS[] = {
    ORCH_OPTION(struct help_options, markdown, TEXT, "markdown", .value = "DIR",
                .help = "write every command's page into DIR (docs/commands)"),
    ORCH_OPTION(struct help_options, man, TEXT, "man", .value = "DIR",
                .help = "write every command's man page into DIR"),
    {0}};

/* Generates orch(1), the overview; each command has a page of its own. */
static char *man_overview(void)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(
        out,
        ".TH ORCH 1 \"\" \"orch %s\" \"orch manual\"\n.SH NAME\norch \\- run "
        "experiments from recipes and record every result\n.SH SYNOPSIS\n.B orch\n"
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
    GString *index =
        g_string_new("# Commands\n\nMade by `orch help --markdown docs/commands` from the "
                     "table that the program itself uses.\n\n");
    bool ok = orch_dir_make(folder, error);
    for (const struct orch_command *const *c = orch_commands(); ok && *c; c++) {
        g_autofree char *dashed = g_strdelimit(g_strdup((*c)->name), " ", '-');
        g_autofree char *name = g_strdup_printf(man ? "orch-%s.1" : "%s.md", dashed);
        g_autofree char *text = man ? orch_help_man(*c) : orch_help_markdown(*c);
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
        orch_help_overview(stdout, true);
        return ORCH_EXIT_OK;
    }
    g_autofree char *name = g_strjoinv(" ", (char **)(void *)cli->args);
    const struct orch_command *command = orch_command_find(name);
    if (strcmp(name, "options") == 0) {
        g_autofree char *text = common_options_text();
        print_help_text(stdout, text);
        return ORCH_EXIT_OK;
    }
    if (command) {
        orch_help_command(stdout, command);
        return ORCH_EXIT_OK;
    }
    if (orch_help_group(stdout, name))
        return ORCH_EXIT_OK;
    orch_command_unknown(cli->arg_count, cli->args, error);
    return -1;
}

const struct orch_command ORCH_COMMAND_HELP = {
    .name = "help",
    .group = "Maintenance",
    .summary = "list the commands, or describe one",
    .usage = "[COMMAND|options]",
    .max_args = 3,
    .options = HELP_OPTIONS,
    .option_bytes = sizeof(struct help_options),
    .run = run_help,
};
