#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every fault suite, one after the other, and prints what they found as one table. All suites run even if one fails;
# the exit code says whether all passed and our side has no violation. Each suite has a cluster of its own, because it
# leaves the host in a state that the next one must not depend on.
#
#   hack/test-faults.sh [SUITE...]     default: all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export FAULTS_TABLE=$PWD/.faults-table.jsonl
ALL=(simulator seeds model crash store ha guard hostile)
rm -f "$FAULTS_TABLE"
failed=()

run() {
  local suite=$1 begun=$SECONDS code=0
  echo "=== $suite"
  case $suite in
    simulator) SIM=full go test -count=1 -timeout=20m ./test/faults/sim || code=$? ;;
    seeds) SEEDED_BUGS=all go test -count=1 -timeout=30m ./test/faults/seeds || code=$? ;;
    model) SUITE_TIMEOUT=20m hack/test-on-cluster.sh faults/sim/conformance || code=$? ;;
    *) SUITE_TIMEOUT=40m hack/test-on-cluster.sh "faults/$suite" || code=$? ;;
  esac
  echo "=== $suite ended with exit code $code after $((SECONDS - begun))s"
  ((code == 0)) || failed+=("$suite")
}

for suite in "${@:-${ALL[@]}}"; do run "$suite"; done
code=0
go run ./test/faults/table "$FAULTS_TABLE" || code=1
if ((${#failed[@]} > 0)); then
  echo "failed: ${failed[*]}"
  exit 1
fi
exit "$code"
