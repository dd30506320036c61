/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the results of verifying packs. */
#ifndef ORCH_FEATURES_PACK_VERIFY_SHOW_H
#define ORCH_FEATURES_PACK_VERIFY_SHOW_H

#include "core/cli/cli.h"
#include "features/pack/class.h"

/** Prints the outcome of a verification (orch_verified_json). */
void orch_cli_verify_show(struct orch_cli *cli, const char *path, const json_t *outcome);

/** Verifies every pack of a folder, each in a separate process, and compares them. Returns the exit
 * status; -1 with an error. */
struct orch_verify_class {
    const char *folder, *grades; /* grades: a name of ORCH_GRADES, or NULL */
    const char *output;          /* where a page for each hand-in is written; or NULL */
    bool is_full;
    int jobs;
};
int orch_cli_verify_class(struct orch_cli *cli, const struct orch_verify_class *what,
                          GError **error);

/** What is handed in, for grading. */
struct orch_graded {
    const char *file;      /* its name */
    const json_t *outcome; /* orch_verified_json; NULL: see `why` */
    const char *why;       /* why it could not be verified, or NULL */
    const char *copied;    /* what else has its runs, or NULL */
};
/** Points that are proposed for a part of a hand-in. */
struct orch_grade {
    const char *part;
    double most, proposed; /* proposed: NaN, the grader decides */
    char *reason;
    int64_t differs;
};
typedef void (*orch_grade_fn)(void *ctx, const struct orch_graded *handin,
                              const struct orch_grade *grade);
/** Calls `visit` for each part. A hand-in that could not be verified is one part without points. */
void orch_grades_visit(const struct orch_graded *handin, orch_grade_fn visit, void *ctx);

/** The names of `--grades`, ended by NULL: "csv" and "gradescope". */
extern const char *const ORCH_GRADES[];
/** Checks the name; NULL is none. False with ORCH_ERROR_USAGE. */
bool orch_grades_check(const char *format, GError **error);
/** Prints points proposed for each part of each hand-in (struct orch_graded), with the reason
 * (grades_show.c): a row each as CSV, or results of Gradescope's autograder, of one hand-in
 * (`is_one`) or by its name. */
void orch_cli_grades_show(const struct orch_cli *cli, const char *format, const GArray *handins,
                          bool is_one);

#endif
