/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/findings.h"

#include <string.h>

static void free_finding(gpointer pointer)
{
    struct orch_finding *finding = pointer;
    g_free(finding->what);
    g_free(finding->detail);
    g_free(finding->hint);
    g_free(finding);
}

void orch_findings_init(struct orch_findings *findings)
{
    *findings = (struct orch_findings){.rows = g_ptr_array_new_with_free_func(free_finding)};
}

void orch_findings_clear(struct orch_findings *findings)
{
    g_ptr_array_unref(findings->rows);
    *findings = (struct orch_findings){0};
}

void orch_findings_add(struct orch_findings *findings, const char *what, const char *level,
                       const char *detail, const char *hint)
{
    struct orch_finding *row = g_new0(struct orch_finding, 1);
    *row = (struct orch_finding){g_strdup(what), level, g_strdup(detail), g_strdup(hint)};
    g_ptr_array_add(findings->rows, row);
    findings->problems += strcmp(level, "problem") == 0;
}

void orch_findings_add_program(struct orch_findings *findings, const char *name)
{
    g_autofree char *path = g_find_program_in_path(name);
    orch_findings_add(findings, name, path ? "ok" : "missing", path ? path : "not on the PATH", "");
}
