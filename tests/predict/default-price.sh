# The default price of a device, the cheapest and the dearest offer beside it, and offers that have ended.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu V100 --net resnet50
has 'aws p3.2xlarge'
has '; other offers from $0.1381 to $4.194'
has 'price: the cheapest offer is $'
ok orch predict --gpu V100 --net resnet50 --json
printf '%s' "$out" | python3 -c '
import json, sys
one = json.load(sys.stdin)["predictions"][0]
assert one["lowest_usd_per_hour"] < one["usd_per_hour"] / 2 < one["highest_usd_per_hour"], one
assert one["lowest_price_from"].startswith("verda ") and one["price_from"].startswith("aws "), one
' || _fail 'the range of prices'
# the same card at the same default in a ranking, whose rows are the others'
ok orch predict --gpu all --net resnet50 --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = [p for p in json.load(sys.stdin)["predictions"] if p["gpu"] == "V100-SXM2-16GB"]
assert any(p["price_from"].startswith("aws p3.2xlarge") for p in rows) and len(rows) > 2, rows
' || _fail 'the ranking'
# of each row the short run that would narrow the interval has the row's own price
ok orch predict --gpu all --net resnet-cifar:44 --dataset cifar10 --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = [p for p in json.load(sys.stdin)["predictions"] if p["narrower"] and p["usd_per_hour"]]
assert len({p["usd_per_hour"] for p in rows}) > 3, rows
assert all(abs(p["narrower"]["cost_usd"] / (p["narrower"]["time_s"] / 3600 * p["usd_per_hour"]) - 1) < 1e-9 for p in rows), rows
' || _fail 'the price of a short run'
# a GPU of an instance of eight says so; a cloud that was named is not held against others
ok orch predict --gpu V100 --cloud lambda --net resnet50
has 'lambda gpu_8x_v100 with 8 GPUs'
has_not 'far cheaper'
# what is rented out no longer is no default, and says so where there is nothing else
ok orch predict --gpu K80 --net resnet50
has 'aws p2.xlarge'
has_not 'not rented out'
ok orch predict --gpu V100-PCIe-16GB --net resnet50
has 'not rented out since 2025-09-30'
ok orch gpu show K80
# a table of prices without the column is read as before
printf 'gpu,cloud,instance,region,gpus,usd_per_hour,spot_usd_per_hour,as_of,host,source\nK80,me,x,y,1,0.01,,2026-11,,me\n' >mine.csv
ok orch gpu prices --update mine.csv
ok orch predict --gpu K80 --cloud me --net resnet50
has '$0.01 an hour'
