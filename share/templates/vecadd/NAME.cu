/* SPDX-License-Identifier: MIT */
/*
 * @NAME@: adds two vectors on a GPU. The kernel below is empty: write it. Everything else is the harness, which fills the arrays with
 * random numbers, times each part, and compares every element of the result with the processor's.
 *
 *     make
 *     ./@NAME@ MILLIONS gpu_1x1|gpu_1x256|gpu_grid pageable|managed
 *
 * Under orch, with the plugin's recipe, tables and charts:
 *
 *     mine:
 *       plugin: vecadd
 *       program: "plugins/@NAME@/@NAME@ ${millions} ${scenario} ${memory}"
 *       inputs: [plugins/@NAME@/@NAME@.cu]
 *       resources: { gpus: 1 }
 *       sweep: { millions: [1, 5, 10, 50, 100], scenario: [gpu_1x1, gpu_1x256, gpu_grid] }
 */
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <unistd.h>
#include <vector>

/* ---- your kernel -------------------------------------------------------------------------------
 */

/* out[i] = a[i] + b[i], 0 <= i < count, right for any number of blocks and threads: one thread of one block must do it all, and a
 * grid may have more threads than there are elements. */
__global__ void add(float *out, const float *a, const float *b, size_t count)
{
    /* write it here */
}

/* ---- the harness -------------------------------------------------------------------------------
 */

const int SAMPLES_LEAST = 10, SAMPLES_MOST = 10000;
const double SAMPLING_S = 0.5, SAMPLING_MOST_S = 20;

/* An event for orch (docs/protocol.md), or a line for people. */
static void say(const char *event, const char *key, const char *text)
{
    const char *descriptor = getenv("ORCH_EVENTS");
    char line[1024];
    if (!descriptor) {
        fprintf(stderr, "%s: %s\n", event, text);
        return;
    }
    const int length = snprintf(line, sizeof line, "{\"event\":\"%s\",\"%s\":\"%s\"}\n", event, key, text);
    if (write(atoi(descriptor), line, length) != length)
        _exit(1);
}

static void result(const char *name, double value)
{
    const char *descriptor = getenv("ORCH_EVENTS");
    char line[256];
    if (!descriptor) {
        printf("%s %.6g\n", name, value);
        return;
    }
    const int length = snprintf(line, sizeof line, "{\"event\":\"result\",\"name\":\"%s\",\"value\":%.17g}\n", name, value);
    if (write(atoi(descriptor), line, length) != length)
        _exit(1);
}

/* Ends the program: status is ok, failed or skipped. */
[[noreturn]] static void end(const char *status, const char *why)
{
    if (why)
        say("error", "text", why);
    say("done", "status", status);
    exit(strcmp(status, "failed") == 0);
}

#define TRY(call) try_call(call, #call)
static void try_call(cudaError_t status, const char *what)
{
    char text[512];
    if (status == cudaSuccess)
        return;
    snprintf(text, sizeof text, "%s: %s (%s)", what, cudaGetErrorName(status), cudaGetErrorString(status));
    end("failed", text);
}

static double now_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/* Uniform on [-1, 1) (splitmix64). */
static void fill(float *out, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t x = (seed += 0x9e3779b97f4a7c15u);
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        out[i] = (float)((x ^ x >> 31) >> 40) / 8388608 - 1;
    }
}

struct trial {
    size_t count, bytes;
    const char *scenario;
    bool is_managed;
    float *a, *b, *out;                /* of the GPU, or managed */
    float *host_a, *host_b, *host_out; /* managed: the same */
    std::vector<float> right_a, right_b;
    float *flush;
    size_t flush_count;
    cudaEvent_t begin, end;
};

static void launch(const trial &t)
{
    if (strcmp(t.scenario, "gpu_1x1") == 0)
        add<<<1, 1>>>(t.out, t.a, t.b, t.count);
    else if (strcmp(t.scenario, "gpu_1x256") == 0)
        add<<<1, 256>>>(t.out, t.a, t.b, t.count);
    else
        add<<<(unsigned)((t.count + 255) / 256), 256>>>(t.out, t.a, t.b, t.count);
    TRY(cudaGetLastError());
}

/* Reads a buffer larger than the L2 cache, so that the arrays are not in it. */
__global__ void read_all(float *buffer, size_t count)
{
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        sum += buffer[i];
    if (sum == 1.2345e30f)
        buffer[0] = sum;
}

/* Milliseconds of some work, between two events. */
template <typename WORK> static double time_ms(const trial &t, WORK work)
{
    float ms = 0;
    TRY(cudaEventRecord(t.begin));
    work();
    TRY(cudaEventRecord(t.end));
    TRY(cudaEventSynchronize(t.end));
    TRY(cudaEventElapsedTime(&ms, t.begin, t.end));
    return ms;
}

static double copy_in(const trial &t)
{
    return t.is_managed ? 0 : time_ms(t, [&] {
        TRY(cudaMemcpy(t.a, t.host_a, t.bytes, cudaMemcpyHostToDevice));
        TRY(cudaMemcpy(t.b, t.host_b, t.bytes, cudaMemcpyHostToDevice));
    });
}

static double copy_out(const trial &t)
{
    if (!t.is_managed)
        return time_ms(t, [&] { TRY(cudaMemcpy(t.host_out, t.out, t.bytes, cudaMemcpyDeviceToHost)); });
    const double begin = now_s(); /* the processor touches every page */
    for (size_t i = 0; i < t.count; i += 1024)
        (void)*(volatile float *)&t.out[i];
    return 1e3 * (now_s() - begin);
}

static void allocate(trial *t)
{
    float **arrays[] = {&t->a, &t->b, &t->out};
    for (float **array : arrays)
        TRY(t->is_managed ? cudaMallocManaged(array, t->bytes) : cudaMalloc(array, t->bytes));
}

/* Puts the inputs where the program begins, and into the result a pattern that is no sum (NaN). */
static void prepare(const trial &t)
{
    memcpy(t.host_a, t.right_a.data(), t.bytes);
    memcpy(t.host_b, t.right_b.data(), t.bytes);
    memset(t.host_out, 0xff, t.bytes);
    if (!t.is_managed)
        TRY(cudaMemset(t.out, 0xff, t.bytes));
    TRY(cudaDeviceSynchronize());
}

static void check(const trial &t)
{
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < t.count; i++)
        if (!(t.host_out[i] == t.right_a[i] + t.right_b[i])) {
            if (!wrong)
                first = i;
            wrong++;
        }
    result("wrong_elements", (double)wrong);
    if (!wrong)
        return;
    char text[512];
    snprintf(text, sizeof text, "%zu of %zu sums differ from the reference, the first at index %zu: expected %g, found %g%s", wrong,
             t.count, first, t.right_a[first] + t.right_b[first], t.host_out[first],
             wrong == t.count ? "; is the kernel 'add' in @NAME@.cu still empty?" : "");
    end("failed", text);
}

static void sample(const trial &t, double *total_ms)
{
    std::vector<double> kernel, in, out;
    const double begin = now_s();
    const int least = getenv("ORCH_SMOKE") ? 2 : SAMPLES_LEAST;
    for (int i = 0; i < SAMPLES_MOST; i++) {
        const double elapsed = now_s() - begin;
        if ((i >= least && (elapsed >= SAMPLING_S || least == 2)) || (i >= 3 && elapsed > SAMPLING_MOST_S))
            break;
        prepare(t);
        in.push_back(copy_in(t));
        read_all<<<256, 256>>>(t.flush, t.flush_count);
        TRY(cudaGetLastError());
        kernel.push_back(time_ms(t, [&] { launch(t); }));
        out.push_back(copy_out(t));
    }
    std::sort(kernel.begin(), kernel.end());
    const double ms = median(kernel);
    result("kernel_time", ms);
    result("kernel_spread", (kernel[3 * (kernel.size() - 1) / 4] - kernel[(kernel.size() - 1) / 4]) / ms);
    result("kernel_samples", (double)kernel.size());
    result("bandwidth", 3.0 * t.bytes / ms / 1e6);
    result("copy_in_time", median(in));
    result("copy_out_time", median(out));
    *total_ms += ms + median(in) + median(out);
}

static bool is_one_of(const char *word, std::initializer_list<const char *> words)
{
    return std::any_of(words.begin(), words.end(), [&](const char *each) { return strcmp(word, each) == 0; });
}

int main(int argc, char **argv)
{
    const double start = now_s();
    if (argc != 4 || atoll(argv[1]) < 1 || !is_one_of(argv[2], {"gpu_1x1", "gpu_1x256", "gpu_grid"}) ||
        !is_one_of(argv[3], {"pageable", "managed"}))
        end("failed", "usage: @NAME@ MILLIONS gpu_1x1|gpu_1x256|gpu_grid pageable|managed");
    int devices = 0, cache = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        end("skipped", "no CUDA device");
    trial t = {};
    t.count = getenv("ORCH_SMOKE") ? 10007 : (size_t)atoll(argv[1]) * 1000000;
    t.bytes = t.count * sizeof(float);
    t.scenario = argv[2];
    t.is_managed = strcmp(argv[3], "managed") == 0;
    double now = now_s();
    TRY(cudaFree(nullptr));
    result("context_time", 1e3 * (now_s() - now));
    size_t free_bytes, total_bytes;
    TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (3 * t.bytes > free_bytes)
        end("skipped", "the arrays do not fit into the GPU's memory: choose fewer elements");
    TRY(cudaEventCreate(&t.begin));
    TRY(cudaEventCreate(&t.end));
    const uint64_t seed = getenv("ORCH_SEED") ? strtoull(getenv("ORCH_SEED"), nullptr, 10) : 1;
    t.right_a.resize(t.count);
    t.right_b.resize(t.count);
    fill(t.right_a.data(), t.count, seed);
    fill(t.right_b.data(), t.count, ~seed);

    now = now_s();
    allocate(&t);
    double total_ms = 1e3 * (now_s() - now);
    result("allocation_time", total_ms);
    std::vector<float> host[3];
    float **pointers[] = {&t.host_a, &t.host_b, &t.host_out}, *managed[] = {t.a, t.b, t.out};
    for (int i = 0; i < 3; i++) {
        host[i].resize(t.is_managed ? 0 : t.count);
        *pointers[i] = t.is_managed ? managed[i] : host[i].data();
    }
    prepare(t);
    copy_in(t);
    launch(t);
    TRY(cudaDeviceSynchronize());
    copy_out(t);
    result("program_time", 1e3 * (now_s() - start));
    result("element_count", (double)t.count);
    check(t);

    TRY(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0));
    t.flush_count = std::max((size_t)1 << 20, 2 * (size_t)cache) / sizeof(float);
    TRY(cudaMalloc(&t.flush, t.flush_count * sizeof(float)));
    TRY(cudaMemset(t.flush, 0, t.flush_count * sizeof(float)));
    TRY(cudaDeviceSynchronize()); /* older GPUs: before the processor touches managed memory */
    sample(t, &total_ms);
    check(t);
    now = now_s();
    TRY(cudaFree(t.a));
    TRY(cudaFree(t.b));
    TRY(cudaFree(t.out));
    const double free_ms = 1e3 * (now_s() - now);
    result("free_time", free_ms);
    result("total_time", total_ms + free_ms);
    end("ok", nullptr);
}
