/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named ranges on the time line of NVIDIA's profilers. LibTorch with CUDA carries NVTX behind a
 * table that its own profiler uses, so neither CUDA's headers nor its libraries are needed here.
 * Without an attached profiler a range costs two calls that return at once. */
#include "plugins/common/torch/adapter/adapter.h"

#if __has_include(<torch/csrc/profiler/stubs/base.h>)
#include <torch/csrc/profiler/stubs/base.h>
#define HAS_RANGES 1
#else
#define HAS_RANGES 0
#endif

namespace adapter
{

#if HAS_RANGES
Range::Range(const orch_torch_model *m, const char *name) : on(m->device.is_cuda())
{
    if (on)
        torch::profiler::impl::cudaStubs()->rangePush(name);
}

Range::~Range()
{
    if (on)
        torch::profiler::impl::cudaStubs()->rangePop();
}
#else
Range::Range(const orch_torch_model *, const char *) : on(false)
{
}

Range::~Range()
{
}
#endif

} // namespace adapter
