/* SPDX-License-Identifier: MIT */
/* A list of findings about a text (recipe, manifest): all of them in one pass, each with its place
 * and its cure. */
#ifndef ORCH_BASE_DIAG_H
#define ORCH_BASE_DIAG_H

#include <glib.h>
#include <stdbool.h>

/** At most this many are kept; the rest is counted. */
#define ORCH_DIAGS_MAX 100

struct orch_diag {
    bool warning;
    char *file;
    int line;   /* 1-based; 0: unknown */
    int column; /* 1-based; 0: unknown */
    char *what;
    char *hint; /* NULL: none */
    int code;   /* enum orch_error_code: what kind of error; ORCH_ERROR_RECIPE unless said */
};

struct orch_diags {
    GPtrArray *items; /* struct orch_diag *, in order of finding */
    unsigned error_count;
    unsigned warning_count;
    unsigned dropped_count;
};

struct orch_diags *orch_diags_new(void);
void orch_diags_free(struct orch_diags *diags);

/** Adds an error (or a warning). `hint` may be NULL. Texts are copied. */
void orch_diags_add(struct orch_diags *diags, bool warning, const char *file, int line, int column,
                    const char *hint, const char *format, ...) G_GNUC_PRINTF(7, 8);

/** The finding that was added last is an error of this kind, and not of the text. */
void orch_diags_set_code(struct orch_diags *diags, int code);

/** Sorts by file, line, column, and drops exact repeats. */
void orch_diags_sort(struct orch_diags *diags);

/** Formats one finding as the three lines of an error message, without a line end after the last:
 * "what\n  at: file:line:column\n  hint: ...". Returned text is the caller's. */
char *orch_diag_format(const struct orch_diag *diag);

/** Sets `*error` to all errors, one after another, as the kind that they all are, else as
 * ORCH_ERROR_RECIPE. Returns false (so that a
 * caller can `return orch_diags_to_error(...)`) when there is one, true when there is none. */
bool orch_diags_to_error(struct orch_diags *diags, GError **error);

#endif
