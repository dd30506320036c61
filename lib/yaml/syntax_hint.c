/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/yaml/syntax_hint.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* Copies that line and the next one, which may begin with a tab. */
static char *lines_copy(const char *text, size_t length, int line)
{
    const char *start = text, *end = text + length;
    for (int i = 1; i < line && start < end; i++) {
        const char *next = memchr(start, '\n', (size_t)(end - start));
        start = next ? next + 1 : end;
    }
    const char *stop = memchr(start, '\n', (size_t)(end - start));
    if (stop)
        stop = memchr(stop + 1, '\n', (size_t)(end - stop - 1));
    return g_strndup(start, (size_t)((stop ? stop : end) - start));
}

static bool is_indented_by_tab(const char *line)
{
    return line && memchr(line, '\t', strspn(line, " \t"));
}

/* True for a key without ": " before its value: "plugin:sleep" or "plugin = sleep". */
static bool lacks_space(const char *line)
{
    const char *key = line + strspn(line, " -");
    size_t length = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length && key[length] == ':' && key[length + 1] && key[length + 1] != ' ';
}

static bool has_equals(const char *line)
{
    const char *key = line + strspn(line, " -");
    size_t length = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_ ");
    return length && key[length] == '=';
}

static bool has_bare_braces(const char *line)
{
    const char *dollar = strstr(line, "${");
    return dollar && (dollar == line || !strchr("\"'", dollar[-1]));
}

static bool has_two_colons(const char *line)
{
    const char *colon = strstr(line, ": ");
    bool is_flow = colon && memchr(line, '{', (size_t)(colon - line));
    return colon && !is_flow && strstr(colon + 1, ": ") && !strchr("[{\"'", colon[2]);
}

/* The usual causes, by the look of the line and by the library's message (NULL: any). */
static const struct {
    bool (*looks)(const char *line);
    const char *message;
    const char *hint;
} SLIPS[] = {
    {has_bare_braces, NULL, "put quotes around a text with braces: \"${pretrain.weights}\""},
    {has_two_colons, NULL, "put quotes around a text that holds ': '"},
    {lacks_space, NULL, "write a space after the colon: 'plugin: sleep'"},
    {has_equals, NULL, "write a colon and a space: 'plugin: sleep'"},
    {NULL, "cannot start with", "put quotes around a text that begins with this sign"},
    {NULL, "trailing content after",
     "put quotes around the whole text; an apostrophe within '...' is written ''"},
    {NULL, "quoted scalar", "end the text with the same quote with which it begins"},
    {NULL, "block sequence on the same line",
     "put quotes around a text that begins with '- ', or write [a, b]"},
    {NULL, "flow ", "close every '[' with ']' and every '{' with '}', with commas between"},
    {NULL, "invalid value after mapping", "put quotes around a text that begins with a bracket"},
    {NULL, "indentation in mapping", "begin the keys of one map in the same column"},
    {NULL, "multiline plain key",
     "end this line's key with ': ', or indent the next line like this one"},
};

/* The nearest line above number `line` that is neither blank nor a comment, or NULL. The caller
 * frees. */
static char *line_above_copy(const char *text, size_t length, int line)
{
    while (--line > 0) {
        g_autofree char *lines = lines_copy(text, length, line);
        lines[strcspn(lines, "\r\n")] = 0;
        if (!strchr("#", lines[strspn(lines, " \t")]))
            return g_steal_pointer(&lines);
    }
    return NULL;
}

/* A line within a map that has no key: "plugin sleep", "plugin:sleep". */
static bool has_no_key(const char *line)
{
    const char *comment = strstr(line, " #");
    g_autofree char *code = comment ? g_strndup(line, (size_t)(comment - line)) : g_strdup(line);
    g_strchomp(code);
    size_t length = strlen(code);
    return g_ascii_isalpha(code[strspn(code, " ")]) && !strstr(code, ": ") &&
           !strchr(":,]}\"'", code[length - 1]);
}

/* Finds the cause where the parser stumbles one line later: NULL where the line above is well. */
static const char *hint_of_line_above(const char *above, const char *message)
{
    if (!strstr(message, "indentation in mapping"))
        return NULL;
    if (above && has_no_key(above))
        return "write a colon and a space in the line above: 'plugin: sleep'";
    return NULL;
}

/* Finds the usual cause from the line, the next one (modifies `lines`) and the library's message.
 */
static const char *hint_of_line(char *lines, const char *message)
{
    char *next = strchr(lines, '\n');
    if (is_indented_by_tab(lines) || is_indented_by_tab(next ? next + 1 : NULL))
        return "indent with spaces: a tab is not allowed there";
    if (next)
        *next = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(SLIPS); i++)
        if ((!SLIPS[i].looks || SLIPS[i].looks(lines)) &&
            (!SLIPS[i].message || strstr(message, SLIPS[i].message)))
            return SLIPS[i].hint;
    return "look at this line and the one before it: indentation, brackets, quotes";
}

const char *orch_yaml_syntax_hint(const char *text, size_t length, int line, const char *message)
{
    g_autofree char *lines = lines_copy(text, length, line);
    g_autofree char *above = line_above_copy(text, length, line);
    const char *hint = hint_of_line_above(above, message);
    return hint ? hint : hint_of_line(lines, message);
}
