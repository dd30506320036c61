/* SPDX-License-Identifier: MIT */
#include "lib/base/program_parts.h"

#include <glib.h>

#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

enum orch_program_place orch_program_place_of(const char *exe)
{
    g_autofree char *folder = g_path_get_dirname(exe);
    /* the folder of a build has the plugins of the host program and the program beside them */
    g_autofree char *built = g_build_filename(folder, "plugins", NULL);
    if (access(built, F_OK) == 0)
        return ORCH_PLACE_CLONE;
    if (strstr(folder, "/orch_run/"))
        return ORCH_PLACE_WHEEL;
    if (strcmp(folder, "/usr/bin") == 0 || g_str_has_prefix(folder, "/usr/libexec/"))
        return ORCH_PLACE_PACKAGE;
    return ORCH_PLACE_PREFIX;
}

#define FROM_CLONE(stage)                                                                          \
    "in a clone of orch, './build.sh " stage "' and then './build.sh install' to this prefix"

const char *orch_program_way_in(enum orch_program_place place, enum orch_program_part part)
{
    static const char *const ways[][ORCH_PART_OWN + 1] = {
        [ORCH_PLACE_CLONE] =
            {[ORCH_PART_TORCH] = "./build.sh torch",
             [ORCH_PART_CUDA] = "./build.sh gpu",
             [ORCH_PART_OPENCV] = "apt-get install libopencv-dnn-dev, then ./build.sh build",
             [ORCH_PART_SIMGRID] = "install libsimgrid-dev (Debian), then ./build.sh build",
             [ORCH_PART_MPI] = "apt-get install libopenmpi-dev openmpi-bin, then ./build.sh build",
             [ORCH_PART_OWN] = "./build.sh build"},
        [ORCH_PLACE_PACKAGE] =
            {[ORCH_PART_TORCH] = "install the package orch-plugins-torch (Debian's LibTorch), or "
                                 "orch-plugins-torch-source and then 'orch plugin build train'",
             [ORCH_PART_CUDA] = "the package has none: './build.sh gpu' in a clone of orch",
             [ORCH_PART_OPENCV] = "install the package orch-plugins-opencv",
             [ORCH_PART_SIMGRID] = "install the package orch-plugins-simgrid",
             [ORCH_PART_MPI] = "install the package orch-plugins-mpi",
             [ORCH_PART_OWN] = "install the package orch again"},
        [ORCH_PLACE_WHEEL] =
            {[ORCH_PART_TORCH] = "orch plugin build train",
             [ORCH_PART_CUDA] = "the wheel has none: './build.sh gpu' in a clone of orch",
             [ORCH_PART_OPENCV] = "the wheel has none: take the engine of ONNX "
                                  "Runtime, or build a clone of orch",
             [ORCH_PART_SIMGRID] = "the wheel has none: './build.sh simgrid' in a clone of orch",
             [ORCH_PART_MPI] = "the wheel has none: './build.sh build' in a clone of orch",
             [ORCH_PART_OWN] = "pip install --force-reinstall FILE, the wheel of orch-run"},
        [ORCH_PLACE_PREFIX] = {[ORCH_PART_TORCH] = "orch plugin build train",
                               [ORCH_PART_CUDA] = FROM_CLONE("gpu"),
                               [ORCH_PART_OPENCV] = FROM_CLONE("build"),
                               [ORCH_PART_SIMGRID] = FROM_CLONE("simgrid"),
                               [ORCH_PART_MPI] = FROM_CLONE("build"),
                               [ORCH_PART_OWN] = FROM_CLONE("build")},
    };
    return ways[place][part];
}

const char *orch_program_way(enum orch_program_part part)
{
    char exe[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[MAX(n, 0)] = 0;
    enum orch_program_place place = orch_program_place_of(exe);
    /* './build.sh install --prefix /usr' is no package */
    if (place == ORCH_PLACE_PACKAGE && access("/var/lib/dpkg/info/orch.list", F_OK) != 0)
        place = ORCH_PLACE_PREFIX;
    return orch_program_way_in(place, part);
}
