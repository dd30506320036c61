/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A feature is a folder below features/ that holds everything of one subject. It tells core what it
 * adds by one struct orch_feature, its descriptor; features/feature_table.c lists them all. Core
 * includes no feature: where it needs what features add, it walks over the rows of that list. The
 * first row is ORCH_CORE, core's own, so a reader of the list has no special case for core.
 *
 * This header knows only names of structs: each of them is defined in the header of the folder of
 * core that uses it. A member that a feature does not need is NULL. */
#ifndef ORCH_CORE_FEATURE_FEATURE_H
#define ORCH_CORE_FEATURE_FEATURE_H

struct orch_cli;
struct orch_command;
struct orch_command_part;
struct orch_executor;
struct orch_forecasting;
struct orch_net_reader;
struct orch_plan;
struct orch_recipe_key;
struct orch_findings;
struct orch_help_topic;
struct orch_report_kind;
struct orch_typed_word;
struct orch_workspace;

/** Moments at which core has a hint for the user that only a feature can complete. */
enum orch_advice_topic {
    ORCH_ADVICE_STORE_HERE,   /* there is a store: a command for `orch` without arguments, a tab,
                                 and what it does */
    ORCH_ADVICE_NO_STORE,     /* there is no store to read */
    ORCH_ADVICE_OTHERS_STORE, /* the store was made by somebody else */
    ORCH_ADVICE_BROKEN_SHARD, /* a part of the store that another host writes cannot be read */
    ORCH_ADVICE_BEST,         /* a command that ranks settings: the metric and its options follow */
    ORCH_ADVICE_SOURCE,      /* a command that gives back the source of a run: the run follows it */
    ORCH_ADVICE_NO_PLUGIN,   /* there is no plugin of a name */
    ORCH_ADVICE_NO_FORECAST, /* nothing like a trial has been measured */
    ORCH_ADVICE_MACHINE,     /* the command that says what this machine has and lacks */
    ORCH_ADVICE_NO_PRICE,    /* the price of this machine is not known */
    ORCH_ADVICE_HAND_IN,     /* a command that hands a recipe's report in: the recipe follows it */
    ORCH_ADVICE_TOPICS
};

/** What a feature adds to the program. Every list in it ends with NULL. */
struct orch_feature {
    const struct orch_command *const *commands;         /* core/cli: dispatch, help, completion */
    const struct orch_command_part *const *parts;       /* core/cli/parts.h: options of this feature
                                                           on another folder's commands */
    const struct orch_report_kind *const *report_kinds; /* core/recipe: keys and checks;
                                                           core/report: sections */
    const struct orch_recipe_key *const *recipe_keys;   /* core/recipe: parse.c, parse_profiles.c */
    const struct orch_executor *executor;               /* core/plan/executor.h, and `orch run` */
    const struct orch_forecasting *forecasting;         /* core/plan/plan_forecast.h */
    const struct orch_net_reader *const *net_readers;   /* lib/net/open_net.h */
    /** Takes in runs that have ended elsewhere; a failure is a warning. Commands that show or use
     * the current runs call it (orch_cli_take_in). */
    void (*take_in)(struct orch_cli *cli);
    /** Marks the trials of a plan that will not run here as UNUSED that the results so far make
     * unneeded; `orch run` decides about them one by one. */
    void (*leave_out)(struct orch_plan *plan);
    /** Adds what `orch doctor` finds of the feature on this machine (core/results/findings.h). */
    void (*doctor)(struct orch_workspace *workspace, struct orch_findings *findings);
    const struct orch_help_topic *topics; /* core/cli/manual.h: pages that `orch help` prints */
    const struct orch_typed_word *words;  /* core/cli: hints for words of other programs */
    /** Texts by enum orch_advice_topic, ORCH_ADVICE_TOPICS of them; NULL: none of that topic. */
    const char *const *advice;
};

/** Core's own row (core/commands/core_feature.c). */
extern const struct orch_feature ORCH_CORE;
/** All features of the program, core first (features/feature_table.c). Only main and tests name it:
 * everything else asks orch_features. */
extern const struct orch_feature *const ORCH_FEATURES[];

/** Sets the features of this process: a list that ends with NULL and remains valid. The program
 * does it once, before anything else. */
void orch_features_set(const struct orch_feature *const *features);
/** Returns the features of this process, a list that ends with NULL. It is empty until
 * orch_features_set was called. */
const struct orch_feature *const *orch_features(void);
/** Returns the advice of the first feature that has one on the topic, else `otherwise`. */
const char *orch_advice(enum orch_advice_topic topic, const char *otherwise);

#endif
