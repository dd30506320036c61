/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The content of a report: sections of texts, tables, charts and pictures, each with the runs that
 * it uses. Report items fill it (core/report); terminal output, HTML page, notebooks and files are
 * made from it. */
#ifndef ORCH_CORE_RENDER_DOCUMENT_H
#define ORCH_CORE_RENDER_DOCUMENT_H

#include "core/render/chart.h"
#include "core/render/table.h"

/** For a new kind the compiler warns in the four renderers: none of their switches has a default.
 */
enum orch_block_kind {
    ORCH_BLOCK_ANSWER,  /* the sentence that answers the question: the first block */
    ORCH_BLOCK_TEXT,    /* a sentence or paragraph of the answer */
    ORCH_BLOCK_NOTE,    /* small print: what a table shows, and how it was made */
    ORCH_BLOCK_MISSING, /* something without an answer, and why; `hint`: the command to run next */
    ORCH_BLOCK_TABLE,
    ORCH_BLOCK_CHART,
    ORCH_BLOCK_PICTURES,
    ORCH_BLOCK_CODE,  /* a file's content, line by line as it is */
    ORCH_BLOCK_SCALE, /* what full size asks for in a problem: a sentence, and a table of its parts
                         or NULL */
    ORCH_BLOCK_STUDENT, /* to be answered by the student: orch writes nothing here */
};

struct orch_picture {
    char *path;    /* absolute path of a PNG */
    char *caption; /* "lr 0.1 mode full, run 3f2a91c0" */
};

struct orch_block {
    enum orch_block_kind kind;
    char *text; /* of TEXT, NOTE, MISSING, CODE, STUDENT; the caption of other blocks, or NULL */
    char *hint; /* MISSING: a command, or NULL */
    struct orch_table *table;
    struct orch_chart *chart;
    GPtrArray *pictures; /* struct orch_picture * */
};

/** A run that a section uses. */
struct orch_section_run {
    char *key, *experiment, *label, *who, *device_key, *commit; /* label: "lr=0.1 #2" */
    bool is_ours; /* made by the user who asks for the report */
};

enum orch_section_state {
    ORCH_SECTION_COMPLETE,
    ORCH_SECTION_SMALL,     /* complete, but smaller than the assignment asks for; see `scale` */
    ORCH_SECTION_SIMULATED, /* all its runs are simulated */
    ORCH_SECTION_PARTIAL,   /* some of it is missing */
    ORCH_SECTION_MISSING,   /* no trial has run */
    ORCH_SECTION_SKIPPED,   /* left out by this profile, or impossible on this machine */
    ORCH_SECTION_STUDENT,   /* to be answered by the student */
};

struct orch_section {
    char *question, *title; /* or NULL */
    double points;          /* 0: none declared */
    const char *kind;       /* "table", "plot", ...: static */
    char *command;          /* the command for this section alone: "orch report ... --only 1.1c" */
    enum orch_section_state state;
    char *scale;            /* SMALL: what full size requires in addition; else NULL */
    unsigned planned, done; /* runs in total, and those that are there; one that serves several
                               trials counts once */
    GHashTable *counted;    /* set of char *: keys of runs and fingerprints of trials in these, and
                               "disturbed KEY" */
    unsigned simulated;     /* trials whose run is simulated */
    unsigned stale;         /* trials without a current run that have a run of an earlier version */
    guint disturbed_left_out, disturbed_kept; /* disturbed runs (the machine did other work) that
                                                 times leave out, or include */
    GHashTable *labels; /* what people read instead of names (char * -> char *); or NULL */
    GPtrArray *blocks;  /* struct orch_block * */
    GPtrArray *runs;    /* struct orch_section_run *, without duplicates */
};

struct orch_document {
    char *name, *about, *recipe, *profile; /* recipe: its path; profile: may be NULL */
    char *settings; /* settings that the command line adds to the profile, written as options; or
                       NULL */
    char *commit, *who, *machine, *made; /* made: "2026-11-21 16:40 UTC" */
    bool is_dirty;
    char *store_digest;
    GPtrArray *sections; /* struct orch_section * */
};

struct orch_document *orch_document_new(const char *name);
void orch_document_free(struct orch_document *document);
/** Adds a section. Borrowed. */
struct orch_section *orch_document_add(struct orch_document *document, const char *kind,
                                       const char *question, const char *title);
/** Returns a state's name in JSON and style sheets: "complete", "small_scale", "partial", ... */
const char *orch_section_state_name(enum orch_section_state state);

/** Puts the sentence that answers the question before all other blocks. */
void orch_section_answer(struct orch_section *section, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Ends that sentence with a further part, after a semicolon; nothing without it. */
void orch_section_answer_add(struct orch_section *section, const char *format, ...)
    G_GNUC_PRINTF(2, 3);
/** Append a block. Texts are copied; tables and charts are owned by the section afterwards. */
void orch_section_text(struct orch_section *section, const char *format, ...) G_GNUC_PRINTF(2, 3);
void orch_section_note(struct orch_section *section, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Appends the content of a file, which is shown line by line. */
void orch_section_code(struct orch_section *section, const char *content);
/** Appends a block for the student to answer, with the question ("": none). A section with only
 * such blocks gets the state STUDENT. */
void orch_section_student(struct orch_section *section, const char *format, ...)
    G_GNUC_PRINTF(2, 3);
/** Appends a note on what is missing, with the command that makes it (NULL: none). The section's
 * state is no longer complete. */
void orch_section_missing(struct orch_section *section, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
void orch_section_table(struct orch_section *section, struct orch_table *table);
/** Appends what full size asks for in the problem that the section belongs to; the table (may be
 * NULL) is owned by the section afterwards. */
void orch_section_scale(struct orch_section *section, const char *text, struct orch_table *table);
void orch_section_chart(struct orch_section *section, struct orch_chart *chart);
/** Appends a picture to the current grid of pictures, or begins a grid. */
void orch_section_picture(struct orch_section *section, const char *path, const char *caption);
/** Records a run that the section uses; duplicates are ignored. All fields are copied; unknown
 * fields are NULL. */
void orch_section_run_add(struct orch_section *section, const struct orch_section_run *run);

/** Marks a complete section as complete at small scale. `why` is like "full size (profile course)
 * has 15 trials (here 8)". */
void orch_section_small(struct orch_section *section, const char *why);

/** Returns a run's label without the experiment that it may begin with; "" when there is no label.
 * Borrowed. */
const char *orch_section_run_setting(const struct orch_section_run *run);

/** Returns the whole document as JSON (new reference): sections with texts, tables, chart data and
 * runs. */
json_t *orch_document_json(const struct orch_document *document);

#endif
