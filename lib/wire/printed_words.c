/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_words.h"

#include "lib/base/unit.h"

#include <glib.h>
#include <string.h>

/* A class or several, and its words in lower case, separated by spaces. */
static const struct {
    unsigned classes;
    const char *words;
} VOCABULARY[] = {
    {WORD_EPOCH, "epoch ep round episode"},
    {WORD_STEP, "step global_step _step iter iteration itr update timestep total_timesteps"},
    {WORD_BATCH, "batch it mini_batch minibatch trial"},
    {WORD_COUNTED, "steps iters iterations batches minibatches epochs rounds episodes"},
    {WORD_LEVEL, "info debug warning warn error trace notice critical root"},
    {WORD_COPULA, "is was of at"},
    {WORD_PREPOSITION, "in at for to on with by from than after of"},
    {WORD_OTHER, "best since last total max min num until patience"},
    {WORD_PLACE | WORD_RANK, "rank local_rank global_rank"},
    {WORD_PLACE, "pid ppid tid dataloader dataloader_idx line port gpu cuda device node worker "
                 "process proc thread job_id jobid"},
    {WORD_FIRST_RANK, "rank gpu default process worker"},
    {WORD_SET, "set phase loop results metrics"},
    {WORD_ORDINAL, "fold thread top class client core stage task query layer"},
    {WORD_STEPS, "steps"},
    {WORD_TITLE, "benchmark"},
    {WORD_NEUTRAL,
     "result results summary metrics metric report stats statistics status note info done ok "
     "finished completed complete final output log logger logging main root wandb mlflow trainer "
     "stdout stderr config args arguments params parameters hyperparameters settings options value "
     "values message score scores warning error debug model name current overall evaluation"},
    {WORD_QUALIFIER, "best final mean average avg median min max total"},
    {WORD_USUAL, "loss acc accuracy error err precision recall f1 auc mse mae rmse ppl perplexity "
                 "bleu iou map dice lr top1 top5 reward r2 wer cer fid"},
    {WORD_COUNT, "samples count n num events iterations calls"},
    {WORD_TRAIN, "train training"},
    {WORD_VAL, "val valid validation"},
    {WORD_TEST, "test testing"},
    {WORD_EVAL, "eval evaluation"},
    {WORD_TIME_LEFT, "eta remaining time_left remaining_time"},
    /* not "eta_min", the least learning rate of a schedule */
    {WORD_NO_MEASURE, "eta_s eta_sec eta_secs eta_seconds eta_minutes eta_h eta_hours remaining_s "
                      "remaining_sec remaining_seconds time_left_s time_left_sec time_left_seconds "
                      "v_num"},
    {WORD_TYPE, "tensor array devicearray arrayimpl ndarray float float16 float32 float64 float128 "
                "bfloat16 half single double longdouble int int8 int16 int32 int64 uint8 uint16 "
                "uint32 uint64 scalar decimal parameter variable asarray mpf"},
    {WORD_DEVICE, "cuda cpu gpu mps xpu npu tpu hip hpu xla mlu localhost"},
    {WORD_SOURCE, "py pyx ipynb c h cc cpp cxx hpp cu cuh rs go js ts r jl lua sh pl m f90 java "
                  "kt"},
    {WORD_BILLIONS, "param params parameter parameters tok tokens flop flops sample samples "
                    "weights"},
};

/* Word (borrowed from VOCABULARY, hashed without its end) to classes; made once. */
static GHashTable *index_new(void)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(VOCABULARY); i++) {
        g_auto(GStrv) words = g_strsplit(VOCABULARY[i].words, " ", -1);
        for (char **word = words; *word; word++) {
            const unsigned before = GPOINTER_TO_UINT(g_hash_table_lookup(index, *word));
            g_hash_table_insert(index, g_strdup(*word),
                                GUINT_TO_POINTER(before | VOCABULARY[i].classes));
        }
    }
    return index;
}

unsigned orch_printed_classes(const char *word, size_t length)
{
    enum { WORD_BYTES_MAX = 24 };
    static GHashTable *index;
    if (g_once_init_enter(&index))
        g_once_init_leave(&index, index_new());
    char lower[WORD_BYTES_MAX];
    if (!length || length >= sizeof lower)
        return 0;
    for (size_t i = 0; i < length; i++)
        lower[i] = g_ascii_tolower(word[i]);
    lower[length] = 0;
    return GPOINTER_TO_UINT(g_hash_table_lookup(index, lower));
}

const char *orch_printed_label(unsigned classes)
{
    return classes & WORD_TRAIN  ? "train"
           : classes & WORD_VAL  ? "val"
           : classes & WORD_TEST ? "test"
           : classes & WORD_EVAL ? "eval"
                                 : NULL;
}

/* The classes of a name's last words: of "train_eta_seconds" those of "eta_seconds" as well. */
static unsigned last_classes(const char *name)
{
    unsigned classes = 0;
    for (const char *part = name; part; part = strchr(part, '_') ? strchr(part, '_') + 1 : NULL)
        classes |= orch_printed_classes(part, strlen(part));
    return classes;
}

bool orch_printed_is_time_left(const char *name, const char *unit)
{
    const unsigned classes = last_classes(name);
    return classes & WORD_NO_MEASURE ||
           (classes & WORD_TIME_LEFT && *unit && strcmp(orch_unit_common(unit), "s") == 0);
}

bool orch_printed_name_is_usual(const char *name)
{
    const char *last = strrchr(name, '_');
    last = last ? last + 1 : name;
    return orch_printed_classes(last, strlen(last)) & WORD_USUAL;
}
