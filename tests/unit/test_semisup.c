/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set that a teacher selects, and weak labels: the properties that their definitions promise.
 */
#include "lib/base/error.h"
#include "plugins/common/data/random.h"
#include "plugins/semisup/top_images.h"
#include "plugins/semisup/weak_labels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGES = 600, CLASSES = 7 };

/* Scores in steps of 1/16, so that many are equal. */
static float *coarse_scores(int64_t count, int classes, uint64_t seed)
{
    float *scores = g_new(float, count *classes);
    for (int64_t i = 0; i < count * classes; i++)
        scores[i] = (float)orch_random_below_32(&seed, 16) / 16;
    return scores;
}

static int64_t *ids_from(int64_t first, int64_t count)
{
    int64_t *ids = g_new(int64_t, count);
    for (int64_t i = 0; i < count; i++)
        ids[i] = first + i;
    return ids;
}

/* Number of classes that rank before `class` in an image: the definition of its rank. */
static int rank_of(const float *row, int classes, int class)
{
    int before = 0;
    for (int c = 0; c < classes; c++)
        before += row[c] > row[class] || (row[c] == row[class] && c < class);
    return before;
}

/* ---- selection --------------------------------------------------------------------------------
 */

/* Compared with the definition, class by class, for every P and several K. */
static void test_exactly_k_of_each_class(void **state)
{
    (void)state;
    g_autofree float *scores = coarse_scores(IMAGES, CLASSES, 1);
    g_autofree int64_t *ids = ids_from(0, IMAGES);
    const int64_t ks[] = {1, 5, 40, 200, IMAGES};
    for (int p = 1; p <= CLASSES; p++)
        for (size_t n = 0; n < G_N_ELEMENTS(ks); n++) {
            const int64_t k = ks[n];
            struct orch_top_images *s =
                orch_semisup_select(scores, ids, IMAGES, CLASSES, p, k, NULL);
            int64_t at = 0;
            for (int c = 0; c < CLASSES; c++) {
                int64_t candidates = 0;
                for (int64_t i = 0; i < IMAGES; i++)
                    candidates += rank_of(scores + i * CLASSES, CLASSES, c) < p;
                assert_int_equal(s->candidates[c], candidates);
                assert_int_equal(s->selected[c], MIN(k, candidates)); /* K where there are K */
                for (int64_t j = 0; j < s->selected[c]; j++, at++) {
                    const int64_t image = s->positions[at];
                    assert_int_equal(s->labels[at], c);
                    assert_true(rank_of(scores + image * CLASSES, CLASSES, c) < p);
                    assert_true(s->scores[at] == scores[image * CLASSES + c]);
                    if (j > 0) /* falls; of equal scores the lower id is first */
                        assert_true(
                            s->scores[at] < s->scores[at - 1] ||
                            (s->scores[at] == s->scores[at - 1] && image > s->positions[at - 1]));
                }
                /* no candidate that is left out has a higher score than the last that is in */
                const float last = s->scores[at - 1];
                int64_t above = 0;
                for (int64_t i = 0; i < IMAGES; i++)
                    above += rank_of(scores + i * CLASSES, CLASSES, c) < p &&
                             scores[i * CLASSES + c] > last;
                assert_true(above <= s->selected[c] - 1);
            }
            assert_int_equal(at, s->count);
            assert_true(s->count <= k * CLASSES);
            if (p == CLASSES)
                assert_int_equal(s->count, k * CLASSES); /* every image is a candidate of all */
            orch_top_images_free(s);
        }
}

/* The number of classes for which an image was selected is at most P; P = 1: at most one. */
static void test_an_image_is_in_at_most_p_classes(void **state)
{
    (void)state;
    g_autofree float *scores = coarse_scores(IMAGES, CLASSES, 2);
    g_autofree int64_t *ids = ids_from(0, IMAGES);
    for (int p = 1; p <= CLASSES; p++) {
        int most = 0, times[IMAGES] = {0};
        struct orch_top_images *s =
            orch_semisup_select(scores, ids, IMAGES, CLASSES, p, IMAGES, NULL);
        for (int64_t i = 0; i < s->count; i++)
            times[s->positions[i]]++;
        for (int64_t i = 0; i < IMAGES; i++)
            most = MAX(most, times[i]);
        assert_int_equal(most, p); /* with K = all images it is P exactly */
        orch_top_images_free(s);
    }
}

/* The order of the images changes nothing, though many scores are equal. */
static void test_permutation_selects_the_same(void **state)
{
    (void)state;
    g_autofree float *scores = coarse_scores(IMAGES, CLASSES, 3);
    g_autofree int64_t *ids = ids_from(1000, IMAGES);
    struct orch_top_images *first = orch_semisup_select(scores, ids, IMAGES, CLASSES, 2, 37, NULL);
    for (uint64_t seed = 0; seed < 5; seed++) {
        g_autofree int64_t *order = ids_from(0, IMAGES), *moved_ids = ids_from(0, IMAGES);
        g_autofree float *moved = g_new(float, IMAGES *CLASSES);
        orch_random_shuffle(order, IMAGES, seed);
        for (int64_t i = 0; i < IMAGES; i++) {
            memcpy(moved + i * CLASSES, scores + order[i] * CLASSES, sizeof *moved * CLASSES);
            moved_ids[i] = ids[order[i]];
        }
        struct orch_top_images *again =
            orch_semisup_select(moved, moved_ids, IMAGES, CLASSES, 2, 37, NULL);
        assert_int_equal(again->count, first->count);
        for (int64_t i = 0; i < first->count; i++) {
            assert_int_equal(moved_ids[again->positions[i]], ids[first->positions[i]]);
            assert_int_equal(again->labels[i], first->labels[i]);
        }
        orch_top_images_free(again);
    }
    orch_top_images_free(first);
}

/* Share of the selected images whose true class is not the one they were selected for. */
static double noise_of(const struct orch_top_images *s, const int32_t *truth)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < s->count; i++)
        wrong += truth[s->positions[i]] != s->labels[i];
    return (double)wrong / (double)s->count;
}

/* A teacher of known accuracy: it is right with probability a, and its score of its first class is
 * drawn so that higher scores are right more often: right with probability 1 - (1 - a) 2 u where
 * the score is 1 - u / 2, u uniform on [0, 1). The K best of n candidates have u below about K / n,
 * so their share of wrong labels is about (1 - a) K / n. */
static void test_noise_grows_with_k(void **state)
{
    (void)state;
    enum { COUNT = 40000, KINDS = 4 };
    const double accuracy = 0.7;
    g_autofree float *scores = g_new0(float, COUNT *KINDS);
    g_autofree int32_t *truth = g_new(int32_t, COUNT);
    g_autofree int64_t *ids = ids_from(0, COUNT);
    uint64_t random = 5;
    for (int64_t i = 0; i < COUNT; i++) {
        const double u = orch_random_unit(&random);
        const int32_t said = (int32_t)orch_random_below_32(&random, KINDS);
        const int32_t other =
            (said + 1 + (int32_t)orch_random_below_32(&random, KINDS - 1)) % KINDS;
        truth[i] = orch_random_unit(&random) < 1 - (1 - accuracy) * 2 * u ? said : other;
        for (int c = 0; c < KINDS; c++)
            scores[i * KINDS + c] = (float)(c == said ? 1 - u / 2 : u / 2 / (KINDS - 1));
    }
    double before = -1;
    const int64_t ks[] = {500, 2000, 4000, 8000, COUNT / KINDS * 2};
    for (size_t n = 0; n < G_N_ELEMENTS(ks); n++) {
        struct orch_top_images *s = orch_semisup_select(scores, ids, COUNT, KINDS, 1, ks[n], NULL);
        const double noise = noise_of(s, truth);
        const double expected = (1 - accuracy) * (double)s->count / COUNT;
        /* 3 standard deviations of a share of s->count images */
        assert_true(fabs(noise - expected) <
                    3 * sqrt(expected * (1 - expected) / (double)s->count) + 0.005);
        assert_true(noise > before);
        before = noise;
        orch_top_images_free(s);
    }
    assert_true(fabs(before - (1 - accuracy)) < 0.01); /* all of them: the teacher's own error */
}

static void refuses(const float *scores, int64_t count, int64_t p, int64_t k, const char *text)
{
    g_autofree int64_t *ids = ids_from(0, count);
    GError *error = NULL;
    assert_null(orch_semisup_select(scores, ids, count, CLASSES, p, k, &error));
    if (!strstr(error->message, text))
        fail_msg("'%s' lacks '%s'", error->message, text);
    g_clear_error(&error);
}

static void test_refuses(void **state)
{
    (void)state;
    g_autofree float *scores = coarse_scores(50, CLASSES, 4);
    refuses(scores, 50, CLASSES + 1, 5,
            "p: 8 classes for each image, but there are only 7 classes");
    refuses(scores, 50, 0, 5, "p: 0 classes for each image");
    refuses(scores, 50, 1, 51,
            "k: 51 images for each class, but there are only 50 unlabelled images");
    refuses(scores, 50, 1, 0, "k: 0 images for each class");
    scores[49 * CLASSES + 6] = NAN;
    refuses(scores, 50, 1, 5, "not numbers");
}

/* A class that is nobody's candidate selects nothing; the others are as they were. */
static void test_class_without_candidates(void **state)
{
    (void)state;
    const float scores[] = {0.5f, 0.3f, 0.2f, 0.6f, 0.4f, 0, 0.4f, 0.35f, 0.25f};
    const int64_t ids[] = {4, 5, 6};
    struct orch_top_images *s = orch_semisup_select(scores, ids, 3, 3, 1, 2, NULL);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->selected[0], 2);
    assert_int_equal(s->selected[1] + s->selected[2], 0);
    assert_int_equal(s->positions[0], 1);
    assert_int_equal(s->positions[1], 0);
    orch_top_images_free(s);
}

/* ---- weak labels ------------------------------------------------------------------------------
 */

static int32_t *labels_of_sizes(const int64_t *sizes, int classes, int64_t *out_count)
{
    *out_count = 0;
    for (int c = 0; c < classes; c++)
        *out_count += sizes[c];
    int32_t *labels = g_new(int32_t, *out_count + 1);
    int64_t at = 0;
    for (int c = 0; c < classes; c++)
        for (int64_t i = 0; i < sizes[c]; i++)
            labels[at++] = c;
    return labels;
}

static void count_labels(const int32_t *labels, const struct orch_positions *positions,
                         int64_t *out, int classes)
{
    memset(out, 0, sizeof *out * (size_t)classes);
    for (int64_t i = 0; i < positions->count; i++)
        out[labels[positions->items[i]]]++;
}

static int compare_down(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static void test_long_tail(void **state)
{
    (void)state;
    const int64_t sizes[] = {300, 300, 360, 300}, power1[] = {300, 150, 100, 75},
                  power2[] = {300, 75, 33, 19};
    int64_t count, found[4], other[4];
    g_autofree int32_t *labels = labels_of_sizes(sizes, 4, &count);
    for (int exponent = 0; exponent <= 2; exponent++) {
        struct orch_positions kept = orch_semisup_long_tail(labels, count, 4, exponent, 9);
        count_labels(labels, &kept, found, 4);
        for (int64_t i = 1; i < kept.count; i++)
            assert_true(kept.items[i] > kept.items[i - 1]); /* no image twice */
        qsort(found, 4, sizeof *found, compare_down);
        for (int c = 0; c < 4; c++)
            assert_int_equal(found[c], exponent == 0 ? 300 : (exponent == 1 ? power1 : power2)[c]);
        orch_positions_clear(&kept);
    }
    /* which class is rare depends on the seed */
    bool differs = false;
    struct orch_positions first = orch_semisup_long_tail(labels, count, 4, 1, 9);
    count_labels(labels, &first, found, 4);
    for (uint64_t seed = 10; seed < 20; seed++) {
        struct orch_positions kept = orch_semisup_long_tail(labels, count, 4, 1, seed);
        count_labels(labels, &kept, other, 4);
        differs = differs || memcmp(found, other, sizeof found) != 0;
        orch_positions_clear(&kept);
    }
    assert_true(differs);
    orch_positions_clear(&first);
}

static void test_replaced_labels(void **state)
{
    (void)state;
    const int64_t sizes[] = {4000, 2000, 1000};
    int64_t count;
    g_autofree int32_t *labels = labels_of_sizes(sizes, 3, &count);
    g_autofree int32_t *less = NULL;
    const double shares[] = {0, 0.1, 0.25, 0.5, 1};
    for (size_t n = 0; n < G_N_ELEMENTS(shares); n++) {
        int32_t *noisy = g_memdup2(labels, sizeof *labels * (gsize)count);
        const int64_t wanted = llrint(shares[n] * (double)count);
        assert_int_equal(orch_semisup_replace_labels(noisy, count, 3, shares[n], 77, NULL), wanted);
        int64_t changed = 0, from0 = 0, from0_to1 = 0;
        for (int64_t i = 0; i < count; i++) {
            changed += noisy[i] != labels[i];
            from0 += labels[i] == 0 && noisy[i] != 0;
            from0_to1 += labels[i] == 0 && noisy[i] == 1;
            if (less && less[i] != labels[i])
                assert_int_equal(noisy[i], less[i]); /* a larger share replaces these as well */
        }
        assert_int_equal(changed, wanted); /* always by another label */
        if (shares[n] == 1)                /* in proportion to the others: 2 to 1 */
            assert_true(fabs((double)from0_to1 / (double)from0 - 2.0 / 3) <
                        3 * sqrt(2.0 / 9 / 4000));
        g_free(less);
        less = noisy;
    }
    const int64_t one[] = {0, 5, 0};
    g_autofree int32_t *equal = labels_of_sizes(one, 3, &count);
    GError *error = NULL;
    assert_int_equal(orch_semisup_replace_labels(equal, count, 3, 0.4, 1, &error), -1);
    assert_non_null(strstr(error->message, "noise: all 5 labels are equal"));
    g_clear_error(&error);
    assert_int_equal(orch_semisup_replace_labels(equal, count, 3, 0, 1, &error), 0);
}

static void test_resampling(void **state)
{
    (void)state;
    const int64_t sizes[] = {900, 0, 100, 400};
    const struct {
        double power;
        int64_t wanted[4]; /* 1400 x n^power / sum, by largest remainder */
    } cases[] = {{1, {900, 0, 100, 400}}, {0.5, {700, 0, 233, 467}}, {0, {467, 0, 467, 466}}};
    int64_t count, found[4];
    g_autofree int32_t *labels = labels_of_sizes(sizes, 4, &count);
    for (size_t n = 0; n < G_N_ELEMENTS(cases); n++) {
        struct orch_positions drawn = orch_semisup_resample(labels, count, 4, cases[n].power, 3);
        g_autofree int64_t *times = g_new0(int64_t, count);
        assert_int_equal(drawn.count, count);
        count_labels(labels, &drawn, found, 4);
        assert_memory_equal(found, cases[n].wanted, sizeof found);
        for (int64_t i = 0; i < drawn.count; i++)
            times[drawn.items[i]]++;
        for (int64_t i = 0; i < count; i++) {
            const int64_t least = found[labels[i]] / sizes[labels[i]];
            assert_true(times[i] == least ||
                        (times[i] == least + 1 && found[labels[i]] % sizes[labels[i]]));
        }
        orch_positions_clear(&drawn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exactly_k_of_each_class),
        cmocka_unit_test(test_an_image_is_in_at_most_p_classes),
        cmocka_unit_test(test_permutation_selects_the_same),
        cmocka_unit_test(test_noise_grows_with_k),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_class_without_candidates),
        cmocka_unit_test(test_long_tail),
        cmocka_unit_test(test_replaced_labels),
        cmocka_unit_test(test_resampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
