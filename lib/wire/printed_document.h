/* SPDX-License-Identifier: MIT */
/* JSON in a program's output, also over several lines (json.dumps(..., indent=2), fio and
 * google-benchmark --format=json) and as Python prints dictionaries (pprint). */
#ifndef ORCH_WIRE_PRINTED_DOCUMENT_H
#define ORCH_WIRE_PRINTED_DOCUMENT_H

#include "lib/wire/printed.h"

/** The lines of a document that is not closed yet. Zeroed but for `text` at first. */
struct printed_document {
    GString *text; /* with their ends; empty when no document is open */
    int depth;     /* open brackets */
    char quote;    /* of the string that is open; 0: none */
};

enum printed_document_state {
    PRINTED_DOCUMENT_NONE,  /* the line is none of a document: read it as it is */
    PRINTED_DOCUMENT_OPEN,  /* the line is kept; more belong to it */
    PRINTED_DOCUMENT_WHOLE, /* text is a document, to be parsed as one line, then truncated */
    PRINTED_DOCUMENT_LINES, /* text is no document: its lines are to be read one by one */
};

/** Adds a line without its end. The caller empties `text` in the last two states. */
enum printed_document_state orch_printed_document_add(struct printed_document *document,
                                                      const char *line, size_t length);

/** Where JSON begins in a line that ends with it; NULL: nowhere. */
const char *orch_printed_document_find(const char *text, size_t length);

/** Reads JSON, or a dictionary of Python, into the values of `out`. Brackets that were not closed
 * are closed behind the last whole member. False, with `out` unchanged, if it is neither. */
bool orch_printed_document_read(struct orch_printed_line *out, const char *text, size_t length);

#endif
