#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs suites of tests, one after the other, on a local cluster of their own, so that a demo left running is not touched.
# The cluster is removed however this ends; when a test failed, the logs are kept. All suites run even if one fails.
#
#   hack/test-on-cluster.sh SUITE... [flags of the test binaries, such as -test.run=NAME]
#
# A SUITE is a directory below test, which may be a module of its own; its first part is the build tag of the tests in it. -test.short plays the quick part of
# suites that have one. SUITE_TIMEOUT bounds the tests of each. KUBERNETES is the version of the cluster, such as 1.34;
# without it, it is the newest that the local cluster has. An audit-policy.yaml of the first suite replaces the
# cluster's own. PORT_OFFSET moves the cluster's ports up, for a suite that is run beside another one.
#
# Suites of test/faults, test/kubectl/doctor, test/security and test/uninstall take the cluster apart: one of them has a
# cluster of its own, or comes last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SUITES=()
while (($# > 0)) && [[ $1 != -* ]]; do
  SUITES+=("$1")
  shift
done
if ((${#SUITES[@]} == 0)); then
  echo "name suites: e2e, differential, validation, kubectl, kubectl/doctor, gitops, migrate, uninstall, docs, sdk, security, hosts, bench or faults/NAME" >&2
  exit 2
fi
NAME=${SUITES[0]//\//-}
if ((${#SUITES[@]} > 1)); then NAME+=-and-others; fi
NAME+=${KUBERNETES:+-$KUBERNETES}
DIR=$PWD/.cluster-$NAME
LOGS=$DIR-logs
failed=()

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  if ((code != 0)) && [[ -d $DIR/logs ]]; then
    rm -rf "$LOGS"
    cp -r "$DIR/logs" "$LOGS"
    echo "failed: ${failed[*]:-${SUITES[*]}}; the cluster's logs are in $LOGS"
  fi
  remove || code=1
  exit "$code"
}

# The cluster keeps what it has not made, such as the stores of suites: an old one would change the next run.
remove() {
  bin/cluster down --dir "$DIR" --purge && rm -rf "$DIR"
}

binary() { echo "$PWD/bin/${1//\//-}${KUBERNETES:+-$KUBERNETES}.test"; }

# The tests mostly wait, so many of them fit on few cores.
run() {
  local program
  program=$(binary "$1")
  (cd "test/$1" && STATEFULSET_CLUSTER_DIR=$DIR "$program" -test.parallel=8 -test.timeout="${SUITE_TIMEOUT:-20m}" "${@:2}")
}

# Unlike go test, the test's own binary prints its tables when the tests succeed, too.
for suite in "${SUITES[@]}"; do
  program=$(binary "$suite")
  (cd "test/$suite" && go test -tags="${suite%%/*}" -c -o "$program" .)
done

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What an interrupted run has left.
remove
POLICY=test/${SUITES[0]}/audit-policy.yaml
[[ -e $POLICY ]] || POLICY=
bin/cluster up --dir "$DIR" ${KUBERNETES:+--kubernetes="$KUBERNETES"} ${POLICY:+--audit-policy="$POLICY"} ${PORT_OFFSET:+--port-offset="$PORT_OFFSET"}
bin/cluster register --dir "$DIR" --server bin/statefulset-apiserver --manifests artifacts/base
for suite in "${SUITES[@]}"; do
  begun=$SECONDS
  echo "--- $suite"
  run "$suite" "$@" || failed+=("$suite")
  echo "--- $suite took $((SECONDS - begun))s"
done
exit $((${#failed[@]} > 0))
