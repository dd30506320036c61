/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks everything that orch depends on on this machine, and says what is missing and how to fix
 * it. */
#include "core/cli/cli.h"

#include "core/hardware/bench.h"
#include "core/run/doctor.h"

static void add_bench(const struct orch_machine *m, const struct orch_bench *v,
                      struct orch_findings *f)
{
    g_autofree char *gemm =
        g_strdup_printf("%.4g GFLOP/s on one core, %.4g on %d threads (%s, fp32)",
                        v->one_core / 1e9, v->all_cores / 1e9, m->threads, v->library);
    g_autofree char *memory = g_strdup_printf("%.4g GB/s (copy)", v->memory / 1e9);
    g_autofree char *disk = g_strdup_printf("%.4g MB/s written, %.4g MB/s read",
                                            v->disk.write / 1e6, v->disk.read / 1e6);
    orch_findings_add(f, "bench: products", "ok", gemm, "'orch predict --gpu here'");
    orch_findings_add(f, "bench: memory", "ok", memory, "");
    orch_findings_add(f, "bench: disk", "ok", disk, "");
    for (guint i = 0; i < m->gpus->len; i++) {
        const struct orch_gpu_device *gpu = m->gpus->pdata[i];
        const char *name = orch_bench_gpu_name(gpu->model);
        g_autofree char *detail =
            g_strdup_printf("%s: %s", gpu->model, name ? name : "not in the table of GPUs");
        orch_findings_add(f, "bench: GPU", name ? "ok" : "missing", detail,
                          name ? "'orch predict --gpu' goes by its specification"
                               : "put it into hardware.yaml");
    }
}

static bool bench(struct orch_cli *cli, struct orch_findings *findings, GError **error)
{
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    struct orch_bench rates;
    orch_cli_info(cli,
                  "measuring: matrix products, memory, disk (a few seconds; let nothing else run)");
    if (!orch_bench_here(machine, cli->workspace->root, &rates, error))
        return false;
    add_bench(machine, &rates, findings);
    return true;
}

static void print_findings(struct orch_cli *cli, const struct orch_findings *findings)
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
    orch_cli_table_print(cli, table, "findings");
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
     "also benchmark this machine, and keep the result as device 'here' for forecasts"},
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
    bool ok = !o->bench || bench(cli, &findings, error);
    if (ok)
        print_findings(cli, &findings);
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
        "Exits with 7 when something needs a fix; missing optional parts (GPU, LibTorch) do "
        "not count.",
    .run = run,
};
