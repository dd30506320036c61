# The boards' energy of a step and of the training, with an interval, and what it costs by --price-kwh; none where the watts are not known.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu H100 --net gpt2 --batch 8
has 'energy: '
has " J a step. Assumed power of each board: 525 W (280 to 700)"
ok orch predict --gpu H100 --net gpt2 --batch 8 --watts 350
has "each board: 332 W (280 to 350)" # of a board whose limit is set lower
ok orch predict --gpu H100 --net gpt2 --batch 8 --watts 250
has "each board: 238 W (200 to 250)"
fails 2 orch predict --gpu H100 --net gpt2 --price-kwh free
says "option '--price-kwh': 'free' is not an amount above 0"
ok orch predict --gpu H100 --net gpt2 --dataset 1000000 --grid fr
has "g a kWh: FR's mean of 2023)"
ok orch predict --gpu H100 --net gpt2 --dataset 1000000 --grid 100 --json
python3 -c "import sys; sys.exit(abs($(json predictions.0.co2_kg) / $(json predictions.0.energy_kwh) / 0.1 - 1) > 1e-6)" || _fail 'grams of CO2'
ok orch predict --gpu H100 --net gpt2 --dataset 1000000
has_not CO2
fails 2 orch predict --gpu H100 --net gpt2 --grid Atlantis
says "option '--grid': unknown value 'Atlantis'"

ok orch predict --gpu A100 --net resnet50 --dataset imagenet --epochs 90 --price-kwh 0.30 --json
python3 - "$out" <<'EOF' || _fail 'the figures of energy do not fit together'
import json, sys
p = json.loads(sys.argv[1])["predictions"][0]
near = lambda a, b: abs(a / b - 1) < 1e-6
steps = p["total_s"] / p["step_s"]
assert any(near(p["board_power_high_w"], w) for w in (250, 300, 400))  # of the boards named A100
assert near(p["step_energy_j"], p["board_power_w"] * p["step_s"])
# narrower than the product of the ends, wider than either
assert p["board_power_high_w"] * p["step_s"] < p["step_energy_high_j"] < p["board_power_high_w"] * p["step_high_s"]
assert near(p["energy_kwh"], p["step_energy_j"] * steps / 3.6e6)
assert p["energy_low_kwh"] < p["energy_kwh"] < p["energy_high_kwh"]
assert near(p["energy_cost_usd"], 0.30 * p["energy_kwh"])
EOF
one=$(json predictions.0.step_energy_j)
ok orch predict --gpu A100 --net resnet50 --workers 2 --json
[ "${one%.*}" -lt "$(json predictions.0.step_energy_j | cut -d. -f1)" ] || _fail 'two boards draw no more than one'
