/* SPDX-License-Identifier: MIT */
#include "lib/base/clock.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#define YEAR_2000_S INT64_C(946684800)
#define YEAR_2200_S INT64_C(7258118400)

bool orch_clock_check(GError **error)
{
    const int64_t now_ns = orch_now_ns(), now_s = now_ns / INT64_C(1000000000);
    if (now_s >= YEAR_2000_S && now_s < YEAR_2200_S)
        return true;
    g_autofree char *now = orch_time_format(now_ns, false);
    orch_error_set(
        error, ORCH_ERROR_IO,
        "set it ('timedatectl' shows it): other stores refuse runs of other years",
        "the clock of this machine is wrong: it says %s UTC, and only times from 2000 to "
        "2199 are recorded",
        now);
    return false;
}
