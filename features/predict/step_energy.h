/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The electrical energy of a training: the boards' power times the time of the forecast. Without
 * the host, its fans and the loss of its power supply. */
#ifndef ORCH_FEATURES_PREDICT_STEP_ENERGY_H
#define ORCH_FEATURES_PREDICT_STEP_ENERGY_H

#include "features/predict/step_answer.h"

#include <jansson.h>

/** Of all devices together; NaN where the board's power, or the time, is not known. */
struct orch_step_energy {
    struct orch_interval watts; /* of one board that is kept busy */
    struct orch_interval step_j;
    struct orch_interval kwh, usd; /* of the whole training; dollars by --price-kwh */
    struct orch_interval co2_kg;   /* the same, by --grid */
    double grid_g;                 /* of a kWh */
    const char *grid;              /* the country, or NULL. Static */
};

struct orch_step_energy orch_step_energy_of(const struct orch_step_answer *answer);

/** As a sentence ("energy: ..."); NULL: nothing is known. Caller frees. */
char *orch_step_energy_text(const struct orch_step_energy *energy);
/** As members of an answer's object. */
void orch_step_energy_add_json(const struct orch_step_energy *energy, json_t *object);

#endif
