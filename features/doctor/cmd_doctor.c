/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks everything that orch depends on on this machine, and says what is missing and how to fix
 * it. */
#include "core/cli/parts.h"

#include "features/doctor/doctor.h"
#include "lib/base/json.h"

static struct orch_table *findings_table(const struct orch_findings *findings)
{
    static const char *const headers[] = {"what", "state", "found", "hint", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < findings->rows->len; i++) {
        const struct orch_finding *finding = findings->rows->pdata[i];
        orch_table_add(table, finding->what, NULL);
        orch_table_add(table, finding->level, NULL);
        orch_table_add(table, finding->detail, NULL);
        orch_table_add(table, finding->hint, NULL);
    }
    return table;
}

/* Prints the findings and what parts add to them. */
static bool print_all(struct orch_cli *cli, const struct orch_subject *subject, GError **error)
{
    const struct orch_findings *findings = subject->findings;
    struct orch_table *table = findings_table(findings);
    if (cli->json) {
        g_autoptr(json_t) json = json_pack("{s:o}", "findings", orch_cli_table_to_json(table));
        if (!orch_cli_parts_show(cli, subject, json, error))
            return false;
        orch_cli_print_json(g_steal_pointer(&json));
        return true;
    }
    orch_cli_table_print(cli, table, "findings");
    if (!orch_cli_parts_show(cli, subject, NULL, error))
        return false;
    orch_cli_info(cli, findings->problems ? "%u problem(s)" : "no problems", findings->problems);
    return true;
}

struct doctor_options {
    const char *hold;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct doctor_options, hold, TEXT, "hold", .value = "SECONDS",
                .help = "hold a lock in the store, which 'orch doctor' on another host tests"),
    {0}};

static int hold(struct orch_cli *cli, const char *text, GError **error)
{
    int64_t seconds = 0;
    g_autofree char *folder = orch_doctor_folder(cli->workspace);
    if (!orch_cli_count(text, "--hold", 86400, &seconds, error))
        return -1;
    orch_cli_info(cli, "a lock in '%s' is held for %d s: run 'orch doctor' on another host now",
                  folder, (int)seconds);
    return orch_doctor_hold(cli->workspace, (unsigned)seconds, error) ? ORCH_EXIT_OK : -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct doctor_options *o = options;
    if (!orch_cli_workspace(cli, NULL, error))
        return -1;
    if (o->hold)
        return hold(cli, o->hold, error);
    struct orch_findings findings;
    orch_findings_init(&findings);
    orch_doctor_look(cli->workspace, orch_cli_plugins(cli), &findings);
    const struct orch_subject subject = {.findings = &findings};
    bool ok = orch_cli_parts_look(cli, &subject, error) && print_all(cli, &subject, error);
    int status = !ok ? -1 : findings.problems ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
    orch_findings_clear(&findings);
    return status;
}

const struct orch_command ORCH_COMMAND_DOCTOR = {
    .name = "doctor",
    .group = "Maintain",
    .is_listed = true,
    .summary = "check what this machine has, and say how to install what is missing",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct doctor_options),
    .about =
        "Also tests whether the file system has what a store needs, such as locks. To test locks "
        "between two hosts, run 'orch doctor --hold 60' on one of them, and 'orch doctor' on the "
        "other within 60 s.\n"
        "\n"
        "The exit status is 7 when something needs a fix; missing optional parts (GPU, LibTorch) "
        "need none.",
    .run = run,
};
