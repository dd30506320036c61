/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch report --check`: whether the numbers of a report that was kept, for example in the
 * repository, are still those of the store. */
#include "core/cli/parts.h"
#include "features/pack/recheck.h"

#include "core/render/document.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#define REPORT_BYTES_MAX ((size_t)64 << 20)

struct check_options {
    const char *file;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct check_options, file, TEXT, "check", .value = "FILE.json",
                .help = "exit with 7 if the numbers differ from this file (made with --json)"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct check_options *)options)->file != NULL;
}

static bool look(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error)
{
    (void)cli, (void)options;
    g_autofree char *hint =
        subject->not_alone ? g_strdup_printf("leave %s out", subject->not_alone) : NULL;
    if (hint)
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "option '--check' compares the whole report, not a part of it");
    return !hint;
}

static json_t *read_report(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    size_t length;
    if (!orch_file_read(path, REPORT_BYTES_MAX, &text, &length, error))
        return NULL;
    json_t *report = orch_json_parse(text, length, REPORT_BYTES_MAX, NULL);
    if (json_is_array(json_object_get(report, "sections")))
        return report;
    json_decref(report);
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "'orch report RECIPE --json >FILE.json' writes such a file",
                   "'%s' is not a report", path);
    return NULL;
}

static void add_rows(struct orch_table *table, const struct orch_rechecked *item)
{
    for (guint i = 0; i < item->disagreements->len; i++) {
        const struct orch_disagreement *d = item->disagreements->pdata[i];
        orch_table_add(table, item->question ? item->question : "-", NULL);
        orch_table_add(table, item->title ? item->title : item->kind, NULL);
        orch_table_add(table, d->place, NULL);
        orch_table_add(table, d->recorded, NULL);
        orch_table_add(table, d->found, NULL);
    }
}

/* Prints what differs. False with ORCH_ERROR_CHECK when something does. */
static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    static const char *const headers[] = {"question", "title", "place", "was", "is", NULL};
    const char *path = ((const struct check_options *)options)->file;
    (void)json;
    g_autoptr(json_t) recorded = read_report(path, error);
    if (!recorded)
        return false;
    g_autoptr(json_t) found = orch_document_json(subject->document);
    g_autoptr(GPtrArray) items = orch_recheck(recorded, found, NULL, NULL);
    struct orch_table *table = orch_table_new(headers);
    unsigned confirmed = 0, differs = 0;
    for (guint i = 0; i < items->len; i++) {
        const struct orch_rechecked *item = items->pdata[i];
        confirmed += item->confirmed;
        differs += item->differs;
        add_rows(table, item);
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i s:i s:o}", "confirmed", (int)confirmed, "differs",
                                      (int)differs, "differences", orch_cli_table_to_json(table)));
    else if (differs)
        orch_cli_table_print(cli, table, "differences");
    else
        orch_cli_info(cli, "%u numbers of '%s' agree with the store", confirmed, path);
    if (!cli->json && !differs)
        orch_table_free(table);
    if (differs)
        orch_error_set(error, ORCH_ERROR_CHECK,
                       "'orch report RECIPE --json >FILE.json' updates the file",
                       "%u number%s of '%s' differ%s from the store", differs,
                       differs == 1 ? "" : "s", path, differs == 1 ? "s" : "");
    return !differs;
}

const struct orch_command_part ORCH_PART_REPORT_CHECK = {
    .command = "report",
    .options = OPTIONS,
    .option_bytes = sizeof(struct check_options),
    .examples = "  orch report recipes/hw4.recipe --check report.json  # in continuous integration",
    .is_alone = true,
    .is_asked = is_asked,
    .look = look,
    .show = show,
};
