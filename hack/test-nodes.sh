#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs test/nodes on three real nodes, on which our server is installed from the manifests. The cluster is removed however
# this ends; when a test failed, the logs are kept.
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

hack/node-packages.sh
make --no-print-directory images IMAGES="agnhost zookeeper galera"
go test -tags=nodes -c -o bin/nodes.test ./test/nodes
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
bin/cluster down --dir "$DIR" --purge
bin/cluster up --nodes=real --dir "$DIR" --images bin/images
export KUBECONFIG=$DIR/kubeconfig
"$DIR/kubectl" apply -k artifacts/base >/dev/null
"$DIR/kubectl" wait --for=condition=Available apiservice/v1.apps.statefulset.dev --timeout=3m
(cd test/nodes && STATEFULSET_CLUSTER_DIR=$DIR ../../bin/nodes.test -test.timeout=45m "$@")
