#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs cert-manager on a local cluster with real nodes, by its own chart, with images that are built from its module.
#
#   hack/install-cert-manager.sh CLUSTER_DIRECTORY
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$1
IMAGES_DIR=bin/images-cert-manager
PARTS=(controller webhook cainjector)

make --no-print-directory images IMAGES_DIR=$IMAGES_DIR IMAGES="${PARTS[*]/#/cert-manager-}"
bin/cluster image-load --dir "$DIR" --images $IMAGES_DIR

cd test/cluster/modules/cert-manager
read -r source version < <(go list -m -f '{{.Dir}} {{.Version}}' github.com/cert-manager/cert-manager)
cd - >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/deploy/charts/cert-manager" "$work/chart"
chmod -R u+w "$work"
# What a release of cert-manager fills in.
sed -e "s/^version:.*/version: $version/" -e "s/^appVersion:.*/appVersion: $version/" -e '/^annotations:/,$d' \
  "$work/chart/Chart.template.yaml" >"$work/chart/Chart.yaml"
# Their labels are templates, and of no use here.
for crd in "$source"/deploy/crds/crd-*.yaml; do
  echo ---
  sed -e '/{{/d' -e '0,/^  labels:$/{//d}' "$crd"
done >"$work/crds.yaml"
"$DIR/kubectl" --kubeconfig="$DIR/kubeconfig" apply --server-side -f "$work/crds.yaml" >/dev/null

values=()
for part in "${PARTS[@]}"; do
  at=$part.image
  [[ $part != controller ]] || at=image
  values+=(--set "$at.repository=localhost/cert-manager-$part" --set "$at.tag=dev" --set "$at.pullPolicy=Never")
done
KUBECONFIG=$DIR/kubeconfig bin/helm install cert-manager "$work/chart" --namespace cert-manager --create-namespace \
  --set startupapicheck.enabled=false --set prometheus.enabled=false "${values[@]}" --wait --timeout 4m >/dev/null
echo "cert-manager $version is installed"
