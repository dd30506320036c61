/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of 'orch doctor'. */
#ifndef ORCH_CORE_RESULTS_FINDINGS_H
#define ORCH_CORE_RESULTS_FINDINGS_H

#include <glib.h>

struct orch_finding {
    char *what;        /* "machine", "GPU", "store: layout", ... */
    const char *level; /* "ok", "missing" (some feature is not available) or "problem"; static */
    char *detail;
    char *hint; /* what to do; "" when there is nothing to do */
};
struct orch_findings {
    GPtrArray *rows; /* struct orch_finding * */
    unsigned problems;
};
void orch_findings_init(struct orch_findings *findings);
void orch_findings_clear(struct orch_findings *findings);
/** Adds a row; the texts are copied, but `level` is static. */
void orch_findings_add(struct orch_findings *findings, const char *what, const char *level,
                       const char *detail, const char *hint);

/** Adds whether a program is on the PATH; trials that need it are skipped when it is not. */
void orch_findings_add_program(struct orch_findings *findings, const char *name);

#endif
