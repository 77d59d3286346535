#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs a suite of tests on a local cluster of its own, so that a demo left running is not touched. The cluster is removed
# however this ends; when a test failed, the logs are kept.
#
#   hack/test-e2e.sh [SUITE [flags of go test]]
#
# SUITE is a directory below test, and the build tag of the tests in it; e2e when it is absent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SUITE=${1:-e2e}
DIR=$PWD/.cluster-test
LOGS=$PWD/.cluster-test-logs

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  if ((code != 0)) && [[ -d $DIR/logs ]]; then
    rm -rf "$LOGS"
    cp -r "$DIR/logs" "$LOGS"
    echo "the suite $SUITE failed; the cluster's logs are in $LOGS"
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
STATEFULSET_CLUSTER_DIR=$DIR go test -tags="$SUITE" -count=1 -timeout=20m "${@:2}" "./test/$SUITE/..."
