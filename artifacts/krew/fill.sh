#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Prints the krew manifest of a release.
#
#   artifacts/krew/fill.sh VERSION URL DIRECTORY
#
# VERSION is that of the release, such as v1.2.3; URL is where its archives can be downloaded from; DIRECTORY has them
# now, as kubectl-sts_OS_ARCH.tar.gz, each with the program and the licence at the top.
set -euo pipefail

VERSION=${1:?name the version of the release, such as v1.2.3}
URL=${2:?name the URL below which the archives can be downloaded}
DIRECTORY=${3:?name the directory that has the archives}

[[ $VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "version $VERSION: want one such as v1.2.3" >&2; exit 1; }
[[ $URL == https://* ]] || { echo "URL $URL: want one that begins with https://" >&2; exit 1; }

manifest=$(<"$(dirname "${BASH_SOURCE[0]}")/sts.yaml")
manifest=${manifest//@VERSION@/$VERSION}
manifest=${manifest//@URL@/${URL%/}}
while [[ $manifest =~ @SHA256\ ([a-z0-9_]+)@ ]]; do
  platform=${BASH_REMATCH[1]}
  archive=$DIRECTORY/kubectl-sts_$platform.tar.gz
  [[ -f $archive ]] || { echo "$archive is missing" >&2; exit 1; }
  sum=$(sha256sum <"$archive")
  manifest=${manifest//"@SHA256 $platform@"/${sum%% *}}
done
# The comment on the words between @ is about the template.
grep -v '^# The manifest of the plugin' <<<"$manifest"
