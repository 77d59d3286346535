#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# One cluster with a real node and fake ones: our server and members that matter run on the real node unasked, and a set of
# MEMBERS (1000) that asks for fake nodes comes up and is updated beside them, without one of its pods on the real node.
#
#   hack/test-nodes-mixed.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-nodes-mixed
EXAMPLE=$DIR/web.yaml
SELECTOR=app=web
TIMEOUT=300 # seconds that each step may take
MEMBERS=${MEMBERS:-1000}

. hack/demo-lib.sh


# nodes_of SELECTOR [FLAG...]: the nodes that pods are on, each once.
nodes_of() { kubectl get pods -l "$1" "${@:2}" -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort -u | paste -sd ' '; }

hack/node-packages.sh
trap remove_cluster EXIT
bin/cluster down --dir "$DIR" --purge
section "A real node, and fake ones"
bin/cluster up --nodes=mixed:1 --dir "$DIR" --images bin/images
show get nodes -o wide

section "The server, on the real node"
sts install --image=statefulset-apiserver:dev --single --timeout="${TIMEOUT}s" || fail "the installation failed"
await "nodes of the server" n1 nodes_of app.kubernetes.io/name=statefulset-apiserver -n statefulset-system

section "Members on the real node, and $MEMBERS on fake nodes"
sed 's/whenUnsatisfiable: DoNotSchedule/whenUnsatisfiable: ScheduleAnyway/' "test/images/web/web.yaml" >"$EXAMPLE"
kubectl apply -f "$EXAMPLE"
kubectl apply -f - <<EOF
apiVersion: apps.statefulset.dev/v1
kind: StatefulSet
metadata: {name: crowd}
spec:
  replicas: $MEMBERS
  podManagementPolicy: Parallel
  updateStrategy: {rollingUpdate: {maxUnavailable: 20%}}
  selector: {matchLabels: {app: crowd}}
  template:
    metadata:
      labels: {app: crowd}
    spec:
      nodeSelector: {kwok.x-k8s.io/node: fake}
      tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
      containers:
      - name: main
        image: example.com/nothing:1
---
# With claims, whose volumes have nothing behind them.
apiVersion: apps.statefulset.dev/v1
kind: StatefulSet
metadata: {name: disks}
spec:
  replicas: 3
  selector: {matchLabels: {app: disks}}
  template:
    metadata:
      labels: {app: disks}
    spec:
      nodeSelector: {kwok.x-k8s.io/node: fake}
      tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
      containers:
      - name: main
        image: example.com/nothing:1
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      storageClassName: kwok-volume
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
EOF
await "ready members of web" 3 value sset/web '{.status.readyReplicas}'
await "ready members of crowd" "$MEMBERS" value sset/crowd '{.status.readyReplicas}'
await "ready members of disks" 3 value sset/disks '{.status.readyReplicas}'
await "nodes of web" n1 nodes_of app=web
await "nodes of crowd" "node-1 node-2 node-3" nodes_of app=crowd
expect "the answer of web-1 to web-0" '"name":"web-1"' kubectl exec web-0 -- /web -ask http://web-1.web:8080/

section "An update of the fake members, while the others keep running"
uids=$(kubectl get pods -l app=web -o jsonpath='{.items[*].metadata.uid}')
kubectl patch sset crowd --type=merge -p '{"spec":{"template":{"metadata":{"labels":{"turn":"two"}}}}}'
await "members of crowd that are updated and ready, of the second generation" "2/$MEMBERS/$MEMBERS" \
  value sset/crowd '{.status.observedGeneration}/{.status.updatedReplicas}/{.status.readyReplicas}'
await "pods of web" "$uids" kubectl get pods -l app=web -o jsonpath='{.items[*].metadata.uid}'
await "nodes of crowd" "node-1 node-2 node-3" nodes_of app=crowd

section "A pod that selects neither kind of node"
kubectl run plain --image=localhost/busybox:dev --restart=Never --command -- sleep 600
kubectl wait --for=condition=Ready pod/plain --timeout="${TIMEOUT}s"
await "the node of that pod" n1 nodes_of run=plain

section "The real node loses power, and the fake nodes are not affected"
bin/cluster node stop n1 --dir "$DIR"
await "the node" Unknown value node/n1 '{.status.conditions[?(@.type=="Ready")].status}'
bin/cluster node start n1 --dir "$DIR" --images bin/images
await "ready members of web" 3 value sset/web '{.status.readyReplicas}'
await "ready members of crowd" "$MEMBERS" value sset/crowd '{.status.readyReplicas}'
printf '\nreal and fake nodes: ok in %ds\n' "$SECONDS"
