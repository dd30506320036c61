/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program without any feature: it links core alone, so a call of core into a feature does not
 * link. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

#include <stddef.h>

int main(int argc, char **argv)
{
    static const struct orch_feature *const features[] = {&ORCH_CORE, NULL};
    return orch_main(argc, argv, features);
}
