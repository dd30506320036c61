/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

bool orch_cli_color(const struct orch_cli *cli, bool on_stderr)
{
    if (cli->color && strcmp(cli->color, "auto") != 0)
        return strcmp(cli->color, "always") == 0;
    static const char *const forces[] = {"FORCE_COLOR", "CLICOLOR_FORCE"};
    const char *no = g_getenv("NO_COLOR");
    if (no && *no)
        return false;
    for (unsigned i = 0; i < G_N_ELEMENTS(forces); i++) {
        const char *force = g_getenv(forces[i]);
        if (force && *force && strcmp(force, "0") != 0 && strcmp(force, "false") != 0)
            return true;
    }
    return (on_stderr ? cli->stderr_is_tty : cli->stdout_is_tty) &&
           g_strcmp0(g_getenv("TERM"), "dumb") != 0;
}

char *orch_cli_shell_word(const char *word)
{
    bool is_plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_./=,:@%+") == strlen(word);
    return is_plain ? g_strdup(word) : g_shell_quote(word);
}

void orch_cli_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = orch_text_plain(g_strdup_vprintf(format, args));
    va_end(args);
    puts(text);
}

void orch_cli_print_line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = orch_text_line(g_strdup_vprintf(format, args));
    va_end(args);
    puts(text);
}

void orch_cli_write_data(const struct orch_cli *cli, const char *text, size_t length)
{
    if (!cli->stdout_is_tty) {
        fwrite(text, 1, length, stdout);
        return;
    }
    g_autoptr(GString) shown = g_string_new_len(text, (gssize)length);
    g_string_replace(shown, "\r\n", "\n", 0);
    g_strdelimit(shown->str, "\r", '?');
    orch_cli_write_plain(shown->str, shown->len);
}

void orch_cli_write_plain(char *text, size_t length)
{
    for (char *at = text, *end = text + length; at < end; at++) {
        char *stop = at;
        while (stop < end && *stop && *stop != '\r')
            stop++;
        char kept = *stop;
        *stop = 0;
        fputs(orch_text_plain(at), stdout);
        if (stop < end)
            putchar(kept ? kept : '?');
        *stop = kept;
        at = stop;
    }
}

/* Whether JSON was printed: a part of the state of stdout, which is the process's own, too. */
static bool has_document;

bool orch_cli_json_is_printed(void)
{
    return has_document;
}

/* Writes JSON: results that were computed with 15 digits, and `is_exact`, what is stored with as
 * few as give the same number again. Jansson escapes the characters below the space; other
 * characters that control terminals are escaped here, which decodes to the same text. */
static void put_json(json_t *value, size_t flags, bool is_exact)
{
    flags |= JSON_INDENT(2);
    char *text = is_exact ? orch_json_dump(value, flags)
                          : json_dumps(value, flags | JSON_REAL_PRECISION(15));
    if (!text) { /* internal error: a NULL, or a text that is not UTF-8 */
        fputs("orch: cannot write the answer as JSON\n"
              "  hint: please report this, with the command\n",
              stderr);
        exit(ORCH_EXIT_STORE);
    }
    has_document = true;
    g_autofree char *escaped = orch_json_escape_hidden(text);
    fputs(escaped, stdout);
    putchar('\n');
    free(text); /* of malloc in both cases: GLib's memory is */
}

static void print_object(json_t *object, bool is_exact)
{
    json_object_set_new(object, "schema_version", json_integer(1));
    put_json(object, JSON_SORT_KEYS, is_exact);
    json_decref(object);
}

void orch_cli_print_json(json_t *object)
{
    print_object(object, false);
}

void orch_cli_print_json_bare(json_t *array)
{
    put_json(array, 0, false);
}

json_t *orch_cli_table_to_json(struct orch_table *table)
{
    json_t *rows = orch_table_json(table);
    orch_table_free(table);
    return rows;
}

char *orch_cli_table_to_text(struct orch_table *table, bool color)
{
    int columns = orch_terminal_columns(STDOUT_FILENO);
    char *text = orch_table_aligned(table, color, columns ? columns - 2 : 0); /* less the indent */
    orch_table_free(table);
    return text;
}

bool orch_cli_format_check(const char *name, GError **error)
{
    enum orch_table_format format;
    return orch_table_format_parse(name, &format, error);
}

void orch_cli_table_print_as(struct orch_cli *cli, struct orch_table *table, const char *name,
                             const char *format)
{
    enum orch_table_format chosen;
    bool is_text = !orch_table_format_parse(format, &chosen, NULL) || chosen == ORCH_TABLE_TEXT;
    if (cli->json) {
        print_object(json_pack("{s:o}", name, orch_table_json(table)), true);
    } else {
        g_autofree char *text = is_text ? orch_table_aligned(table, orch_cli_color(cli, false),
                                                             orch_terminal_columns(STDOUT_FILENO))
                                        : orch_table_format(table, chosen);
        if (is_text)
            fputs(text, stdout); /* with orch's own colours; the table has cleaned its cells */
        else
            orch_cli_write_data(cli, text, strlen(text));
    }
    orch_table_free(table);
}

void orch_cli_table_print(struct orch_cli *cli, struct orch_table *table, const char *name)
{
    orch_cli_table_print_as(cli, table, name, cli->format);
}
