/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether both sides of a comparison run the same code. The fingerprint covers the files that a
 * command names; a command that builds its program, as make does, reads others. */
#ifndef ORCH_FEATURES_COMPARE_SAME_CODE_H
#define ORCH_FEATURES_COMPARE_SAME_CODE_H

#include "core/plan/plan.h"

enum orch_same_code {
    ORCH_SAME_CODE_YES,
    ORCH_SAME_CODE_NO,
    ORCH_SAME_CODE_UNKNOWN, /* no run shows what the command reads */
};

/** Compares the code of one trial in two plans, whose workspaces are copies of two commits. */
enum orch_same_code orch_same_code_of(const struct orch_plan *a, const struct orch_plan_item *x,
                                      const struct orch_plan *b, const struct orch_plan_item *y);

#endif
