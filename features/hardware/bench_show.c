/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch doctor --bench': measures this machine, and shows its best rates. */
#include "core/cli/parts.h"
#include "core/results/findings.h"
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
    orch_cli_info(
        cli,
        "spread: range of the middle half of the samples, divided by the median; a multiply-add is "
        "2 operations. orch keeps the rates as device 'here' (orch predict --gpu here)");
}

static void tell(void *ctx, const char *what)
{
    orch_cli_info(ctx, "measuring: %s", what);
}

struct bench_options {
    bool bench;
    struct orch_ceilings *all; /* what was measured, between `look` and `show` */
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct bench_options, bench, FLAG, "bench",
                .help = "also measure peak compute and memory speed, for forecasts (--gpu here)"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct bench_options *)options)->bench;
}

/* Measures the machine, and adds a finding for each GPU: whether it is in the table of GPUs. */
static bool look(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error)
{
    struct bench_options *o = options;
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    orch_cli_info(cli, "measuring this machine takes about half a minute: let nothing else run");
    for (guint i = 0; i < machine->gpus->len; i++) {
        const struct orch_gpu_device *gpu = machine->gpus->pdata[i];
        const char *name = orch_bench_gpu_name(gpu->model);
        g_autofree char *detail =
            g_strdup_printf("%s: %s", gpu->model, name ? name : "not in the table of GPUs");
        orch_findings_add(subject->findings, "bench: GPU", name ? "ok" : "missing", detail,
                          name ? "'orch predict --gpu' uses its specification"
                               : "put it into hardware.yaml");
    }
    o->all = orch_bench_here(machine, cli->workspace->root, tell, cli, error);
    return o->all;
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)subject, (void)error;
    const struct bench_options *o = options;
    if (json) {
        json_object_set_new(json, "ceilings", ceilings_json(o->all));
    } else {
        putchar('\n');
        print_bench(cli, o->all);
    }
    return true;
}

static void clear(void *options)
{
    struct bench_options *o = options;
    g_clear_pointer(&o->all, orch_ceilings_free);
}

const struct orch_command_part ORCH_PART_DOCTOR_BENCH = {
    .command = "doctor",
    .options = OPTIONS,
    .option_bytes = sizeof(struct bench_options),
    .about = "\n\n"
             "--bench measures matrix products in each precision, memory (STREAM's triad), the "
             "disk and, with CUDA, each visible GPU. Let nothing else run meanwhile.",
    .is_asked = is_asked,
    .look = look,
    .show = show,
    .clear = clear,
};
