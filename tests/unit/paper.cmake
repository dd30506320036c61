# core/report on paper: the page, its files, notebooks.
orch_test(page "quick" orch_render)
orch_test(notebook "quick" orch_render)
