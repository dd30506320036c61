# A setting that was only measured beside other programs is forecast from those runs, with a wider interval.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >n.plugin <<'P'
plugin: n
version: 1.0.0
about: waits
licence: MIT
command: [sh, -c, "[ ! -e $$HOME/busy ] || machine-is-busy; sleep ${s}; echo x 1"]
metrics_from: lines
parameters:
  s: {type: real, default: 1.0, help: seconds}
metrics:
  x: {help: nothing}
P
printf 'format: 1\nrecipe: n\nexperiments:\n  e: { plugin: ./n.plugin }\n' >n.recipe
ok orch run n.recipe -q -x s=0.1,0.2,0.3
touch "$HOME/busy"
ok orch run n.recipe -q -s s=1.3
rm "$HOME/busy"
ok orch ls --where 's = 1.3' --json
key=$(json runs.0.key)
ok orch show "$key" --json
python3 -c "assert $(json facts.foreign_cpu) > 0.1"
took=$(json wall_s)
ok orch plan n.recipe --force -s s=1.3 --json
same "$(json trials.0.forecast.tier) $(json trials.0.forecast.model)" 'measured repeats'
case $(json trials.0.forecast.because) in '1 run of this setting here, while other programs kept the CPUs busy'*) ;; *) _fail because ;; esac
python3 -c 'import sys; p, h, l = map(float, sys.argv[1:]); sys.exit(not (1.2 < p < 2 * float("'$took'") and h / p > 1.9 and p / l > 1.9))' \
    "$(json trials.0.forecast.total_s)" "$(json trials.0.forecast.high_s)" "$(json trials.0.forecast.low_s)" || _fail 'the interval'
# an undisturbed run of it replaces them
ok orch run n.recipe --force -q -s s=1.3
ok orch ls --where 's = 1.3' --json
ok orch plan n.recipe --force -s s=1.3 --json
same "$(json trials.0.forecast.because)" '1 run of this setting here' 'the undisturbed run'
