# --budget and --deadline hold back trials by their forecasts when trials are submitted to Slurm: the reason is printed,
# the exit status is 6, and sbatch is not called for them. With stand-ins for Slurm's programs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
recipe() { # REPEAT
    cat >a.recipe <<R
format: 1
recipe: a
slurm: { partition: p }
experiments:
  nap: { plugin: sleep, with: { seconds: 0.1 }, repeat: $1 }
R
}
elements() { awk '{ n += $2 - $1 + 1 } END { print n + 0 }' "$CLUSTER"/jobs/*/ranges; }
recipe 3
ok orch run a.recipe --executor slurm
play 101
minute
ok orch collect
recipe 7
# a budget without a price is refused as on this machine
fails 2 orch run a.recipe --executor slurm --budget 1usd
says price
# no budget is left for any, whatever they take
fails 6 orch run a.recipe --executor slurm --budget 0.000001usd --price 36 --json
same "$(json submitted) $(json held_back) $(json stopped_by)" '0 4 budget'
same "$(elements)" 3 'elements of jobs'
fails 6 orch run a.recipe --executor slurm --budget 0.000001usd --price 36
says '4 trials were held back: by the forecasts, the budget would be exceeded'
says_not 'nothing to submit'
# a deadline before the end of any of them
fails 6 orch run a.recipe --executor slurm --deadline 0.001s --json
same "$(json submitted) $(json held_back) $(json stopped_by)" '0 4 deadline'
fails 6 orch run a.recipe --executor slurm --deadline 0.001s
says '4 trials were held back: by the forecasts, the deadline would be exceeded'
same "$(elements)" 3 'elements of jobs'

# a budget for two and a half of them by the forecast submits two; a further command has the whole budget again
ok orch plan a.recipe --executor slurm --json
same "$(json forecast.trials) $(json forecast.unknown)" '4 0' 'trials forecast'
budget=$(python3 -c 'import sys; print("%.9f" % (float(sys.argv[1]) / 4 * 2.5 * 36 / 3600))' "$(json forecast.device_s)")
fails 6 orch run a.recipe --executor slurm --budget "${budget}usd" --price 36 --json
same "$(json submitted) $(json held_back) $(json stopped_by)" '2 2 budget'
same "$(elements)" 5 'elements of jobs'
ok orch run a.recipe --executor slurm --budget "${budget}usd" --price 36 --json
same "$(json submitted) $(json held_back) $(json stopped_by)" '2 0 null'
same "$(elements)" 7 'elements of jobs'
# nothing is left to do: 0, whatever the limit
ok orch run a.recipe --executor slurm --budget 0.000001usd --price 36 --json
same "$(json submitted) $(json held)" '0 4'
