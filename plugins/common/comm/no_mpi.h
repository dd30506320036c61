/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plugin says that was built without MPI. */
#ifndef ORCH_PLUGINS_COMMON_COMM_NO_MPI_H
#define ORCH_PLUGINS_COMMON_COMM_NO_MPI_H

#define ORCH_COMM_NO_MPI                                                                           \
    "orch was built without MPI: install Open MPI (Debian: apt-get install libopenmpi-dev "        \
    "openmpi-bin) and build orch again"

#endif
