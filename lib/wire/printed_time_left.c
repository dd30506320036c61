/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_time_left.h"

#include "lib/wire/printed.h"

#include <string.h>

/* True if the name is one of these words, or ends with one ("train_eta"). */
static bool ends_with(const char *name, const char *const *words)
{
    const size_t length = strlen(name);
    for (; *words; words++) {
        const size_t own = strlen(*words);
        if (length >= own && strcmp(name + length - own, *words) == 0 &&
            (length == own || name[length - own - 1] == '_'))
            return true;
    }
    return false;
}

bool orch_printed_is_time_left(const char *name, const char *unit)
{
    static const char *const times[] = {"eta", "remaining", "time_left", "remaining_time", NULL};
    /* not "eta_min", the least learning rate of a schedule */
    static const char *const whole[] = {
        "eta_s",         "eta_sec",           "eta_secs",    "eta_seconds",       "eta_minutes",
        "eta_h",         "eta_hours",         "remaining_s", "remaining_sec",     "time_left_s",
        "time_left_sec", "time_left_seconds", "v_num",       "remaining_seconds", NULL};
    return ends_with(name, whole) ||
           (*unit && strcmp(orch_printed_unit_common(unit), "s") == 0 && ends_with(name, times));
}
