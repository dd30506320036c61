/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list is the same for the whole life of the process, like its code. So it is set once instead
 * of being passed through every function between main and the reader of a recipe. */
#include "core/feature/feature.h"

#include <stddef.h>

static const struct orch_feature *const NONE[] = {NULL};
static const struct orch_feature *const *list = NONE;

void orch_features_set(const struct orch_feature *const *features)
{
    list = features;
}

const struct orch_feature *const *orch_features(void)
{
    return list;
}

const char *orch_advice(enum orch_advice_topic topic, const char *otherwise)
{
    for (const struct orch_feature *const *f = list; *f; f++)
        if ((*f)->advice && (*f)->advice[topic])
            return (*f)->advice[topic];
    return otherwise;
}
