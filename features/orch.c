/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program. Its features are the rows of feature_table.c. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

int main(int argc, char **argv)
{
    return orch_main(argc, argv, ORCH_FEATURES);
}
