/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch collect`: takes in the trials of Slurm jobs that have ended. */
#include "features/slurm/take_in.h"

#include "lib/base/json.h"

#include <stdio.h>

struct collect_options {
    bool without_slurm;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct collect_options, without_slurm, FLAG, "without-slurm",
                .help = "read only the trials' files; do not ask Slurm"),
    {0}};

static struct orch_table *make_table(const struct orch_slurm_collected *collected)
{
    static const char *const headers[] = {"run", "state", "experiment", "job", "reason", NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_set_name(table, 0, "key");
    for (guint i = 0; i < collected->runs->len; i++) {
        const struct orch_slurm_run *run = collected->runs->pdata[i];
        g_autofree char *job =
            g_strdup_printf("%" G_GINT64_FORMAT "_%" G_GINT64_FORMAT, run->job, run->index);
        orch_table_add(table, orch_run_short_key(run->key), json_string(run->key));
        orch_table_add(table, orch_verdict_name(run->verdict), NULL);
        orch_table_add(table, run->experiment, NULL);
        orch_table_add(table, job, NULL);
        orch_table_add(table, run->reason ? run->reason : "", orch_json_text_or_null(run->reason));
    }
    return table;
}

static void print_json(struct orch_table *table, const struct orch_slurm_collected *c)
{
    json_t *object =
        json_pack("{s:o s:i s:i s:i s:i s:s? s:s?}", "runs", orch_table_json(table), "running",
                  (int)c->running, "queued", (int)c->queued, "kept", (int)c->kept, "cancelled",
                  (int)c->forgotten, "waits_for", c->waits_for, "problem", c->problem);
    orch_cli_print_json(object);
}

static void print(struct orch_cli *cli, const struct orch_slurm_collected *collected)
{
    struct orch_table *table = make_table(collected);
    if (collected->problem)
        orch_cli_warn(cli,
                      "Slurm gave no answer, so no result can be stored: %s\n"
                      "  hint: try again later, or without Slurm: orch collect --without-slurm",
                      collected->problem);
    if (cli->json) {
        print_json(table, collected);
        orch_table_free(table);
        return;
    }
    if (collected->runs->len)
        orch_cli_table_print(cli, table, "runs");
    else
        orch_table_free(table);
    g_autofree char *text = orch_cli_collected_text(collected);
    fflush(stdout);
    orch_cli_info(cli, "%s", text ? text : "no trial is in a Slurm job");
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct collect_options *o = options;
    struct orch_slurm_collected collected = {0};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    if (!store)
        return -1;
    bool ok = orch_slurm_collect(store, o->without_slurm, &collected, error);
    if (ok) {
        print(cli, &collected);
        orch_cli_tell_alerts(cli, &collected);
    }
    orch_slurm_collected_clear(&collected);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_COLLECT = {
    .name = "collect",
    .group = "Run",
    .summary = "store the results of Slurm jobs that have ended",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct collect_options),
    .about = "Records the trials of 'orch run --executor slurm' that have ended. 'orch run', 'orch "
             "ls' and 'orch status' do this, too. Slurm is asked at most once a minute. See 'orch "
             "help slurm'.",
    .examples = "  orch collect\n"
                "  orch collect --json | jq '.runs[].state'\n"
                "  orch collect --without-slurm    # the cluster cannot be asked any more",
    .run = run,
};
