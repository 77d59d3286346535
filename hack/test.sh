#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests that every change has to pass, in parts, and prints a table. All parts run even if one fails; the exit code
# says whether all passed. The parts that only compute run beside those with clusters, which mostly wait: they get what these
# leave of the processors, no verdict of theirs depends on time, and their output comes at the end.
#
#   hack/test.sh [PART...]     default: all of them
#
# unit       all tests that need no cluster, the simulator's sample among them
# planner    10,000 random sequences of events, and 10,000 whose outcomes are judged (make test-planner plays more)
# seed       seeded bugs: one that the simulator has to find (make test-faults tries them all), and all that the outcomes
#            of random sequences have to show
# cluster    on one cluster: end to end, validation, the move from apps/v1, the differential scenarios and kubectl; of the
#            move and of kubectl the quick part
# faults     on others: the simulator's model beside kube-apiserver, our server killed around its writes, its certificates
#            renewed under load, and expressions that ask for gigabytes; the quick part of each
# nodes      on a real node: installation, members, an update, a lost power, uninstallation; skipped where none can run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ALL=(unit planner seed cluster faults nodes)
if (($# > 0)); then PARTS=("$@"); else PARTS=("${ALL[@]}"); fi
TABLE=$(mktemp)
LOGS=$(mktemp -d)
running=()

# Each part has its own process group. When the script ends a part, it waits for it, because the part removes its cluster.
stop() {
  trap '' INT TERM
  local group
  for group in "${running[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done
  wait
  exit "$1"
}
trap 'rm -rf "$TABLE" "$LOGS"' EXIT
trap 'stop 130' INT
trap 'stop 143' TERM

unit() { exec make --no-print-directory test-unit; }

# The seed is fixed, so that a commit that passed passes again. The mutants are among the unit tests.
planner() { SEED=1 SEQUENCES=10000 go test -v -count=1 -timeout=60m -run='^(TestRandomSequences|TestOutcomes)$' ./controller/plan; }

seed() {
  SEEDED_BUGS=forget-own-writes go test -v -count=1 ./test/faults/seeds
  SEEDED_BUGS=outcomes go test -v -count=1 -timeout=60m ./test/faults/seeds
}

cluster() { exec hack/test-on-cluster.sh e2e validation migrate differential kubectl -test.short; }

# The second takes the cluster's processes over. The third has a store of its own, which a cluster that has members of another
# one rightly refuses.
faults() {
  local code=0
  hack/test-on-cluster.sh faults/sim/conformance faults/crash -test.short || code=1
  hack/test-on-cluster.sh faults/certificates -test.short || code=1
  hack/test-on-cluster.sh faults/hostile -test.short -test.run='^Test(HostileExpressions|SetsThatAnEarlierVersion)' || code=1
  return "$code"
}

nodes() { make --no-print-directory test-nodes-quick; }

part() {
  local begun=$SECONDS result=ok
  echo "=== $1"
  (set -e; "$1") </dev/null & # or else set -e would not count
  wait $! || result=FAILED
  local took=$((SECONDS - begun))
  echo "=== $1: $result after ${took}s"
  printf '%s\t%s\t%dm%02ds\n' "$1" "$result" $((took / 60)) $((took % 60)) >>"$TABLE"
}

# in_group starts a command in a process group of its own, in the background.
in_group() {
  set -m
  "$@" &
  set +m
  running+=($!)
}

is_beside() { [[ " planner seed " == *" $1 "* ]]; }

compute() {
  renice -n 19 "$BASHPID" >/dev/null
  for name in "${PARTS[@]}"; do
    ! is_beside "$name" || part "$name" >"$LOGS/$name" 2>&1
  done
}

for name in "${PARTS[@]}"; do
  [[ " ${ALL[*]} " == *" $name "* ]] || { echo "unknown part $name; want one of ${ALL[*]}" >&2; exit 2; }
done
computing=
for name in "${PARTS[@]}"; do
  if [[ $name != unit && -z $computing ]]; then
    in_group compute
    computing=${running[-1]}
  fi
  is_beside "$name" || { in_group part "$name"; wait "${running[-1]}"; }
done
if kill -0 "$computing" 2>/dev/null; then echo "=== waiting for the parts that only compute"; fi
[[ -z $computing ]] || wait "$computing"
for name in "${PARTS[@]}"; do
  ! is_beside "$name" || cat "$LOGS/$name"
done

echo
{ printf 'part\tresult\ttime\n'; cat "$TABLE"; } | column -t -s $'\t'
took="$((SECONDS / 60))m$((SECONDS % 60))s"
passed=$(grep -c $'\tok\t' "$TABLE" || true)
if ((passed < ${#PARTS[@]})); then
  echo "failed after $took: $((${#PARTS[@]} - passed)) of ${#PARTS[@]} parts"
  exit 1
fi
echo "all tests passed in $took"
