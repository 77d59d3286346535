#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Says in one line why real nodes cannot run here, and fails, or says nothing. It installs the packages that they need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lacks() {
  echo "$*"
  exit 1
}
((EUID == 0)) || lacks "real nodes need root"
hack/node-packages.sh >&2 || lacks "packages that real nodes need are missing"
[[ -e /proc/sys/net/ipv4 ]] && ip netns add ststest 2>/dev/null || lacks "this machine cannot make network namespaces"
able=$(ip -n ststest link add stv1 type veth peer name stv2 2>&1 && ip -n ststest link add stbr type bridge 2>&1 &&
  ip netns exec ststest iptables --table nat --list --wait 2>&1 >/dev/null) && able=yes
ip netns delete ststest
[[ $able == yes ]] || lacks "this machine lacks veth, bridge or iptables: $(tail -n 1 <<<"$able")"
grep -q overlay /proc/filesystems || modprobe overlay 2>/dev/null || lacks "this kernel has no overlayfs"
