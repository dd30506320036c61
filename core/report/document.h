/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report before it is shown: sections of texts, tables, charts and pictures, each with the runs
 * it was made of. Items of a recipe fill it (core/answer); a terminal, a page, a notebook and files
 * are made from it. */
#ifndef ORCH_CORE_REPORT_DOCUMENT_H
#define ORCH_CORE_REPORT_DOCUMENT_H

#include "core/report/chart.h"
#include "core/report/table.h"

enum orch_block_kind {
    ORCH_BLOCK_TEXT,    /* a sentence or paragraph of the answer */
    ORCH_BLOCK_NOTE,    /* small print: what a table's numbers are, how they were made */
    ORCH_BLOCK_MISSING, /* what cannot be answered, and why; `cure`: the next command */
    ORCH_BLOCK_TABLE,
    ORCH_BLOCK_CHART,
    ORCH_BLOCK_PICTURES,
    ORCH_BLOCK_STUDENT, /* left to the student: orch writes nothing here */
};

struct orch_picture {
    char *path;    /* absolute, of a PNG */
    char *caption; /* "lr 0.1 mode full, run 3f2a91c0" */
};

struct orch_block {
    enum orch_block_kind kind;
    char *text; /* TEXT, NOTE, MISSING, STUDENT; a caption of the others, or NULL */
    char *cure; /* MISSING: a command, or NULL */
    struct orch_table *table;
    struct orch_chart *chart;
    GPtrArray *pictures; /* struct orch_picture * */
};

/** A run that a section was made of. */
struct orch_section_run {
    char *key, *experiment, *label, *who, *where, *commit; /* label: "lr=0.1 #2" */
    bool is_ours;                                          /* made by whoever asks */
};

enum orch_section_state {
    ORCH_SECTION_COMPLETE,
    ORCH_SECTION_SMALL,   /* complete, but smaller than the assignment asks for; `scale` says why */
    ORCH_SECTION_PARTIAL, /* some of its cells are missing */
    ORCH_SECTION_MISSING, /* nothing of it was run */
    ORCH_SECTION_SKIPPED, /* not in this profile, or this machine lacks what it needs */
    ORCH_SECTION_STUDENT, /* to be written by the student */
};

struct orch_section {
    char *question, *title; /* or NULL */
    double points;          /* 0: none given */
    const char *kind;       /* "table", "plot", ...: static */
    char *command;          /* that gives this section alone: "orch report ... --only 1.1c" */
    enum orch_section_state state;
    char *scale;            /* SMALL: what the full size asks for beyond this; else NULL */
    unsigned planned, done; /* trials that it asks for, and that are there */
    guint disturbed_left_out, disturbed_kept; /* runs that times leave out, or count all the same,
                                                 though the machine did other work */
    GPtrArray *blocks;                        /* struct orch_block * */
    GPtrArray *runs;                          /* struct orch_section_run *, each run once */
};

struct orch_document {
    char *name, *about, *recipe, *profile; /* recipe: its path; profile: or NULL */
    char *commit, *who, *machine, *made;   /* made: "2026-11-21 16:40 UTC" */
    bool is_dirty;
    char *store_digest;
    GPtrArray *sections; /* struct orch_section * */
};

struct orch_document *orch_document_new(const char *name);
void orch_document_free(struct orch_document *document);
/** Adds a section. Borrowed. */
struct orch_section *orch_document_add(struct orch_document *document, const char *kind,
                                       const char *question, const char *title);
void orch_section_free(struct orch_section *section);
/** As JSON and style sheets name it: "complete", "small_scale", "partial", ... */
const char *orch_section_state_name(enum orch_section_state state);

/** Each adds a block behind the others. Texts are copied; tables, charts are taken. */
void orch_section_text(struct orch_section *section, const char *format, ...) G_GNUC_PRINTF(2, 3);
void orch_section_note(struct orch_section *section, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Leaves something to the student: what is asked ("": not said). A section with nothing else is
 * the student's. */
void orch_section_student(struct orch_section *section, const char *format, ...)
    G_GNUC_PRINTF(2, 3);
/** Says what is missing, with the command that would make it (NULL: none); the section's state is
 * no longer complete. */
void orch_section_missing(struct orch_section *section, const char *cure, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
void orch_section_table(struct orch_section *section, struct orch_table *table);
void orch_section_chart(struct orch_section *section, struct orch_chart *chart);
/** Begins a grid of pictures, or adds to the one that was begun last. */
void orch_section_picture(struct orch_section *section, const char *path, const char *caption);
/** Notes a run, once. All are copied; NULL where unknown. */
void orch_section_run_add(struct orch_section *section, const struct orch_section_run *run);

/** Marks a complete section as complete at small scale: "profile course asks for 15 trials (here
 * 8)". */
void orch_section_small(struct orch_section *section, const char *why);

/** A run's label without its experiment, when it begins with that; "" for none. Borrowed. */
const char *orch_section_run_setting(const struct orch_section_run *run);

/** The whole as JSON (new reference): sections with their texts, tables, the charts' data, runs. */
json_t *orch_document_json(const struct orch_document *document);

#endif
