/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows a comparison as a table, in words and as JSON. */
#ifndef ORCH_FEATURES_COMPARE_COMPARE_SHOW_H
#define ORCH_FEATURES_COMPARE_COMPARE_SHOW_H

#include "core/cli/cli.h"
#include "features/compare/comparison.h"

/** Prints a comparison: a table on stdout, and on stderr which runs were compared and how; JSON
 * under --json. */
void orch_cli_compare_show(struct orch_cli *cli, const struct orch_comparison *comparison);

/** The form of the output for a system of continuous integration. */
enum orch_compare_ci { ORCH_COMPARE_NO_CI, ORCH_COMPARE_JUNIT, ORCH_COMPARE_GITHUB };
/** Finds a form by its name; ORCH_COMPARE_NO_CI for another name or NULL. */
enum orch_compare_ci orch_compare_ci_find(const char *name);
/** Prints a comparison for such a system (compare_ci_show.c): JUnit's XML with a test case for each
 * metric, which fails where a limit is exceeded; or commands of GitHub's runner, and the table in
 * the file that $GITHUB_STEP_SUMMARY names. False with ORCH_ERROR_IO. */
bool orch_cli_compare_ci_show(struct orch_cli *cli, enum orch_compare_ci form,
                              const struct orch_comparison *comparison, GError **error);

/** The table of the comparison, which the caller frees; and the verdict of a row as text, likewise.
 */
struct orch_table *orch_cli_compare_table(const struct orch_comparison *comparison);
char *orch_cli_compare_verdict(const struct orch_comparison *comparison,
                               const struct orch_compare_row *row);

#endif
