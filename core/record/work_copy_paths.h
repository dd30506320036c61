/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Absolute paths into the work tree, by which a program in a folder apart would use the files of
 * the work tree. Where mount namespaces are allowed there are none. */
#ifndef ORCH_CORE_RECORD_WORK_COPY_PATHS_H
#define ORCH_CORE_RECORD_WORK_COPY_PATHS_H

#include "core/plan/plan.h"

/** The folders of the work tree, relative to its root, from which the experiment's Python imports
 * packages that are installed in place (pip install -e): char *; the caller unrefs. Adds to
 * `faults` (may be NULL) what cannot be imported from another folder: char *, one clause each. */
GPtrArray *orch_redirect_python(const struct orch_plan *plan,
                                const struct orch_experiment *experiment, GPtrArray *faults);

/** What would use the work tree although a trial of the experiment runs apart: char *, one clause
 * each; empty where mount namespaces are allowed. The caller unrefs. */
GPtrArray *orch_redirect_faults(struct orch_plan *plan, const struct orch_experiment *experiment);

#endif
