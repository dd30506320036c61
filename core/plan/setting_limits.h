/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which settings of a search keep its limits (`subject to`). A setting of which a run breaks a
 * limit is never the best one, whoever asks for that. */
#ifndef ORCH_CORE_PLAN_SETTING_LIMITS_H
#define ORCH_CORE_PLAN_SETTING_LIMITS_H

#include "core/recipe/recipe_search.h"
#include "core/stats/group.h"

/** The fact of a run that says what an hour of its devices costs, in dollars. */
#define ORCH_FACT_USD_PER_HOUR "usd_per_hour"

/** The limit in the unit of its metric. Without one there (NULL, ""), a limit that has a unit is in
 * the unit's base: bytes, or seconds. */
double orch_limit_in(const struct orch_search_bound *bound, const char *unit);
/** By how much a value exceeds a limit, as a share of it; 0: it holds. */
double orch_limit_excess(const struct orch_search_bound *bound, double value, double limit);
/** By how much a run exceeds the limits of its search, each as a share of the limit; 0: all hold.
 * A run that lacks a limit's metric exceeds it by 1; a run whose price is not known keeps a limit
 * on the price. `out_at` (may be NULL): the values, in the units of the limits; NAN: none. */
double orch_limits_excess(const struct orch_search *search, const struct orch_run *run,
                          const struct orch_run_numbers *numbers, double *out_at);
/** The same for a run that is read from the store. NAN with an error. */
double orch_limits_excess_of(const struct orch_search *search, struct orch_store *store,
                             const char *key, GError **error);

#endif
