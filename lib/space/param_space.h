/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The space that a search looks through: parameters with ranges or choices, of which some exist
 * only under a condition. A parameter is written as one text:
 *
 *   uniform(0, 0.5)            a real number
 *   loguniform(1e-4, 1)        a real number whose logarithm is spread evenly
 *   int(1, 4)                  a whole number; both ends belong to it
 *   int(8, 256, log)           a whole number whose logarithm is spread evenly
 *   int(32, 512, step 32), uniform(0, 1, step 0.05)   LOW, LOW + STEP, ... up to HIGH
 *   choice(sgd, adam), [sgd, adam]   one of the words
 *   uniform(0, 1) if opt = sgd       only where `opt` is sgd; `if opt in [sgd, adam]` for several
 *   uniform(0, 1) if opt = sgd else 0  the same; elsewhere the parameter has the value 0
 *
 * A point is an array of unit coordinates, one for each parameter: from 0 to below 1 along its
 * range (along the logarithm where it is spread so), NAN where the parameter does not exist. A
 * value that a trial gets is the coordinate's rounded one (orch_space_snap), so that a value read
 * back from its text gives the same point. The ends of a range may be equal. */
#ifndef ORCH_SPACE_PARAM_SPACE_H
#define ORCH_SPACE_PARAM_SPACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Largest number of parameters, and of choices of one. */
#define ORCH_SPACE_PARAMS_MAX 40
#define ORCH_SPACE_CHOICES_MAX 64

enum orch_space_kind { ORCH_SPACE_REAL, ORCH_SPACE_INTEGER, ORCH_SPACE_CHOICE };

struct orch_space_param {
    char *name;
    enum orch_space_kind kind;
    double low, high;   /* of a number: both belong to the range */
    double step;        /* between the values of a number; 0: continuous */
    bool is_log;        /* spread evenly along its logarithm */
    GPtrArray *choices; /* char *: of a CHOICE; else NULL */
    int parent;         /* index of the parameter that its condition names; -1: it always exists */
    uint64_t when;      /* bit k: it exists under choice k of the parent */
    char *otherwise;    /* its value where it does not exist, as written; NULL: its default */
};

struct orch_space {
    GPtrArray *params; /* struct orch_space_param *, a parent before the parameters it decides */
};

/** Names of the samplers of features/search, the default first; ends with NULL. And as help says
 * them. */
extern const char *const ORCH_SAMPLER_NAMES[];
#define ORCH_SAMPLER_WORDS "auto, gp, tpe, cmaes, nsga2, grid, sobol or random"

struct orch_space *orch_space_new(void);
void orch_space_free(struct orch_space *space);

/** Whether a text is meant as a range or as choices, well written or not: "loguniform(1, 2". */
bool orch_space_is_meant(const char *text);

/** Adds a parameter. Fails with ORCH_ERROR_RECIPE, and `*out_at` (may be NULL) set to the offset in
 * `text` of what is wrong: unknown words, an empty range, the logarithm of 0, a step that is larger
 * than its range, a choice that is there twice, a condition on a parameter that is no earlier
 * choice. */
bool orch_space_add(struct orch_space *space, const char *name, const char *text, size_t *out_at,
                    GError **error);

const struct orch_space_param *orch_space_param(const struct orch_space *space, unsigned index);
/** Index of a parameter; -1: there is none of that name. */
int orch_space_find(const struct orch_space *space, const char *name);

/** Number of values of a parameter; 0: a continuous one. */
double orch_space_levels(const struct orch_space_param *param);
/** The unit coordinate of value `k`, from 0, of a parameter that has levels. */
double orch_space_level_unit(const struct orch_space_param *param, double k);
/** Number of the choice at a unit coordinate. */
unsigned orch_space_choice(const struct orch_space_param *param, double unit);
/** Whether the parameter exists at a point whose coordinates up to it are set. */
bool orch_space_exists(const struct orch_space *space, unsigned index, const double *point);

/** Whether two points are the same: each coordinate differs by less than `within` of its range, or
 * does not exist in both. For points that were rounded (orch_space_snap), ORCH_SPACE_EQUAL leaves
 * nothing but the errors of arithmetic. */
bool orch_space_is_same(const struct orch_space *space, const double *a, const double *b,
                        double within);
#define ORCH_SPACE_EQUAL 1e-9

/** Rounds a point to values that can be written, and sets coordinates that do not exist to NAN; NAN
 * of one that does exist becomes its middle. */
void orch_space_snap(const struct orch_space *space, double *point);
/** The value at a unit coordinate as it is written: "0.00316228", "32", "adam". Caller frees. */
char *orch_space_text(const struct orch_space_param *param, double unit);
/** The number at a unit coordinate, not rounded: between the values of a step, too, and up to half
 * a step outside of their range. Not of choices. */
double orch_space_number(const struct orch_space_param *param, double unit);
/** The unit coordinate of a written value; false when the parameter cannot have it. */
bool orch_space_unit(const struct orch_space_param *param, const char *text, double *out);

#endif
