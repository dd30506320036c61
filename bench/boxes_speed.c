/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processor time of a batch of a MobileNetV1-SSD outside of the network: the loss with its
 * gradients, and the detections. 3,000 priors, random outputs.
 *
 * boxes_speed [IMAGES [OBJECTS [CLASSES]]]: default 32 images of 6 objects, 21 classes
 */
#include "plugins/common/boxes/detections.h"
#include "plugins/common/boxes/multibox_loss.h"

#include "lib/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 15

struct problem {
    struct orch_priors *priors;
    struct orch_box_batch objects;
    int classes;
    float *locations, *confidences, *gradients;
};

static float unit(uint64_t *random)
{
    return (float)orch_random_unit(random);
}

static struct problem make(int images, int count, int classes)
{
    const struct orch_prior_spec spec = orch_prior_spec_mobilenet_v1_ssd();
    struct problem p = {.priors = orch_priors_new(&spec, NULL), .classes = classes};
    const int64_t rows = images * p.priors->count, values = rows * (4 + classes);
    int64_t *first = g_new(int64_t, images + 1);
    struct orch_box *boxes = g_new(struct orch_box, images * count + 1);
    int32_t *labels = g_new(int32_t, images * count + 1);
    uint64_t random = 1;
    for (int i = 0; i <= images; i++)
        first[i] = (int64_t)i * count;
    for (int i = 0; i < images * count; i++) {
        const float w = 0.1F + 0.6F * unit(&random), h = 0.1F + 0.6F * unit(&random);
        const float x = (1 - w) * unit(&random), y = (1 - h) * unit(&random);
        boxes[i] = (struct orch_box){x, y, x + w, y + h};
        labels[i] = 1 + (int32_t)orch_random_below(&random, (size_t)classes - 1);
    }
    p.objects = (struct orch_box_batch){images, first, boxes, labels};
    p.locations = g_new(float, values);
    p.confidences = p.locations + rows * 4;
    p.gradients = g_new(float, values);
    for (int64_t i = 0; i < values; i++)
        p.locations[i] = 4 * unit(&random) - 2;
    return p;
}

static void run_loss(const struct problem *p)
{
    const struct orch_multibox_options options = {p->classes, ORCH_MATCH_IOU, 3};
    const struct orch_multibox_outputs outputs = {p->locations, p->confidences};
    const struct orch_multibox_gradients gradients = {
        p->gradients, p->gradients + p->objects.images * p->priors->count * 4};
    struct orch_multibox_loss loss;
    GError *error = NULL;
    if (!orch_multibox_loss(p->priors, &p->objects, &options, &outputs, &gradients, &loss,
                            &error)) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

static void run_matching(const struct problem *p)
{
    g_autofree int32_t *object = g_new(int32_t, p->priors->count);
    for (int64_t i = 0; i < p->objects.images; i++) {
        const int64_t from = p->objects.first[i];
        orch_priors_match(p->priors, p->objects.boxes + from, p->objects.first[i + 1] - from,
                          ORCH_MATCH_IOU, object);
    }
}

static void run_detections(const struct problem *p)
{
    const struct orch_detection_options options = {0.01F, 0.45F, 200, 0};
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
    for (int64_t i = 0; i < p->objects.images; i++) {
        const int64_t row = i * p->priors->count;
        g_array_set_size(found, 0);
        orch_detections_find(p->priors, p->locations + row * 4, p->confidences + row * p->classes,
                             p->classes, &options, found);
    }
}

int main(int argc, char **argv)
{
    const int images = argc > 1 ? atoi(argv[1]) : 32, count = argc > 2 ? atoi(argv[2]) : 6,
              classes = argc > 3 ? atoi(argv[3]) : 21;
    static const struct {
        const char *name;
        void (*run)(const struct problem *);
    } PARTS[] = {{"matching", run_matching},
                 {"loss and gradients, with matching", run_loss},
                 {"detections at scores above 0.01", run_detections}};
    const struct problem p = make(images, count, classes);
    for (size_t i = 0; i < G_N_ELEMENTS(PARTS); i++) {
        double least = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            const clock_t start = clock();
            PARTS[i].run(&p);
            least = MIN(least, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        }
        printf("%-36s %8.2f ms\n", PARTS[i].name, least);
    }
    return 0;
}
