# lib/base: numbers in order
orch_test(reals "quick" orch_base)
# people: names, addresses, who is the same
orch_test(who "quick" orch_base)
# texts that anybody may have written
orch_test(text "quick" orch_base)
# SHA-256, as fast as can be
orch_test(sha256 "quick" orch_base)
# files below a folder: no link is followed
orch_test(below "quick" orch_base)
# errors and their hints
orch_test(error "quick" orch_base)
# programs that hang or write without an end
orch_test(subprocess "quick" orch_base)
# files in a folder that others may write to
orch_test(shared_file "quick" orch_base)
# a curve of bounded size
orch_test(thin "quick" orch_base)
