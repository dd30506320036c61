/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison for systems of continuous integration, which show it beside a change. */
#include "features/compare/compare_show.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

enum orch_compare_ci orch_compare_ci_find(const char *name)
{
    return g_strcmp0(name, "junit") == 0    ? ORCH_COMPARE_JUNIT
           : g_strcmp0(name, "github") == 0 ? ORCH_COMPARE_GITHUB
                                            : ORCH_COMPARE_NO_CI;
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* Text of XML, without the characters that XML cannot hold. The caller frees. */
static char *xml(const char *text)
{
    g_autofree char *plain = orch_text_line(g_utf8_make_valid(text, -1));
    return g_markup_escape_text(plain, -1);
}

static void print_case(const struct orch_comparison *c, const struct orch_compare_row *row)
{
    g_autofree char *name = xml(row->name), *verdict_given = orch_cli_compare_verdict(c, row);
    g_autofree char *verdict = xml(verdict_given),
                    *task = xml(row->task ? row->task : "orch compare");
    printf("    <testcase classname=\"%s\" name=\"%s\">\n", task, name);
    if (row->broken) {
        g_autofree char *why = xml(row->broken);
        printf("      <failure message=\"%s\" type=\"limit\">%s</failure>\n", why, why);
    } else if (row->is_refused) {
        printf("      <skipped message=\"%s\"/>\n", verdict);
    }
    printf("      <system-out>%s</system-out>\n    </testcase>\n", verdict);
}

static void print_junit(const struct orch_comparison *c)
{
    guint failed = 0, skipped = 0;
    for (guint i = 0; i < c->rows->len; i++) {
        const struct orch_compare_row *row = c->rows->pdata[i];
        failed += row->broken != NULL;
        skipped += !row->broken && row->is_refused;
    }
    g_autofree char *a = xml(c->sides[0].name), *b = xml(c->sides[1].name);
    printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<testsuites name=\"orch compare\" tests=\"%u\" failures=\"%u\">\n"
           "  <testsuite name=\"%s against %s\" tests=\"%u\" failures=\"%u\" errors=\"0\" "
           "skipped=\"%u\">\n",
           c->rows->len, failed, b, a, c->rows->len, failed, skipped);
    for (guint i = 0; i < c->rows->len; i++)
        print_case(c, c->rows->pdata[i]);
    printf("  </testsuite>\n</testsuites>\n");
}

/* ---- GitHub ---------------------------------------------------------------------------------- */

/* Prints a command of the runner. A line end or a colon of the text would end the command. */
static void annotate(const char *level, const char *message)
{
    g_autoptr(GString) text = g_string_new(message);
    g_string_replace(text, "%", "%25", 0);
    g_string_replace(text, "\r", "%0D", 0);
    g_string_replace(text, "\n", "%0A", 0);
    orch_cli_print_line("::%s title=orch compare::%s", level, text->str);
}

static bool write_summary(const struct orch_comparison *c, const char *path, GError **error)
{
    struct orch_table *table = orch_cli_compare_table(c);
    g_autofree char *text = orch_table_format(table, ORCH_TABLE_MARKDOWN);
    orch_table_free(table);
    FILE *file = fopen(path, "a");
    if (file)
        fprintf(file, "### %s against %s\n\n%s\n", c->sides[1].name, c->sides[0].name, text);
    if (file && fclose(file) == 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write the summary '%s'", path);
    return false;
}

static bool print_github(const struct orch_comparison *c, GError **error)
{
    const char *summary = g_getenv("GITHUB_STEP_SUMMARY");
    for (guint i = 0; i < c->broken->len; i++)
        annotate("error", c->broken->pdata[i]);
    for (guint i = 0; i < c->unsure->len; i++)
        annotate("warning", c->unsure->pdata[i]);
    for (guint i = 0; i < c->rows->len; i++) {
        const struct orch_compare_row *row = c->rows->pdata[i];
        g_autofree char *verdict = orch_cli_compare_verdict(c, row);
        g_autofree char *text = g_strdup_printf("%s%s%s: %s", row->task ? row->task : "",
                                                row->task ? ", " : "", row->name, verdict);
        if (!row->broken)
            annotate("notice", text);
    }
    return !summary || !*summary || write_summary(c, summary, error);
}

bool orch_cli_compare_ci_show(struct orch_cli *cli, enum orch_compare_ci form,
                              const struct orch_comparison *c, GError **error)
{
    (void)cli;
    if (form == ORCH_COMPARE_GITHUB)
        return print_github(c, error);
    print_junit(c);
    return true;
}
