# SPDX-License-Identifier: GPL-3.0-or-later
# The stand-ins of Slurm's programs, for scripts that are not of the feature's own tests. Sourced after lib.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../slurm/slurm.sh"
