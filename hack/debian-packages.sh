#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs Debian packages. Without root or apt-get it says which ones to install, and who needs them.
#
#   hack/debian-packages.sh WHO PACKAGE...
set -euo pipefail

who=$1
shift
if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
  echo "$who: install $*" >&2
  exit 1
fi
echo "installing $*"
apt-get install --yes --quiet --no-install-recommends "$@" >/dev/null
