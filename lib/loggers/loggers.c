/* SPDX-License-Identifier: MIT */
#include "lib/loggers/loggers.h"

#include "lib/base/text.h"
#include "lib/wire/number.h"

#include <math.h>
#include <string.h>

/* The first row that knows a file reads it. docs/loggers.md has what they read, and who writes it.
 */
static const struct orch_logger *const LOGGERS[] = {
    &ORCH_LOGGER_TENSORBOARD,  &ORCH_LOGGER_WANDB,      &ORCH_LOGGER_SWANLAB, &ORCH_LOGGER_MLRUNS,
    &ORCH_LOGGER_MLRUNS_PARAM, &ORCH_LOGGER_MLFLOW_DB,  &ORCH_LOGGER_TRACKIO, &ORCH_LOGGER_DVCLIVE,
    &ORCH_LOGGER_CSV,          &ORCH_LOGGER_JSON_LINES, &ORCH_LOGGER_JSON,    &ORCH_LOGGER_YAML,
    &ORCH_LOGGER_YAML_SETTINGS};

static bool has_end(const struct orch_logger *logger, const char *path)
{
    bool has = !logger->ends;
    for (const char *const *end = logger->ends; end && *end; end++)
        has = has || g_str_has_suffix(path, *end);
    return has;
}

bool orch_logger_may_know(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(LOGGERS); i++)
        if (has_end(LOGGERS[i], path) && (LOGGERS[i]->ends || LOGGERS[i]->knows(path, "", 0)))
            return true;
    return false;
}

char *orch_logger_beside(const char *path)
{
    char *beside = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(LOGGERS) && !beside; i++)
        beside = LOGGERS[i]->beside ? LOGGERS[i]->beside(path) : NULL;
    return beside;
}

const struct orch_logger *orch_logger_of(const char *path, bool is_named, const char *head,
                                         size_t length)
{
    for (size_t i = 0; i < G_N_ELEMENTS(LOGGERS); i++)
        if (has_end(LOGGERS[i], path) && LOGGERS[i]->knows(path, head, length))
            return LOGGERS[i];
    for (size_t i = 0; is_named && i < G_N_ELEMENTS(LOGGERS); i++)
        if (LOGGERS[i]->stand_in && LOGGERS[i]->knows(LOGGERS[i]->stand_in, head, length))
            return LOGGERS[i];
    return NULL;
}

bool orch_logger_is_unsure(const char *head, size_t length)
{
    static const char database[] = "SQLite format 3";
    return length < ORCH_LOGGER_HEAD_BYTES || memcmp(head, database, strlen(database)) == 0;
}

/* Names of steps, the better ones first: what a script counts in its smallest unit. */
static const char STEPS[] =
    "trainer/global_step step _step steps global_step total_timesteps "
    "time/total_timesteps timesteps timestep time_step num_timesteps env_step env_steps "
    "iter iteration iterations num_iterations it batch training_iteration time/iterations "
    "update round episode episodes epoch";

int orch_log_step_rank(const char *name)
{
    size_t length = strlen(name);
    int rank = 0;
    for (const char *at = STEPS, *end; *at; at = end + (*end != 0), rank++) {
        end = at + strcspn(at, " ");
        if ((size_t)(end - at) == length && g_ascii_strncasecmp(name, at, length) == 0)
            return rank;
    }
    return -1;
}

bool orch_log_number(const char *text, double *out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", (double)NAN}, {"inf", (double)INFINITY}, {"infinity", (double)INFINITY}};
    const char *unsigned_text = text + (*text == '-' || *text == '+');
    const char *stop = g_ascii_isdigit(*unsigned_text)
                           ? orch_number_read(text, text + strlen(text) + 1, out)
                           : NULL;
    if (stop && !*stop)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_ascii_strcasecmp(unsigned_text, words[i].word) == 0) {
            *out = *text == '-' ? -words[i].value : words[i].value;
            return true;
        }
    return orch_real_parse(text, out);
}
