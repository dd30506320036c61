/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `environment:` of an experiment: the software in which its trials run, from a file of another
 * program or as a container's image. A feature makes it (features/environment); core knows where it
 * is, and that its digest identifies a trial. */
#ifndef ORCH_CORE_RECIPE_TRIAL_ENVIRONMENT_H
#define ORCH_CORE_RECIPE_TRIAL_ENVIRONMENT_H

#include "core/recipe/recipe_key.h"

enum orch_environment_kind {
    ORCH_ENVIRONMENT_UV,        /* uv.lock */
    ORCH_ENVIRONMENT_PIP,       /* requirements.txt */
    ORCH_ENVIRONMENT_CONDA,     /* environment.yml */
    ORCH_ENVIRONMENT_CONTAINER, /* IMAGE@sha256:DIGEST */
    ORCH_ENVIRONMENT_KINDS
};

struct orch_trial_environment {
    enum orch_environment_kind kind;
    char *text;      /* as written */
    char *path;      /* the file, absolute; NULL: a container */
    char digest[65]; /* of the kind and the file's content; of an image its own */
    char *folder;    /* where it is made, below the user's cache; NULL: a container */
    char **launcher; /* words in front of a trial's command, set by who makes it; or NULL. "%env"
                        stands for the options --env NAME of the trial's variables, "%folder" for
                        the trial's current folder */
};

extern const struct orch_yaml_key ORCH_ENVIRONMENT_KEYS[];
/** Its keys, by enum orch_environment_kind: "uv", "pip", ... */
extern const char *const ORCH_ENVIRONMENT_NAMES[ORCH_ENVIRONMENT_KINDS];

/** Reads `environment` of an experiment; NULL: there is none, or after a finding. `folder`: that of
 * the recipe. The caller frees. */
struct orch_trial_environment *orch_recipe_read_environment(struct recipe_draft *draft,
                                                            const struct orch_yaml *map,
                                                            const char *folder);
void orch_trial_environment_free(struct orch_trial_environment *environment);

/** The file whose presence says that the folder is complete. The caller frees. */
char *orch_trial_environment_mark(const struct orch_trial_environment *environment);
/** The environment's Python, where the folder is complete; else NULL. The caller frees. */
char *orch_trial_environment_python(const struct orch_trial_environment *environment);

#endif
