/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks before the first trial whether a command can be started, so that a mistyped name is
 * reported once and not by each of a hundred failed trials. */
#ifndef ORCH_CORE_PLAN_COMMAND_CHECK_H
#define ORCH_CORE_PLAN_COMMAND_CHECK_H

#include "core/plan/plan.h"

/** Checks the commands of all experiments that have trials to run. */
bool orch_command_check_plan(const struct orch_plan *plan, GError **error);

#endif
