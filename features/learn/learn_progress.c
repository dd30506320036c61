/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/learn_progress.h"

#include <unistd.h>

/* Shows "learning: boost, fold 3 of 5, 2400 rows; 12 of 85 (unseen gpu)" on one line of the
 * terminal. */
static void on_step(void *ctx, const struct orch_learn_step *step)
{
    (void)ctx;
    g_autofree char *fold = step->fold ? g_strdup_printf("fold %d of %d, ", step->fold, step->folds)
                                       : g_strdup("final fit, ");
    g_autofree char *unseen =
        step->column ? g_strdup_printf(" (unseen %s)", step->column) : g_strdup("");
    g_autofree char *text = g_strdup_printf("learning: %s, %s%zu rows; %d of %d%s", step->model,
                                            fold, step->rows, step->number, step->count, unseen);
    int columns = orch_terminal_columns(STDERR_FILENO);
    fprintf(stderr, "\r%.*s\033[K", (columns ? columns : 80) - 1, text);
    fflush(stderr);
}

void orch_cli_learn_progress_begin(struct orch_cli *cli, struct orch_learn_options *options)
{
    options->on_step = cli->stderr_is_tty && !cli->quiet ? on_step : NULL;
    options->on_step_ctx = NULL;
}

void orch_cli_learn_progress_end(const struct orch_learn_options *options)
{
    if (!options->on_step)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
}
