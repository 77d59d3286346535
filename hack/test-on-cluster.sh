#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs a suite of tests on a local cluster of its own, so that a demo left running is not touched. The cluster is removed
# however this ends; when a test failed, the logs are kept.
#
#   hack/test-on-cluster.sh SUITE [flags of the test binary, such as -test.run=NAME]
#
# SUITE is a directory below test, and the build tag of the tests in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SUITE=${1:?name a suite: e2e, differential or validation}
DIR=$PWD/.cluster-$SUITE
LOGS=$DIR-logs

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
# Unlike go test, the test's own binary prints its tables when the tests succeed, too.
go test -tags="$SUITE" -c -o "bin/$SUITE.test" "./test/$SUITE"
# The tests mostly wait, so many of them fit on few cores.
(cd "test/$SUITE" && STATEFULSET_CLUSTER_DIR=$DIR "../../bin/$SUITE.test" -test.parallel=8 -test.timeout=20m "${@:2}")
