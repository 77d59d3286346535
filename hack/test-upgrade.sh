#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Replaces servers of an earlier version by those of this one and back, under load, on a local cluster. PREVIOUS is a tag or a
# commit; without it, it is the tag before this commit. What is built of it is kept for the next run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# While there is no tag: the last commit at which a server was not given its certificates by itself.
FIRST=b82866e
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/statefulset-apiserver/previous

PREVIOUS=${PREVIOUS:-$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null || echo "$FIRST")}
if ! commit=$(git rev-parse --verify --quiet "$PREVIOUS^{commit}"); then
  echo "PREVIOUS is $PREVIOUS, which this clone does not have; a shallow clone gets it with git fetch --unshallow --tags" >&2
  exit 2
fi

server=$CACHE/$commit/statefulset-apiserver
if [[ ! -x $server ]]; then
  echo "building the server of $PREVIOUS"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  git archive "$commit" | tar -x -C "$work"
  mkdir -p "$CACHE/$commit"
  (cd "$work" && CGO_ENABLED=0 go build -trimpath -gcflags=all=-dwarf=false -buildvcs=false -o "$server" ./cmd/statefulset-apiserver)
fi

echo "from $PREVIOUS to this work tree, and back"
PREVIOUS_SERVER=$server hack/test-on-cluster.sh faults/ha -test.run='^TestUpgrade$' "$@"
