#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every fault suite and prints what they found as one table. All suites run even if one fails; the exit code says
# whether all passed and our side has no violation. Each suite has a cluster of its own, because it leaves the host in a
# state that the next one must not depend on.
#
# The suites with clusters run one after the other. The first two need the whole machine; the others mostly wait. Those on
# simulated time only compute, and no verdict of theirs depends on how long that takes, so they get what the others leave of
# the machine; their output comes at the end.
#
#   hack/test-faults.sh [SUITE...]     default: all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export FAULTS_TABLE=$PWD/.faults-table.jsonl
SIMULATED=(sim seeds)
ALONE=(store hostile)
REAL=(ha guard crash certificates model)
ALL=("${SIMULATED[@]}" "${ALONE[@]}" "${REAL[@]}")
WANTED=" ${*:-${ALL[*]}} "
LOGS=$(mktemp -d)
background=
failed=()

finish() {
  [[ -z $background ]] || kill -- "-$background" 2>/dev/null || true
  rm -rf "$LOGS"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

run() {
  local suite=$1 begun=$SECONDS code=0
  echo "=== $suite"
  case $suite in
    sim) SIM=full nice -n 19 go test -count=1 -timeout=90m ./test/faults/sim || code=$? ;;
    seeds) SEEDED_BUGS=all nice -n 19 go test -v -count=1 -timeout=90m ./test/faults/seeds || code=$? ;;
    model) SUITE_TIMEOUT=20m hack/test-on-cluster.sh faults/sim/conformance || code=$? ;;
    *) SUITE_TIMEOUT=70m hack/test-on-cluster.sh "faults/$suite" || code=$? ;;
  esac
  echo "=== $suite ended with exit code $code after $((SECONDS - begun))s"
  return "$code"
}

wanted() { [[ $WANTED == *" $1 "* ]]; }

simulate() {
  local suite
  for suite in "${SIMULATED[@]}"; do
    ! wanted "$suite" || run "$suite" >"$LOGS/$suite" 2>&1 || touch "$LOGS/$suite.failed"
  done
}

for suite in $WANTED; do
  [[ " ${ALL[*]} " == *" $suite "* ]] || { echo "unknown suite $suite; want one of ${ALL[*]}"; exit 2; }
done
rm -f "$FAULTS_TABLE"
for suite in "${ALONE[@]}"; do
  ! wanted "$suite" || run "$suite" || failed+=("$suite")
done
set -m
simulate &
background=$!
set +m
for suite in "${REAL[@]}"; do
  ! wanted "$suite" || run "$suite" || failed+=("$suite")
done
wait "$background"
background=
for suite in "${SIMULATED[@]}"; do
  ! wanted "$suite" || cat "$LOGS/$suite"
  [[ ! -e $LOGS/$suite.failed ]] || failed+=("$suite")
done
code=0
go run ./test/faults/internal/table "$FAULTS_TABLE" || code=1
echo "the fault suites took $((SECONDS / 60))m$((SECONDS % 60))s"
if ((${#failed[@]} > 0)); then
  echo "failed: ${failed[*]}"
  exit 1
fi
exit "$code"
