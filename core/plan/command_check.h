/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks before the first trial whether a command can be started, so that a mistyped name is
 * reported once and not by each of a hundred failed trials. */
#ifndef ORCH_CORE_PLAN_COMMAND_CHECK_H
#define ORCH_CORE_PLAN_COMMAND_CHECK_H

#include "core/plan/plan.h"

/** Checks the words of a command (NULL-terminated) that will start in `folder`: the program and the
 * interpreter of its "#!" line exist and are executable; a script passed to an interpreter exists;
 * no shell script has Windows line endings. Words with variables are not checked. ORCH_ERROR_USAGE
 * names the word and gives a hint; `is_typed`: for a command line, otherwise for a manifest. */
bool orch_command_check(const char *folder, char *const *argv, bool is_typed, GError **error);

/** Checks the commands of all experiments that have trials to run. */
bool orch_command_check_plan(const struct orch_plan *plan, GError **error);

#endif
