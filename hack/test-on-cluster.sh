#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs a suite of tests on a local cluster of its own, so that a demo left running is not touched. The cluster is removed
# however this ends; when a test failed, the logs are kept.
#
#   hack/test-on-cluster.sh SUITE [flags of the test binary, such as -test.run=NAME]
#
# SUITE is a directory below test; its first part is the build tag of the tests in it. SUITE_TIMEOUT bounds the tests.
# KUBERNETES is the version of the cluster, such as 1.34; without it, it is the newest that the local cluster has.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SUITE=${1:?name a suite: e2e, differential, validation, kubectl, migrate, uninstall, hosts or faults/NAME}
NAME=${SUITE//\//-}${KUBERNETES:+-$KUBERNETES}
DIR=$PWD/.cluster-$NAME
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
  remove || code=1
  exit "$code"
}

# The cluster keeps what it has not made, such as the stores of suites: an old one would change the next run.
remove() {
  bin/cluster down --dir "$DIR" --purge && rm -rf "$DIR"
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What an interrupted run has left.
remove
bin/cluster up --dir "$DIR" ${KUBERNETES:+--kubernetes="$KUBERNETES"}
bin/cluster register --dir "$DIR" --server bin/statefulset-apiserver --manifests artifacts/base
# Unlike go test, the test's own binary prints its tables when the tests succeed, too.
go test -tags="${SUITE%%/*}" -c -o "bin/$NAME.test" "./test/$SUITE"
# The tests mostly wait, so many of them fit on few cores.
BINARY=$PWD/bin/$NAME.test
(cd "test/$SUITE" && STATEFULSET_CLUSTER_DIR=$DIR "$BINARY" -test.parallel=8 -test.timeout="${SUITE_TIMEOUT:-20m}" "${@:2}")
