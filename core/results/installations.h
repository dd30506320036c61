/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other installations of orch that a user of this one meets: programs on the PATH, and the module
 * that Python imports. Runs of both land in the same stores, so their versions should agree. */
#ifndef ORCH_CORE_RESULTS_INSTALLATIONS_H
#define ORCH_CORE_RESULTS_INSTALLATIONS_H

#include "core/results/findings.h"

/** What 'orch --version' prints: version, plugin ABI and store schema. Caller frees. */
char *orch_version_text(void);

/** Adds a finding for each other installation: a problem where it disagrees with this program, or
 * where Python imports another project's module 'orch'. */
void orch_installations_look(struct orch_findings *findings);

#endif
