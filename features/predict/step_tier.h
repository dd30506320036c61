/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The basis of a forecast, best first. */
#ifndef ORCH_FEATURES_PREDICT_STEP_TIER_H
#define ORCH_FEATURES_PREDICT_STEP_TIER_H

enum orch_tier {
    ORCH_TIER_NONE,
    ORCH_TIER_MEASURED,     /* the store's runs of this setting */
    ORCH_TIER_FITTED,       /* a predictor trained on the store's runs */
    ORCH_TIER_SAME_STEP,    /* this network on this chip, in other software or at other batches */
    ORCH_TIER_SAME_CHIP,    /* other networks or precisions on this chip */
    ORCH_TIER_SAME_NETWORK, /* this network on other chips */
    ORCH_TIER_TRANSFERRED,  /* an analytical model calibrated on public measurements */
    ORCH_TIER_PRIOR,        /* the roofline of the data sheet */
};

/** Its name in tables, JSON and the store: "same-step". */
const char *orch_tier_name(enum orch_tier tier);

#endif
