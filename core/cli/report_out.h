/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a report to files, for `orch report` and `orch submit`. */
#ifndef ORCH_CORE_CLI_REPORT_OUT_H
#define ORCH_CORE_CLI_REPORT_OUT_H

#include "core/cli/cli.h"
#include "core/plan/plan.h"
#include "core/render/notebook.h"

struct orch_report_out {
    const char *folder; /* --output; NULL: none (notebooks go into the current folder) */
    const char *html;   /* --html FILE, "-" for standard output; or NULL */
    const char *pdf;    /* --pdf FILE, or NULL */
    bool is_notebook;   /* --ipynb */
};

/** Writes the requested files and reports them: on stderr, or as one JSON object under --json. */
bool orch_cli_report_write(struct orch_cli *cli, const struct orch_document *document,
                           const struct orch_plan *plan, const struct orch_report_out *out,
                           GError **error);

/** Returns the programs that replaced plugins (`program:`), by question: struct
 * orch_notebook_program *. The caller unrefs. */
GPtrArray *orch_cli_report_programs(const struct orch_cli *cli, const struct orch_plan *plan);

#endif
