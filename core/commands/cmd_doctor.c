/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks everything that orch depends on on this machine, and says what is missing and how to fix
 * it. */
#include "core/cli/cli.h"

#include "core/results/doctor.h"
#include "features/hardware/bench.h"

static struct orch_table *ceilings_table(const struct orch_ceilings *all)
{
    static const char *const headers[] = {"device",  "what",     "how",  ">threads", ">best",
                                          ">spread", ">samples", "with", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < all->rows->len; i++) {
        const struct orch_ceiling *c = all->rows->pdata[i];
        g_autofree char *best =
            c->skipped ? g_strdup("skipped") : orch_ceiling_format(c->unit, c->measured.best);
        g_autofree char *spread = c->measured.samples > 1
                                      ? g_strdup_printf("%.1f %%", 100 * c->measured.spread)
                                      : g_strdup("-");
        orch_table_add(table, c->device, NULL);
        orch_table_add(table, c->what, NULL);
        orch_table_add(table, c->how, NULL);
        orch_table_add_int(table, c->threads);
        orch_table_add(table, best, NULL);
        orch_table_add(table, spread, NULL);
        orch_table_add_int(table, c->measured.samples);
        orch_table_add(table, c->skipped ? c->skipped : c->with, NULL);
    }
    return table;
}

static json_t *ceilings_json(const struct orch_ceilings *all)
{
    json_t *rows = json_array();
    for (guint i = 0; i < all->rows->len; i++)
        json_array_append_new(rows, orch_ceiling_json(all->rows->pdata[i]));
    return json_pack("{s:s s:s s:o}", "machine", all->machine, "measured", all->when, "rows", rows);
}

static void print_bench(struct orch_cli *cli, const struct orch_ceilings *all)
{
    orch_cli_table_print(cli, ceilings_table(all), "ceilings");
    orch_cli_info(cli, "spread: of the middle half of the samples; triad: 24 bytes an element, "
                       "write-allocate not counted; a multiply-add is 2 operations. Kept as device "
                       "'here' (orch predict --gpu here, orch paleo --roofline)");
}

static void tell(void *ctx, const char *what)
{
    orch_cli_info(ctx, "measuring: %s", what);
}

static struct orch_ceilings *bench(struct orch_cli *cli, struct orch_findings *findings,
                                   GError **error)
{
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    orch_cli_info(cli, "measuring this machine, about half a minute: let nothing else run");
    for (guint i = 0; i < machine->gpus->len; i++) {
        const struct orch_gpu_device *gpu = machine->gpus->pdata[i];
        const char *name = orch_bench_gpu_name(gpu->model);
        g_autofree char *detail =
            g_strdup_printf("%s: %s", gpu->model, name ? name : "not in the table of GPUs");
        orch_findings_add(findings, "bench: GPU", name ? "ok" : "missing", detail,
                          name ? "'orch predict --gpu' goes by its specification"
                               : "put it into hardware.yaml");
    }
    return orch_bench_here(machine, cli->workspace->root, tell, cli, error);
}

static struct orch_table *findings_table(const struct orch_findings *findings)
{
    static const char *const headers[] = {"what", "state", "found", "cure", NULL};
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

/* Prints the findings and, where it was measured (`all`), the machine's ceilings. */
static void print_all(struct orch_cli *cli, const struct orch_findings *findings,
                      const struct orch_ceilings *all)
{
    struct orch_table *table = findings_table(findings);
    if (cli->json && all) {
        orch_cli_print_json(json_pack("{s:o s:o}", "findings", orch_cli_table_to_json(table),
                                      "ceilings", ceilings_json(all)));
        return;
    }
    orch_cli_table_print(cli, table, "findings");
    if (all) {
        putchar('\n');
        print_bench(cli, all);
    }
    if (!cli->json)
        orch_cli_info(cli, findings->problems ? "%u problem(s)" : "no problems",
                      findings->problems);
}

struct doctor_options {
    bool bench;
    const char *hold;
};

static const struct orch_option OPTIONS[] = {
    {"bench", 0, NULL, ORCH_OPT_FLAG, offsetof(struct doctor_options, bench),
     "also measure this machine's best rates, kept as device 'here'"},
    {"hold", 0, "SECONDS", ORCH_OPT_TEXT, offsetof(struct doctor_options, hold),
     "hold a lock in the store's folder, for 'orch doctor' on another host to test"},
    {0}};

static int hold(struct orch_cli *cli, const char *text, GError **error)
{
    int64_t seconds = 0;
    g_autofree char *folder = orch_doctor_folder(cli->workspace);
    if (!orch_cli_count(text, "--hold", 86400, &seconds, error))
        return -1;
    orch_cli_info(cli, "holding a lock in '%s' for %d s: run 'orch doctor' on another host now",
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
    struct orch_ceilings *all = o->bench ? bench(cli, &findings, error) : NULL;
    bool ok = !o->bench || all;
    if (ok)
        print_all(cli, &findings, all);
    orch_ceilings_free(all);
    int status = !ok ? -1 : findings.problems ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
    orch_findings_clear(&findings);
    return status;
}

const struct orch_command ORCH_COMMAND_DOCTOR = {
    .name = "doctor",
    .group = "Maintenance",
    .summary = "check what this machine has and how to install what is missing",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct doctor_options),
    .about =
        "Two processes test in the store's folder whether the file system has what a store "
        "needs (locks, exclusive create, link, rename, fsync, clock). To test between hosts, "
        "run 'orch doctor --hold 60' on one, and 'orch doctor' on the other within that time.\n"
        "\n"
        "--bench measures matrix products by precision, memory (STREAM's triad), the disk and, "
        "with CUDA, each visible GPU: products, copies inside it and to and from it, the latency "
        "of a launch. Each is repeated for at least 0.5 s until its samples settle.\n"
        "\n"
        "Exits with 7 when something needs a fix; missing optional parts (GPU, LibTorch) do "
        "not count.",
    .run = run,
};
