/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the environments that a recipe's experiments name (core/recipe/trial_environment.h): by uv,
 * pip or conda in a folder of the user's cache that the digest of the file names, so that each is
 * made once; a container's image is fetched, and its trials get a launcher. */
#ifndef ORCH_FEATURES_ENVIRONMENT_MADE_H
#define ORCH_FEATURES_ENVIRONMENT_MADE_H

#include "core/plan/plan.h"

/** Called before an environment is made, which may take minutes. */
typedef void (*orch_environment_making_fn)(void *ctx, const char *text);

/** Makes the environments of a plan's trials that will run, as far as they are not there. Fails
 * with ORCH_ERROR_PLUGIN, with a hint, when a program that it needs is absent or complains; nothing
 * incomplete is left. */
bool orch_environments_make(struct orch_plan *plan, orch_environment_making_fn making, void *ctx,
                            GError **error);

#endif
