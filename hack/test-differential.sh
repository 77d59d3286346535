#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Plays the scenarios of test/differential on a local cluster of their own, which is removed however this ends; when a test
# failed, the logs are kept. Arguments go to the test, for instance -test.run=TestScenarios/all/partition or -test.v.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-differential
LOGS=$PWD/.cluster-differential-logs
TEST=bin/differential.test

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  if ((code != 0)) && [[ -d $DIR/logs ]]; then
    rm -rf "$LOGS"
    cp -r "$DIR/logs" "$LOGS"
    echo "the differential test failed; the cluster's logs are in $LOGS"
  fi
  bin/cluster down --dir "$DIR" --purge || code=1
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What an interrupted run has left.
bin/cluster down --dir "$DIR" --purge
bin/cluster up --dir "$DIR"
bin/cluster register --dir "$DIR" --server bin/statefulset-apiserver --manifests artifacts/base
# Unlike go test, the test's own binary prints the table when the test succeeds too.
go test -tags=differential -c -o "$TEST" ./test/differential
# The scenarios mostly wait, so many of them fit on few cores.
(cd test/differential && STATEFULSET_CLUSTER_DIR=$DIR "../../$TEST" -test.parallel=8 -test.timeout=20m "$@")
