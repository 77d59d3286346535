#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the commands of the documentation that need servers that run as pods, or nodes that can be lost, on three real nodes. The
# cluster is removed however this ends; when a page failed, the logs are kept. Where real nodes cannot run, it says why in one
# line and succeeds.
#
#   hack/test-docs-nodes.sh [flags of the test binary, such as -test.run='^TestPagesOnNodes/^backup$']
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-docs-nodes

if ! lacking=$(hack/node-able.sh); then
  echo "skipped: $lacking"
  exit 0
fi

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

make --no-print-directory images IMAGES="statefulset-apiserver kubectl-sts kubectl web pause busybox" bin/helm
go test -tags=docs -c -o bin/docs.test ./test/docs
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
bin/cluster down --dir "$DIR" --purge
bin/cluster up --nodes=real --dir "$DIR" --images bin/images
(cd test/docs && STATEFULSET_CLUSTER_DIR=$DIR ../../bin/docs.test -nodes -test.run='^TestPagesOnNodes$' -test.timeout=60m "$@")
