#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs test/nodes on three real nodes, on which our server is installed from the manifests, and then test/nodes/servers, with
# three servers and three members of their store. The cluster is removed however this ends; when a test failed, the logs are
# kept.
#
#   hack/test-nodes.sh [flags of the test binary, such as -test.run=NAME]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-nodes-suite

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  if ((code != 0)) && [[ -d $DIR/logs ]]; then
    rm -rf "$DIR-logs"
    cp -r "$DIR/logs" "$DIR-logs"
    echo "failed; the cluster's logs are in $DIR-logs"
  fi
  bin/cluster down --dir "$DIR" --purge || code=1
  rm -rf "$DIR"
  exit "$code"
}

hack/node-packages.sh mkfs.xfs=xfsprogs
make --no-print-directory bin/disks
make --no-print-directory images IMAGES="web-again agnhost zookeeper galera"
go test -tags=nodes -c -o bin/nodes.test ./test/nodes
go test -tags=nodes -c -o bin/servers.test ./test/nodes/servers
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
bin/cluster down --dir "$DIR" --purge
bin/cluster up --nodes=real --dir "$DIR" --images bin/images
export KUBECONFIG=$DIR/kubeconfig
"$DIR/kubectl" apply -k artifacts/base >/dev/null
"$DIR/kubectl" wait --for=condition=Available apiservice/v1.apps.statefulset.dev --timeout=3m
export STATEFULSET_CLUSTER_DIR=$DIR
code=0
(cd test/nodes && ../../bin/nodes.test -test.timeout=45m "$@") || code=1
bin/kubectl-sts uninstall --delete-sets --timeout=4m
# The data goes too, as the other installation has another store. The host takes a moment to forget the policy that protects it.
for ((attempts = 10; ; attempts--)); do
  if "$DIR/kubectl" delete namespace statefulset-system --timeout=1m || ((attempts == 0)); then break; fi
  sleep 1
done
bin/kubectl-sts install --image=statefulset-apiserver:dev --timeout=4m
(cd test/nodes/servers && ../../../bin/servers.test -test.timeout=45m -test.v "$@") || code=1
exit "$code"
