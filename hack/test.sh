#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests that every change has to pass, in parts, and prints a table. All parts run even if one fails; the exit code
# says whether all passed.
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
child=
failed=()

# A part has a process group of its own: told to end, all of it does, and is waited for, because it removes its cluster.
stop() {
  trap '' INT TERM
  if [[ -n $child ]]; then
    kill -TERM -- "-$child" 2>/dev/null || true
    wait "$child" || true
  fi
  exit "$1"
}
trap 'rm -f "$TABLE"' EXIT
trap 'stop 130' INT
trap 'stop 143' TERM

# The planner's mutants take minutes, and a slower machine is no reason to fail.
unit() {
  go test -timeout=30m ./...
  local m
  for m in test/cluster test/gitops hack/release hack/chart hack/sdk; do (cd "$m" && go test ./...); done
}

# The seed is fixed, so that a commit that passed passes again. The mutants are among the unit tests.
planner() { SEED=1 SEQUENCES=10000 go test -v -count=1 -timeout=60m -run='^(TestRandomSequences|TestOutcomes)$' ./controller/plan; }

seed() {
  SEEDED_BUGS=forget-own-writes go test -v -count=1 ./test/faults/seeds
  SEEDED_BUGS=outcomes go test -v -count=1 -timeout=30m ./test/faults/seeds
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
  set -m
  (set -e; "$1") </dev/null &
  child=$!
  set +m
  wait "$child" || result=FAILED
  child=
  [[ $result == ok ]] || failed+=("$1")
  local took=$((SECONDS - begun))
  echo "=== $1: $result after ${took}s"
  printf '%s\t%s\t%dm%02ds\n' "$1" "$result" $((took / 60)) $((took % 60)) >>"$TABLE"
}

for name in "${PARTS[@]}"; do
  [[ " ${ALL[*]} " == *" $name "* ]] || { echo "no part $name; there are ${ALL[*]}" >&2; exit 2; }
done
for name in "${PARTS[@]}"; do part "$name"; done

echo
{ printf 'part\tresult\ttime\n'; cat "$TABLE"; } | column -t -s $'\t'
took="$((SECONDS / 60))m$((SECONDS % 60))s"
if ((${#failed[@]} > 0)); then
  echo "failed after $took: ${failed[*]}"
  exit 1
fi
echo "all tests passed in $took"
