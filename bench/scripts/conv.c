/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A direct convolution of random images. usage: conv SIZE CHANNELS KERNEL */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const int size = atoi(argv[1]), channels = atoi(argv[2]), k = atoi(argv[3]);
    const size_t pixels = (size_t)size * (size_t)size;
    float *in = malloc(pixels * (size_t)channels * sizeof *in);
    float *out = calloc(pixels * (size_t)channels, sizeof *out);
    float *w = malloc((size_t)(channels * channels * k * k) * sizeof *w);
    for (size_t i = 0; i < pixels * (size_t)channels; i++)
        in[i] = (float)rand() / (float)RAND_MAX;
    for (int i = 0; i < channels * channels * k * k; i++)
        w[i] = (float)rand() / (float)RAND_MAX;
    for (int image = 0; image < 16; image++)
        for (int o = 0; o < channels; o++)
            for (int c = 0; c < channels; c++)
                for (int dy = 0; dy < k; dy++)
                    for (int dx = 0; dx < k; dx++) {
                        float f = w[((o * channels + c) * k + dy) * k + dx];
                        for (int y = 0; y + dy < size; y++)
                            for (int x = 0; x + dx < size; x++)
                                out[(size_t)o * pixels + (size_t)(y * size + x)] +=
                                    f * in[(size_t)c * pixels + (size_t)((y + dy) * size + x + dx)];
                    }
    printf("sum %g\n", (double)out[0]);
    return 0;
}
