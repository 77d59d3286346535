#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Sets the version of statefulset.dev/api and statefulset.dev/client that the modules of this tree require. Programs outside
# of it that import the client get the API of that version.
#
#   hack/module-version.sh v0.3.1
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VERSION=${1:?usage: hack/module-version.sh VERSION}
go -C client mod edit -require="statefulset.dev/api@$VERSION"
for module in . test/gitops; do
  go -C "$module" mod edit -require="statefulset.dev/api@$VERSION" -require="statefulset.dev/client@$VERSION"
done
