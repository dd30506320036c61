/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/steps/gradient_exchange.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

static const char *const NAMES[ORCH_EXCHANGE_SCHEME_COUNT] = {"ring", "tree", "butterfly",
                                                              "one-to-all", "hierarchical"};

const char *orch_exchange_scheme_name(enum orch_exchange_scheme scheme)
{
    return NAMES[scheme];
}

bool orch_exchange_scheme_find(const char *name, enum orch_exchange_scheme *out)
{
    for (int i = 0; i < ORCH_EXCHANGE_SCHEME_COUNT; i++) {
        if (g_ascii_strcasecmp(NAMES[i], name) == 0) {
            *out = (enum orch_exchange_scheme)i;
            return true;
        }
    }
    return false;
}

bool orch_exchange_check(const struct orch_exchange *e, GError **error)
{
    const char *hint = NULL, *what = NULL;
    if (e->workers < 1)
        what = "an exchange needs at least one worker";
    else if (!(e->bandwidth > 0))
        what = "the link has no bandwidth";
    else if (e->scheme == ORCH_EXCHANGE_HIERARCHICAL &&
             (e->node_workers < 1 || e->workers % MIN(e->node_workers, e->workers) != 0)) {
        what = "the workers do not fill their nodes";
        hint = "use a multiple of the workers per node";
    } else if (e->scheme == ORCH_EXCHANGE_HIERARCHICAL && !(e->node_bandwidth > 0))
        what = "the link within a node has no bandwidth";
    if (what)
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s", what);
    return !what;
}

/* ceil(log2(workers)) in integers, exact at powers of two */
static int rounds_of(int64_t workers)
{
    int rounds = 0;
    while (((int64_t)1 << rounds) < workers)
        rounds++;
    return rounds;
}

static double ring_s(int64_t n, double bytes, double bandwidth, double latency)
{
    return 2 * (double)(n - 1) * (latency + bytes / ((double)n * bandwidth));
}

double orch_exchange_s(const struct orch_exchange *e, double bytes)
{
    if (e->workers < 2 || bytes <= 0)
        return 0;
    double whole = e->latency_s + bytes / e->bandwidth;
    switch (e->scheme) {
    case ORCH_EXCHANGE_RING:
        return ring_s(e->workers, bytes, e->bandwidth, e->latency_s);
    case ORCH_EXCHANGE_TREE:
        return 2 * rounds_of(e->workers) * whole;
    case ORCH_EXCHANGE_BUTTERFLY:
        return rounds_of(e->workers) * whole;
    case ORCH_EXCHANGE_ONE_TO_ALL:
        return 2 * (double)(e->workers - 1) * whole;
    case ORCH_EXCHANGE_HIERARCHICAL: {
        int64_t inside = MIN(e->node_workers, e->workers), nodes = e->workers / inside;
        return ring_s(inside, bytes, e->node_bandwidth, e->node_latency_s) +
               ring_s(nodes, bytes, e->bandwidth, e->latency_s);
    }
    }
    return 0;
}

double orch_exchange_exposed_s(const struct orch_exchange *exchange, const double *backward_s,
                               const double *bytes, int count, double bucket_bytes)
{
    double now = 0, link_free = 0, bucket = 0;
    for (int i = count - 1; i >= 0; i--) {
        now += backward_s[i];
        bucket += bytes[i];
        bool full = bucket > 0 && (bucket >= bucket_bytes || i == 0);
        if (full) {
            link_free = MAX(link_free, now) + orch_exchange_s(exchange, bucket);
            bucket = 0;
        }
    }
    return MAX(link_free - now, 0);
}
