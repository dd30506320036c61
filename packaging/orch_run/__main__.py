# SPDX-License-Identifier: MIT
from orch_run import main

main()
