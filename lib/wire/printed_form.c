/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INNER_TOKENS_MAX = 24 };

/* Of a place the first row that fits is taken, so that longer patterns stand first. */
static const struct orch_printed_form FORMS[] = {
    /* which process printed the line */
    {FORM_BEGIN, "[ F i ]", "..r.", "[GPU 1] loss 0.5", "loss_rank1[0] = 0.5"},
    {FORM_BEGIN, "[ G ]", ".r.", "[default1]: loss 0.5", "loss_rank1[0] = 0.5"},
    {FORM_BEGIN, "F i |", ".r.", "Rank 1 | loss 0.5", "loss_rank1[0] = 0.5"},
    {FORM_BEGIN, "F i : n", "mm--", "GPU 1: 45 %", "gpu_1[0] = 0.45"},
    {FORM_BEGIN, "F i :", ".r.", "Worker 1: loss 0.5", "loss_rank1[0] = 0.5"},
    {FORM_BEGIN, "G |", "r.", "gpu1 | loss 0.5", "loss_rank1[0] = 0.5"},
    {FORM_BEGIN, "G :", "r.", "worker1: loss 0.5", "loss_rank1[0] = 0.5"},
    {FORM_BEGIN, "F i w n", ".r--", "GPU 1 util 50 %", "util_rank1[0] = 0.5"},
    {FORM_BEGIN, "i : X", "r.-", "1: epoch 3 loss 0.5", "loss_rank1[3] = 0.5"},
    {FORM_BEGIN, "[ i , i ] < w > :", "...r.....", "[1,3]<stdout>: loss 0.5",
     "loss_rank3[0] = 0.5"},
    /* what the line is about */
    {FORM_BEGIN, "T i : ...", "bb..", "Benchmark 1: sleep 0.5\n  Time (mean):  512 ms",
     "benchmark_1_time_mean[0] = 0.512 s"},
    {FORM_BEGIN, "O i : n", "mm--", "fold 1: 0.75", "fold_1[0] = 0.75"},
    {FORM_BEGIN, "O k :", "bb.", "fold 1: acc 0.75\nfold 2: acc 0.5",
     "fold_1_acc[0] = 0.75, fold_2_acc[0] = 0.5"},
    {FORM_BEGIN, "O k |", "bb.", "Thread 3 | ops 5", "thread_3_ops[0] = 5"},
    {FORM_BEGIN, "O k ,", "bb.", "Class 3, AP=0.5", "class_3_ap[0] = 0.5"},
    {FORM_BEGIN, "O k X", "bb-", "Fold 2/5 epoch 3 loss 0.5", "fold_2_loss[3] = 0.5"},
    {FORM_BEGIN, "[ O k ]", ".bb.", "[Fold 2] acc=0.5", "fold_2_acc[0] = 0.5"},
    /* steps at the beginning of a line */
    {FORM_BEGIN, "[ k ] [ c ]", ".e..s.", "[0/5][1/12] loss 1.4\n[1/5][0/12] loss 1.3",
     "loss[1] = 1.4, loss[12] = 1.3"},
    {FORM_BEGIN, "[ i , i ]", ".e.s.", "[1,  2000] loss: 2.1", "loss[2000] = 2.1"},
    {FORM_BEGIN, "[ k ]", ".s.", "[3/10] loss 0.5\n[7] loss 0.25", "loss[3] = 0.5, loss[7] = 0.25"},
    {FORM_BEGIN, "( c )", ".s.", "(3/10) loss 0.5", "loss[3] = 0.5"},
    {FORM_BEGIN, "[ r ]", "...", "[   12.345] loss=0.5", "loss[0] = 0.5"},
    {FORM_BEGIN, "i : x :", "s.--", "100:\tlearn: 0.17\ttest: 0.15",
     "learn[100] = 0.17, test[100] = 0.15"},
    {FORM_BEGIN, "i : x n", "s.--", "100: loss 0.5", "loss[100] = 0.5"},
    {FORM_BEGIN, "C : i U", "..s-", "steps: 10 loss: 0.5 iter time (s): 0.1",
     "loss[10] = 0.5, iter_time_s[10] = 0.1"},
    {FORM_BEGIN, "t", ".", "1700000000.5 loss=0.5", "loss[0] = 0.5"},
    /* percentiles */
    {FORM_BEGIN, "p n $", "pv-", "  99%    1.20ms", "p99[0] = 0.0012 s"},
    {FORM_BEGIN, "p : n", "p.v", "99.9%: 0.5", "p99_9[0] = 0.5"},
    {FORM_BEGIN, "p < = n", "p..v", "99.5% <= 0.25 msec", "p99_5[0] = 0.00025 s"},
    /* steps behind an epoch */
    {FORM_EPOCH, "[ k ... ]", ".s..", "Train Epoch: 1 [640/60000 (1%)] Loss: 2.25",
     "train_loss[640] = 2.25"},
    {FORM_EPOCH, "~( c )", ".s.", "===> Epoch[1](1/50): Loss: 0.5\n===> Epoch[2](1/50): Loss: 0.25",
     "loss[1] = 0.5, loss[51] = 0.25"},
    {FORM_EPOCH_ALONE, ": c", ".s", "epoch 001:    100 / 8223 loss=5.5", "loss[100] = 5.5"},
    {FORM_EPOCH_ALONE, "c", "s", "| epoch 001   1000 / 8223 loss=1.9", "loss[1000] = 1.9"},
    {FORM_COUNTER, "[ k ... ]", ".v..", "Epoch [2/5], Step [100/600], Loss: 2.25",
     "loss[700] = 2.25"},
    {FORM_COUNTER, "( c )", ".v.", "Epoch (3/10) loss 0.5", "loss[3] = 0.5"},
    {FORM_COUNTER, "~( L )", ".l.", "Epoch(val) [1][50/50] acc: 0.5", "val_acc[50] = 0.5"},
    {FORM_ANY, "c D", "s.", "| epoch 1 | 5/ 19 batches | loss 7.5", "loss[5] = 7.5"},
    {FORM_ANY, "i D", "..", "100 steps, loss: 0.5", "loss[0] = 0.5"},
    /* parts of a name */
    {FORM_NAME, "~[ i ] : w", "d...-", "node7 train[4711]: loss=0.5", "loss[0] = 0.5"},
    {FORM_NAME, "+ w : n", "..--", "Median +- MAD:   5.5 us +- 0.5 us", "median[0] = 5.5e-06 s"},
    {FORM_NAME, "+ w w : n", "...--", "Mean +- std dev: 6.5 us +- 1.5 us", "mean[0] = 6.5e-06 s"},
    {FORM_NAME, "~[ i ] : n", ".m.--", "acc[2]: 0.5", "acc_2[0] = 0.5"},
    {FORM_NAME, "~[ w ] : n", ".m.--", "recall[cat]: 0.5", "recall_cat[0] = 0.5"},
    {FORM_NAME, ": [ c ]", "d...", "Test: [ 1/196] Acc@1 0.5", "test_acc_1[0] = 0.5"},
    {FORM_NAME, "( L ) :", ".l.-", "Accuracy (test): 0.5", "test_accuracy[0] = 0.5"},
    {FORM_NAME, "( w ) @ [", ".m.--", " Recall (AR) @[ maxDets= 10 ] = 0.5",
     "recall_ar_maxdets_10[0] = 0.5"},
    {FORM_NAME, "@ [ ... ] : n", "..m.--", " AP @[ IoU=0.50:0.95 | area=  all ] = 0.498",
     "ap_iou_0_50_0_95_area_all[0] = 0.498"},
    {FORM_NAME, "( u ) : w", ".h..-", "clat (nsec): min=500, avg=1000.5\n lat (usec): min=6",
     "clat_min[0] = 5e-07 s, clat_avg[0] = 1.0005e-06 s, lat_min[0] = 6e-06 s"},
    {FORM_NAME, "( u ) |", ".h..", "[Rank 0] time (ms) | fwd: 1.5 | step: 2.00",
     "time_fwd[0] = 0.0015 s, time_step[0] = 0.002 s"},
    {FORM_NAME, "( u ) : $", ".h..-", "Latency (ms):\n    min: 0.5\n    95th percentile: 2",
     "latency_min[0] = 0.0005 s, latency_95th_percentile[0] = 0.002 s"},
    {FORM_NAME, "( w ... ) ( w ... ) : n", ".mm..mm.--", "Time (wall clock) (h or s): 3",
     "time_wall_clock_h_or_s[0] = 3"},
    {FORM_NAME, "( w ... ) w : n", "....m--",
     "Major (with I/O) faults: 5\nMinor (no I/O) faults: 95",
     "major_faults[0] = 5, minor_faults[0] = 95"},
    {FORM_NAME, "( w ... ) w w : n", "....mm--", "Major (with I/O) page faults: 5",
     "major_page_faults[0] = 5"},
    {FORM_NAME, "( w ... ) : n", ".mm.--", "Mean return (last 10 episodes): 0.75",
     "mean_return_last_10_episodes[0] = 0.75"},
    /* what belongs to a value */
    {FORM_VALUE, "[ u ]", ".u.", "Time per request: 0.5 [ms]", "time_per_request[0] = 0.0005 s"},
};

const struct orch_printed_form *orch_printed_forms(size_t *out_count)
{
    *out_count = G_N_ELEMENTS(FORMS);
    return FORMS;
}

bool orch_printed_is_whole(const struct orch_printed_token *token)
{
    return token->kind == TOKEN_NUMBER && !token->unit[0] && token->value >= 0 &&
           token->value < 1e9 && floor(token->value) == token->value;
}

int orch_printed_first_rank(const struct orch_printed_token *token)
{
    size_t letters = token->length;
    while (letters && g_ascii_isdigit(token->text[letters - 1]))
        letters--;
    const size_t digits = token->length - letters;
    const bool is_rank = token->kind == TOKEN_WORD && digits && digits <= 5 &&
                         orch_printed_classes(token->text, letters) & WORD_FIRST_RANK;
    return is_rank ? atoi(token->text + letters) : -1;
}

/* ---- matching -------------------------------------------------------------------------- */

static bool is_sign(const struct orch_printed_token *token, char sign)
{
    return token->length == 1 && *token->text == sign;
}

static bool is_unit(const struct orch_printed_token *token)
{
    char unit[ORCH_UNIT_CHARS];
    return token->kind == TOKEN_WORD && (orch_unit_find(token->text, token->length) ||
                                         orch_printed_unit(token->text, token->length, unit));
}

static bool fits(char element, const struct orch_printed_token *token)
{
    const bool is_number = token->kind == TOKEN_NUMBER, is_word = token->kind == TOKEN_WORD;
    const unsigned classes = is_word ? token->classes : 0;
    switch (element) {
    case 'n':
        return is_number || token->kind == TOKEN_COUNT || token->kind == TOKEN_UNREAD;
    case 'r':
        return is_number;
    case 'i':
        return orch_printed_is_whole(token);
    case 'p':
        return is_number && strcmp(token->unit, "%") == 0;
    case 'c':
        return token->kind == TOKEN_COUNT;
    case 'k':
        return token->kind == TOKEN_COUNT || orch_printed_is_whole(token);
    case 'w':
        return is_word;
    case 'x':
        return is_word && !(classes & (WORD_EPOCH | WORD_STEP | WORD_BATCH));
    case 'X':
        return classes & (WORD_EPOCH | WORD_STEP | WORD_BATCH);
    case 'C':
        return classes & WORD_STEPS;
    case 'U':
        return classes & WORD_USUAL;
    case 't': /* seconds, or milliseconds, since 1970 */
        return is_number && !token->unit[0] &&
               ((token->value > 1e9 && token->value < 2e9) ||
                (token->value > 1e12 && token->value < 2e12));
    case 'L':
        return classes & WORD_LABEL;
    case 'F':
        return classes & WORD_FIRST_RANK;
    case 'O':
        return classes & WORD_ORDINAL;
    case 'T':
        return classes & WORD_TITLE;
    case 'D':
        return classes & WORD_COUNTED;
    case 'G':
        return orch_printed_first_rank(token) >= 0;
    case 'u':
        return is_unit(token);
    case ':':
        return token->kind == TOKEN_ASSIGN;
    case '+':
        return token->kind == TOKEN_PLUS;
    default:
        return is_sign(token, element);
    }
}

/* The position of the bracket that closes those around `at`; that of the last token looked at if
 * none does. */
static unsigned find_close(const struct orch_printed_tokens *tokens, unsigned at)
{
    const unsigned end = MIN(tokens->count, at + INNER_TOKENS_MAX);
    for (int depth = 0; at < end; at++) {
        const enum orch_printed_token_kind kind = tokens->all[at].kind;
        if (kind == TOKEN_CLOSE && depth == 0)
            return at;
        depth += kind == TOKEN_OPEN ? 1 : kind == TOKEN_CLOSE ? -1 : 0;
    }
    return at;
}

static bool match(const struct orch_printed_form *form, const struct orch_printed_tokens *tokens,
                  unsigned at, struct orch_printed_match *out)
{
    unsigned element = 0;
    out->form = form;
    out->end = at;
    for (const char *p = form->pattern; *p; element++) {
        const bool is_glued = *p == '~';
        p += is_glued;
        const size_t length = strcspn(p, " ");
        out->at[element] = at;
        if (length == 3) {
            at = find_close(tokens, at);
        } else if (*p == '$') {
            if (at < tokens->count)
                return false;
        } else {
            if (at >= tokens->count || !fits(*p, &tokens->all[at]) ||
                (is_glued && !tokens->all[at].is_glued))
                return false;
            at++;
        }
        if (form->makes[element] != '-')
            out->end = at;
        p += length + (p[length] == ' ');
    }
    out->at[element] = at;
    return true;
}

bool orch_printed_form_find(enum orch_printed_where where, const struct orch_printed_tokens *tokens,
                            unsigned at, struct orch_printed_match *out)
{
    if (at >= tokens->count)
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(FORMS); i++) {
        const char *first = FORMS[i].pattern;
        if (FORMS[i].where == where && fits(first[*first == '~'], &tokens->all[at]) &&
            match(&FORMS[i], tokens, at, out))
            return true;
    }
    return false;
}
