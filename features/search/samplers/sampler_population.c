/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Population-based training (Jaderberg et al. 2017). A member of the population is a chain of
 * trials, each of which begins from the checkpoint of the one before. Members are compared after
 * equally many trials. One among the worst quarter begins from the checkpoint of one among the best
 * quarter, and with its setting, perturbed. */
#include "features/search/samplers/sampler.h"
#include "lib/base/random.h"

#include <math.h>
#include <string.h>

#define REDRAWN 0.25 /* chance that a value is drawn anew, as in the paper's appendix */
#define SMALLER 0.8
#define LARGER 1.2

/* Index of a member's ended trial number `age`, from 1; -1: there is none. */
static gssize trial_of(const struct orch_sampling *sampling, const unsigned *members,
                       unsigned member, size_t age)
{
    size_t ended = 0;
    for (size_t i = 0; i < sampling->count; i++)
        if (members[i] == member && sampling->trials[i].state == ORCH_SAMPLED_ENDED &&
            ++ended == age)
            return (gssize)i;
    return -1;
}

struct member {
    unsigned number; /* from 1; 0: all members have a trial that runs */
    size_t age;      /* its ended trials */
    bool has_failed; /* its last trial */
};

/* The member with the fewest ended trials whose next one does not run yet. */
static struct member next_member(const struct orch_sampling *sampling, const unsigned *members,
                                 unsigned size)
{
    struct member next = {0};
    for (unsigned number = 1; number <= size; number++) {
        struct member member = {.number = number};
        bool is_pending = false;
        for (size_t i = 0; i < sampling->count; i++) {
            if (members[i] != number)
                continue;
            is_pending = is_pending || sampling->trials[i].state == ORCH_SAMPLED_PENDING;
            member.has_failed = sampling->trials[i].state == ORCH_SAMPLED_FAILED;
            member.age += sampling->trials[i].state == ORCH_SAMPLED_ENDED;
        }
        if (!is_pending && (!next.number || member.age < next.age))
            next = member;
    }
    return next;
}

/* The trials number `age` of all members that have one, the best first. Caller frees. */
static size_t *ranked(const struct orch_sampling *sampling, const unsigned *members, unsigned size,
                      size_t age, size_t *out_n)
{
    size_t *found = g_new(size_t, size + 1), n = 0;
    for (unsigned number = 1; number <= size; number++) {
        const gssize index = trial_of(sampling, members, number, age);
        size_t at = n;
        if (index < 0)
            continue;
        for (; at && sampling->trials[found[at - 1]].value > sampling->trials[index].value; at--)
            found[at] = found[at - 1];
        found[at] = (size_t)index;
        n++;
    }
    *out_n = n;
    return found;
}

/* A value times 0.8 or 1.2, or the next one where that is less than a step. */
static double moved(const struct orch_space_param *param, double unit, bool is_larger)
{
    const double factor = is_larger ? LARGER : SMALLER, levels = orch_space_levels(param);
    const double off = param->is_log ? fabs(log(factor)) / log(param->high / param->low)
                                     : fabs((factor - 1) * orch_space_number(param, unit)) /
                                           (param->high - param->low);
    const double least = levels > 0 ? 1 / levels : 0;
    return CLAMP(unit + (is_larger ? 1 : -1) * fmax(off, least), 0, 1);
}

static void perturb(const struct orch_space *space, uint64_t *random, double *inout_point)
{
    for (unsigned k = 0; k < space->params->len; k++) {
        const struct orch_space_param *param = orch_space_param(space, k);
        const double drawn = orch_random_unit(random);
        const bool is_redrawn = orch_random_unit(random) < REDRAWN;
        if (isnan(inout_point[k]) || is_redrawn)
            inout_point[k] = drawn;
        else if (param->kind != ORCH_SPACE_CHOICE)
            inout_point[k] = moved(param, inout_point[k], drawn < 0.5);
    }
    orch_space_snap(space, inout_point);
}

unsigned orch_sample_population(const struct orch_sampling *sampling, const unsigned *members,
                                unsigned size, double *out, gssize *out_parent)
{
    const struct member member = next_member(sampling, members, size);
    *out_parent = -1;
    if (!member.number)
        return 0;
    if (!member.age) {
        orch_sample_latin(sampling, out);
        return member.number;
    }
    size_t n, rank = 0;
    g_autofree size_t *best = ranked(sampling, members, size, member.age, &n);
    const size_t own = (size_t)trial_of(sampling, members, member.number, member.age);
    while (best[rank] != own)
        rank++;
    const size_t quarter = n / 4;
    const bool is_given_up = member.has_failed || rank >= n - quarter;
    uint64_t random = orch_sampling_random(sampling);
    *out_parent = (gssize)(is_given_up ? best[orch_random_below(&random, MAX(quarter, 1))] : own);
    memcpy(out, sampling->trials[*out_parent].point, sampling->space->params->len * sizeof *out);
    if (is_given_up)
        perturb(sampling->space, &random, out);
    return member.number;
}
