/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_tier.h"

const char *orch_tier_name(enum orch_tier tier)
{
    static const char *const names[] = {[ORCH_TIER_NONE] = "none",
                                        [ORCH_TIER_MEASURED] = "measured",
                                        [ORCH_TIER_FITTED] = "fitted",
                                        [ORCH_TIER_SAME_STEP] = "same-step",
                                        [ORCH_TIER_SAME_CHIP] = "same-chip",
                                        [ORCH_TIER_SAME_NETWORK] = "same-network",
                                        [ORCH_TIER_TRANSFERRED] = "transferred",
                                        [ORCH_TIER_PRIOR] = "prior"};
    return names[tier];
}
