/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks at everything that orch depends on on this machine: what is there, what is missing, and how
 * to fix it. */
#ifndef ORCH_FEATURES_DOCTOR_H
#define ORCH_FEATURES_DOCTOR_H

#include "core/plugin/plugins.h"
#include "core/results/findings.h"
#include "core/workspace/workspace.h"

/** Looks at the machine, git, the store and its file system, the program's parts and the plugins.
 * Never fails: what cannot be read is a finding. */
void orch_doctor_look(struct orch_workspace *workspace, struct orch_plugins *plugins,
                      struct orch_findings *findings);
/** Holds the lock of the folder of the workspace's store, so that orch_doctor_look on another host
 * can test for it. */
bool orch_doctor_hold(const struct orch_workspace *workspace, unsigned seconds, GError **error);
/** The folder in which that lock is held. The caller frees. */
char *orch_doctor_folder(const struct orch_workspace *workspace);

#endif
