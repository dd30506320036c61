/* SPDX-License-Identifier: MIT */
/* A list of diagnostics about a text (recipe, manifest): all errors of one pass, each with its
 * position and a hint. */
#ifndef ORCH_BASE_DIAG_H
#define ORCH_BASE_DIAG_H

#include <glib.h>
#include <stdbool.h>

/** Maximum number of diagnostics kept; further ones are counted. */
#define ORCH_DIAGS_MAX 100

struct orch_diag {
    bool warning;
    char *file;
    int line;   /* 1-based; 0: unknown */
    int column; /* 1-based; 0: unknown */
    char *what;
    char *hint; /* NULL: none */
    int code;   /* enum orch_error_code; ORCH_ERROR_RECIPE by default */
};

struct orch_diags {
    GPtrArray *items; /* struct orch_diag *, in order of finding */
    unsigned error_count;
    unsigned warning_count;
    unsigned dropped_count;
};

struct orch_diags *orch_diags_new(void);
void orch_diags_free(struct orch_diags *diags);

/** Adds an error or a warning. `hint` may be NULL. Strings are copied. */
void orch_diags_add(struct orch_diags *diags, bool warning, const char *file, int line, int column,
                    const char *hint, const char *format, ...) G_GNUC_PRINTF(7, 8);

/** Changes the error code of the diagnostic added last. */
void orch_diags_set_code(struct orch_diags *diags, int code);

/** Sorts by file, line and column, and removes exact duplicates. */
void orch_diags_sort(struct orch_diags *diags);

/** Formats a diagnostic as an error message of up to three lines without a final line end:
 * "what", "  at: file:line:column" and "  hint: ...". Caller frees. */
char *orch_diag_format(const struct orch_diag *diag);

/** Sets `*error` to all errors, one after another, with their common code, or ORCH_ERROR_RECIPE if
 * their codes differ. Returns false if there was an error, true if there was none. */
bool orch_diags_to_error(struct orch_diags *diags, GError **error);

#endif
