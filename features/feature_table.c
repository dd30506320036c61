/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The features of the program, a row each. To remove a feature, delete its folder and its row.
 * Within a group, 'orch help' lists commands in the order of the rows, and parts of run and plan
 * are asked in this order. */
#include "core/feature/feature.h"

#include <stddef.h>

/* clang-format off */
#define FEATURE_ROWS(ROW)                                                                          \
    ROW(CONFIG)    /* the settings of a recipe, and the schemas of files */                        \
    ROW(CANCEL)    /* trials ended from elsewhere */                                               \
    ROW(LABELS)    /* notes, tags and names of runs */                                             \
    ROW(CHARTS)    /* charts and tables of what trials recorded */                                 \
    ROW(COMPARE)   /* settings, runs, commits, and whether they differ */                          \
    ROW(ARTIFACTS) /* images, tables and workings that runs leave */                               \
    ROW(SCALING)   /* speedup, time to accuracy, gain by cost */                                   \
    ROW(EXPORT)    /* runs as rows of a table */                                                   \
    ROW(PLUGINS)   /* plugins made and checked */                                                  \
    ROW(RECORD)    /* runs of programs that orch does not start */                                 \
    ROW(SHARE)     /* runs of a group: pull, push, bundles, signatures */                          \
    ROW(SLURM)     /* trials as jobs of Slurm */                                                   \
    ROW(ONNX)      /* networks in files of ONNX */                                                 \
    ROW(OPERATORS) /* models of PyTorch by their operators */                                      \
    ROW(HUBCONFIG) /* transformers by the config.json of Hugging Face's hub */                      \
    ROW(NETWORKS)  /* the zoo of networks */                                                       \
    ROW(HARDWARE)  /* known GPUs, links and prices; measuring this machine */                      \
    ROW(PREDICT)   /* forecasts of times and costs */                                              \
    ROW(LEARN)     /* predictors that are trained on runs */                                       \
    ROW(SEARCH)    /* trials whose values are chosen from the results so far */                    \
    ROW(CURVE)     /* learning curves and the laws fitted to them */                               \
    ROW(PALEO)     /* PALEO's formulas and the roofline */                                         \
    ROW(BISECT)    /* the commit that made a metric worse */                                       \
    ROW(COST)      /* what runs cost, and allowances */                                            \
    ROW(PACK)      /* packs that others verify, and hand-ins */                                    \
    ROW(DATASETS)  /* training sets in the shared cache */                                         \
    ROW(IMPORTS)   /* other programs' runs and tables of measurements */                           \
    ROW(ENVIRONMENT) /* what a run had installed, and environments in which trials run */          \
    ROW(DOCTOR)    /* what this machine has and lacks */                                           \
    ROW(CLOUD)     /* training jobs for clusters and clouds */                                     \
    ROW(WEB)       /* the store in a browser */                                                    \
    ROW(QUERY)     /* SQL on the store */                                                          \
    ROW(REPAIR)    /* what a damaged store still has */                                            \
    ROW(COMPLETION) /* words that a shell completes */
/* clang-format on */

#define DECLARE(name) extern const struct orch_feature ORCH_FEATURE_##name;
FEATURE_ROWS(DECLARE)

#define ADDRESS(name) &ORCH_FEATURE_##name,
const struct orch_feature *const ORCH_FEATURES[] = {&ORCH_CORE, FEATURE_ROWS(ADDRESS) NULL};
