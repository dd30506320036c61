# SPDX-License-Identifier: GPL-3.0-or-later
# The stand-ins of Slurm's programs, for tests of other features. Sourced after lib.sh.
[ -f "$SOURCE/tests/slurm/slurm.sh" ] || skip 'no Slurm in this program'
. "$SOURCE/tests/slurm/slurm.sh"
