/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hourly prices of one device of a plan on this machine, and of the machine as one device. */
#ifndef ORCH_CORE_PLAN_PLAN_RATE_H
#define ORCH_CORE_PLAN_PLAN_RATE_H

#include "core/plan/plan.h"
#include "lib/devices/rate.h"

/** Gets the price of this machine's GPU (from the user's hardware file, else the dated table) when
 * a trial of the plan uses a GPU; otherwise the price is unknown. False when a hardware file is
 * invalid. The caller releases. */
bool orch_plan_rate(const struct orch_plan *plan, struct orch_rate *out, GError **error);
/** Gets the price of this machine without its GPUs, by its processor's name in the user's hardware
 * file, as `orch cost` does. False when that file is invalid. The caller releases. */
bool orch_machine_rate(struct orch_workspace *workspace, struct orch_rate *out, GError **error);

#endif
