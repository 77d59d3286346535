#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Replaces servers of an earlier version by those of this one and back, under load, on a local cluster. PREVIOUS is a tag or a
# commit; without it, it is the tag before this commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# While there is no tag: the last commit at which a server was not given its certificates by itself.
FIRST=b82866e

PREVIOUS=${PREVIOUS:-$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null || echo "$FIRST")}
server=$(hack/earlier-server.sh "$PREVIOUS")

echo "from $PREVIOUS to this work tree, and back"
PREVIOUS_SERVER=$server hack/test-on-cluster.sh faults/ha -test.run='^TestUpgrade$' "$@"
