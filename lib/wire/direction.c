/* SPDX-License-Identifier: MIT */
#include "lib/wire/direction.h"

#include "lib/base/error.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* Words of names, without digits at their end. */
static const struct {
    const char *word;
    enum orch_better better;
} WORDS[] = {
    {"loss", ORCH_BETTER_MIN},      {"logloss", ORCH_BETTER_MIN},
    {"error", ORCH_BETTER_MIN},     {"errors", ORCH_BETTER_MIN},
    {"err", ORCH_BETTER_MIN},       {"perplexity", ORCH_BETTER_MIN},
    {"ppl", ORCH_BETTER_MIN},       {"nll", ORCH_BETTER_MIN},
    {"mse", ORCH_BETTER_MIN},       {"rmse", ORCH_BETTER_MIN},
    {"mae", ORCH_BETTER_MIN},       {"mape", ORCH_BETTER_MIN},
    {"rmsle", ORCH_BETTER_MIN},     {"crossentropy", ORCH_BETTER_MIN},
    {"wer", ORCH_BETTER_MIN},       {"cer", ORCH_BETTER_MIN},
    {"eer", ORCH_BETTER_MIN},       {"ece", ORCH_BETTER_MIN},
    {"brier", ORCH_BETTER_MIN},     {"fid", ORCH_BETTER_MIN},
    {"lpips", ORCH_BETTER_MIN},     {"bpb", ORCH_BETTER_MIN},
    {"bpc", ORCH_BETTER_MIN},       {"regret", ORCH_BETTER_MIN},
    {"time", ORCH_BETTER_MIN},      {"latency", ORCH_BETTER_MIN},
    {"runtime", ORCH_BETTER_MIN},   {"duration", ORCH_BETTER_MIN},
    {"elapsed", ORCH_BETTER_MIN},   {"bytes", ORCH_BETTER_MIN},
    {"memory", ORCH_BETTER_MIN},    {"cost", ORCH_BETTER_MIN},
    {"energy", ORCH_BETTER_MIN},    {"accuracy", ORCH_BETTER_MAX},
    {"acc", ORCH_BETTER_MAX},       {"top", ORCH_BETTER_MAX},
    {"precision", ORCH_BETTER_MAX}, {"recall", ORCH_BETTER_MAX},
    {"f", ORCH_BETTER_MAX},         {"auc", ORCH_BETTER_MAX},
    {"auroc", ORCH_BETTER_MAX},     {"auprc", ORCH_BETTER_MAX},
    {"r", ORCH_BETTER_MAX},         {"iou", ORCH_BETTER_MAX},
    {"miou", ORCH_BETTER_MAX},      {"dice", ORCH_BETTER_MAX},
    {"map", ORCH_BETTER_MAX},       {"ap", ORCH_BETTER_MAX},
    {"mrr", ORCH_BETTER_MAX},       {"ndcg", ORCH_BETTER_MAX},
    {"mcc", ORCH_BETTER_MAX},       {"kappa", ORCH_BETTER_MAX},
    {"bleu", ORCH_BETTER_MAX},      {"rouge", ORCH_BETTER_MAX},
    {"psnr", ORCH_BETTER_MAX},      {"ssim", ORCH_BETTER_MAX},
    {"score", ORCH_BETTER_MAX},     {"reward", ORCH_BETTER_MAX},
    {"return", ORCH_BETTER_MAX},    {"throughput", ORCH_BETTER_MAX},
    {"bandwidth", ORCH_BETTER_MAX}, {"iops", ORCH_BETTER_MAX},
    {"speedup", ORCH_BETTER_MAX},   {"mfu", ORCH_BETTER_MAX},
};
/* Words that need their digit: "f1", "r2". */
static const char *const WITH_DIGIT[] = {"f", "r", NULL};

static bool is_time(const char *word)
{
    const struct orch_unit *unit = orch_unit_find(word, strlen(word));
    return unit && unit->quantity == ORCH_QUANTITY_TIME;
}

/* "ms", "seconds" and "fps" as words of a name; not "h" or "min", which are heights and minima. */
static enum orch_better of_unit(const char *word)
{
    const struct orch_unit *unit = orch_unit_find(word, strlen(word));
    if (unit && unit->is_rate)
        return ORCH_BETTER_MAX;
    return unit && unit->quantity == ORCH_QUANTITY_TIME &&
                   (unit->place == ORCH_UNIT_ANYWHERE || strlen(word) > 3)
               ? ORCH_BETTER_MIN
               : ORCH_BETTER_NONE;
}

static enum orch_better of_word(const char *word)
{
    g_autofree char *bare = g_ascii_strdown(word, -1);
    size_t length = strlen(bare);
    while (length > 1 && g_ascii_isdigit(bare[length - 1]))
        bare[--length] = '\0';
    bool has_digit = length < strlen(word);
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
        if (strcmp(bare, WORDS[i].word) == 0)
            return has_digit || !g_strv_contains(WITH_DIGIT, bare) ? WORDS[i].better
                                                                   : ORCH_BETTER_NONE;
    return of_unit(bare);
}

/* Splits a name at signs, and before a capital letter behind a small one: "valLoss", "loss/train".
 */
static char **words_of(const char *name)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (const char *at = name; *at; at++) {
        if (at > name && g_ascii_islower(at[-1]) && g_ascii_isupper(*at))
            g_string_append_c(text, ' ');
        g_string_append_c(text, g_ascii_isalnum(*at) || (*at & 0x80) ? *at
                                : *at == '/'                         ? '/'
                                                                     : ' ');
    }
    g_auto(GStrv) rates = g_strsplit(text->str, "/", -1);
    g_autofree char *spaced = g_strjoinv(" / ", rates);
    return g_strsplit(spaced, " ", -1);
}

/* The last word that is known decides: "error_recall" is a recall. What is counted by a time is a
 * rate: "images_per_s", "tok/s". */
static enum orch_better by_name(const char *name)
{
    g_auto(GStrv) words = words_of(name);
    enum orch_better better = ORCH_BETTER_NONE, whole = of_word(name);
    const char *before = "";
    for (int i = 0; words[i]; i++) {
        g_autofree char *lower = g_ascii_strdown(words[i], -1);
        enum orch_better one = of_word(words[i]);
        bool is_rate =
            (g_ascii_strcasecmp(before, "per") == 0 || strcmp(before, "/") == 0) && is_time(lower);
        bool divides = g_ascii_strcasecmp(before, "per") == 0 && !is_rate;
        if (is_rate || (one != ORCH_BETTER_NONE && !divides))
            better = is_rate ? ORCH_BETTER_MAX : one;
        before = *words[i] ? words[i] : before;
    }
    return better != ORCH_BETTER_NONE ? better : whole;
}

struct orch_direction orch_direction_of(const char *name, const char *unit,
                                        enum orch_better declared)
{
    bool is_rate;
    if (declared != ORCH_BETTER_NONE)
        return (struct orch_direction){declared, NULL};
    if (orch_unit_is_timing(unit, &is_rate) && !isnan(orch_unit_in_seconds(unit)))
        return (struct orch_direction){is_rate ? ORCH_BETTER_MAX : ORCH_BETTER_MIN, "unit"};
    enum orch_better better = by_name(name);
    return (struct orch_direction){better, better != ORCH_BETTER_NONE ? "name" : NULL};
}

static const char *const BETTER[] = {"none", "min", "max", NULL};

const char *const *orch_better_words(void)
{
    return BETTER;
}

const char *orch_better_word(enum orch_better better)
{
    return BETTER[better <= ORCH_BETTER_MAX ? better : ORCH_BETTER_NONE];
}

enum orch_better orch_better_parse(const char *word)
{
    for (unsigned i = 0; word && BETTER[i]; i++)
        if (strcmp(word, BETTER[i]) == 0)
            return (enum orch_better)i;
    return ORCH_BETTER_NONE;
}

char *orch_direction_said(const char *name, struct orch_direction direction, bool options)
{
    if (!direction.by)
        return NULL;
    bool is_max = direction.better == ORCH_BETTER_MAX;
    g_autofree char *turn =
        options ? g_strdup_printf("; --%s reverses this", is_max ? "min" : "max") : g_strdup("");
    return g_strdup_printf("%s: %s is better (by its %s%s)", name, is_max ? "higher" : "lower",
                           direction.by, turn);
}

bool orch_direction_unknown(const char *name, const char *hint, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "the name '%s' does not say whether larger values are better", name);
    return false;
}
