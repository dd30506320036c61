/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other installations of orch that a user of this one meets: programs on the PATH, and the module
 * that Python imports. Runs of both land in the same stores, so their versions should agree. */
#ifndef ORCH_FEATURES_DOCTOR_INSTALLATIONS_H
#define ORCH_FEATURES_DOCTOR_INSTALLATIONS_H

#include "core/results/findings.h"

/** Adds a finding for each other installation: a problem where it disagrees with this program, or
 * where Python imports another project's module 'orch'. */
void orch_installations_look(struct orch_findings *findings);

#endif
