/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as files: what `orch report` and `orch submit` share. */
#ifndef ORCH_CORE_CLI_REPORT_OUT_H
#define ORCH_CORE_CLI_REPORT_OUT_H

#include "core/cli/cli.h"
#include "core/report/notebook.h"
#include "core/run/plan.h"

struct orch_report_out {
    const char *folder; /* --out; NULL: none, for notebooks the current one */
    const char *html;   /* --html FILE, "-": standard output; or NULL */
    const char *pdf;    /* --pdf FILE, or NULL */
    bool is_notebook;   /* --ipynb */
};

/** Writes what is asked for and says what was written: on stderr, or as one JSON object under
 * --json. */
bool orch_cli_report_write(struct orch_cli *cli, const struct orch_document *document,
                           const struct orch_plan *plan, const struct orch_report_out *out,
                           GError **error);

/** The programs that took the place of plugins (`program:`), by question: struct
 * orch_notebook_program *. The caller unrefs. */
GPtrArray *orch_cli_report_programs(const struct orch_cli *cli, const struct orch_plan *plan);

#endif
