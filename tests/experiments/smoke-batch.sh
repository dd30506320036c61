# A smoke run of an adapter for another framework uses at most 16 images a step, as docs/recipes.md says, whatever the
# batch.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >settings.py <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/plugins/wrap")
from timed_steps import Settings
def settings(scaling, workers, batch, smoke):
    given = dict(scaling=scaling, workers=workers, batch=batch, images=8192, epochs=3, warmup_steps=5, untimed_epochs=1, input="3x32x32")
    return Settings(given, smoke)
for scaling in "strong", "weak":
    for workers in 1, 2, 3, 8:
        s = settings(scaling, workers, 768, True)
        assert 2 * workers <= s.effective_batch <= 16 and s.steps == 2 and s.epochs == 1, (scaling, workers, vars(s))
        s = settings(scaling, workers, workers, True)
        assert s.worker_batch == (1 if scaling == "strong" else min(workers, max(2, 16 // workers))), vars(s)
        s = settings(scaling, workers, 768, False)
        assert s.effective_batch == (768 if scaling == "strong" else 768 * workers) and s.epochs == 3, vars(s)
P
ok python3 settings.py "$SOURCE"
