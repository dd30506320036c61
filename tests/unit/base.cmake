# lib/base: numbers in order
orch_test(reals "quick" orch_base)
