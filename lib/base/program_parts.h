/* SPDX-License-Identifier: MIT */
/* What this program can lack, and what adds it where it is installed: in a clone, by a package of
 * the distribution, by pip, or below a prefix. */
#ifndef ORCH_BASE_PROGRAM_PARTS_H
#define ORCH_BASE_PROGRAM_PARTS_H

/** Where the program lies. */
enum orch_program_place {
    ORCH_PLACE_CLONE,   /* a build folder */
    ORCH_PLACE_PACKAGE, /* a package of the distribution: below /usr */
    ORCH_PLACE_WHEEL,   /* a Python environment */
    ORCH_PLACE_PREFIX   /* './build.sh install' */
};

/** Something that it may be without. */
enum orch_program_part {
    ORCH_PART_TORCH,   /* the LibTorch adapter */
    ORCH_PART_CUDA,    /* CUDA kernels */
    ORCH_PART_OPENCV,  /* the OpenCV engine of onnxrun */
    ORCH_PART_SIMGRID, /* the workers of simcluster */
    ORCH_PART_MPI,     /* the plugins that link MPI */
    ORCH_PART_OWN      /* files of orch's own */
};

/** The place of a program whose file is `exe`. */
enum orch_program_place orch_program_place_of(const char *exe);

/** What adds the part to a program in that place: a command, or a phrase with one. Static. */
const char *orch_program_way_in(enum orch_program_place place, enum orch_program_part part);

/** orch_program_way_in for the running program. */
const char *orch_program_way(enum orch_program_part part);

#endif
