#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs the Debian packages that real nodes and their images need, if any is missing. Without root or apt-get it says
# which ones to install.
#
#   hack/node-packages.sh [COMMAND=PACKAGE ...]   (what is needed besides)
set -euo pipefail

declare -A PACKAGES=([ip]=iproute2 [runc]=runc [iptables]=iptables [conntrack]=conntrack [busybox]=busybox-static)
for more in "$@"; do PACKAGES[${more%%=*}]=${more#*=}; done
missing=()
for tool in "${!PACKAGES[@]}"; do
  command -v "$tool" >/dev/null || missing+=("${PACKAGES[$tool]}")
done
if ((${#missing[@]} == 0)); then exit 0; fi
"$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh" "real nodes need more packages" "${missing[@]}"
