#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# The quick part of what has to hold on real nodes: on one node, our server is installed as a user installs it, members run
# with their disks and names, an update, a lost power, and an uninstallation lose nothing that they should keep, and nothing
# of the cluster is left afterwards. Where real nodes cannot run, it says why in one line and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-nodes-test
EXAMPLE=$DIR/web.yaml
SELECTOR=app=web
TIMEOUT=180 # seconds that each step may take

. hack/demo-lib.sh

if ! lacking=$(hack/node-able.sh); then
  echo "skipped: $lacking"
  exit 0
fi
make --no-print-directory images IMAGES="statefulset-apiserver kubectl-sts web pause busybox"

# traces are what a cluster must not leave: its namespaces, devices, control groups and mounts.
traces() {
  ip netns list | grep '^sts' || true
  ip -o link | grep -o ': sts[0-9a-f]*' || true
  find /sys/fs/cgroup -maxdepth 2 -name 'sts*' 2>/dev/null || true
  grep -o "$DIR/[^ ]*" /proc/self/mountinfo || true
  pgrep --full --list-full "$DIR/" || true
}

trap remove_cluster EXIT
# A run that was killed has left its cluster.
bin/cluster down --dir "$DIR" --purge
before=$(traces)

starts() { kubectl exec "$1" -- cat /data/starts; }
# starts_from LEAST MEMBER
starts_from() { local n; n=$(starts "$2") && if ((n >= $1)); then echo "$1 or more"; else echo "$n"; fi; }

section "One node"
bin/cluster up --nodes=real:1 --dir "$DIR" --images bin/images

# refused WANT [FLAG...]: an installation says so, and changes nothing.
refused() {
  local got
  if got=$(sts install --image=statefulset-apiserver:dev --single "${@:2}" 2>&1); then fail "the installation: got success, want it refused because of $1"; fi
  [[ $got == *"$1"* && $got != *applied* ]] || fail "the installation: got"$'\n'"$got"$'\n'"want it refused because of: $1"
  [[ -z $(kubectl get namespace statefulset-system --ignore-not-found -o name) ]] || fail "a refused installation has created the namespace"
  echo "refused: $1"
}

section "Installations that cannot work"
DEFAULT=storageclass.kubernetes.io/is-default-class
kubectl annotate storageclass local-path $DEFAULT- >/dev/null
refused "no StorageClass is the default"
kubectl annotate storageclass local-path $DEFAULT=true >/dev/null
kubectl create -f - >/dev/null <<'EOF'
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.apps.statefulset.dev}
spec:
  group: apps.statefulset.dev
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 15
  insecureSkipTLSVerify: true
  service: {name: another, namespace: default}
EOF
refused "points to Service default/another, which is not part of this installation"
kubectl delete apiservice v1.apps.statefulset.dev >/dev/null
kubectl create clusterrolebinding viewer --clusterrole=view --user=viewer >/dev/null
refused "you are not allowed to" --as=viewer

if got=$(sts install --image=statefulset-apiserver:dev 2>&1) || [[ $got != *"the cluster has 1 nodes"*"--single"* ]]; then
  fail "three members of a store on one node: got"$'\n'"$got"$'\n'"want it refused, with a hint to use --single"
fi
echo "refused: three members of a store on one node"

section "Installation"
sts install --image=statefulset-apiserver:dev --single --timeout="${TIMEOUT}s" || fail "the installation failed"
sts doctor || fail "doctor found failures"

section "Members"
# All of them fit on the one node.
sed 's/whenUnsatisfiable: DoNotSchedule/whenUnsatisfiable: ScheduleAnyway/' test/images/web/web.yaml >"$EXAMPLE"
kubectl apply -f "$EXAMPLE"
await "members that are ready" 3 value sset/web '{.status.readyReplicas}'
for pair in web-0:web-1 web-1:web-2 web-2:web-0; do
  await "the name that ${pair#*:} reports to ${pair%:*}" "${pair#*:}" kubectl exec "${pair%:*}" -- /bin/sh -c "/web -ask http://${pair#*:}.web:8080/ | tr -d '{}\"' | tr ',' '\n' | sed -n s/^name://p"
done

section "An update keeps disks"
kubectl patch sset web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"REVISION","value":"2"}]}]}}}}'
await "members that are updated and ready, of the second generation" 2/3/3 value sset/web '{.status.observedGeneration}/{.status.updatedReplicas}/{.status.readyReplicas}'
for member in web-0 web-1 web-2; do await "starts of $member on its disk" 2 starts "$member"; done

section "The node loses power"
uids=$(value pods '{.items[*].metadata.uid}')
bin/cluster node stop n1 --dir "$DIR"
await "the node" Unknown value node/n1 '{.status.conditions[?(@.type=="Ready")].status}'
bin/cluster node start n1 --dir "$DIR" --images bin/images
await "members that are ready" 3 value sset/web '{.status.readyReplicas}'
# On a node that is back a member starts again, and once more if it was evicted meanwhile.
for member in web-0 web-1 web-2; do await "starts of $member on its disk" "3 or more" starts_from 3 "$member"; done
[[ $(value pods '{.items[*].metadata.name}') == "web-0 web-1 web-2" ]] || fail "pods: got $(value pods '{.items[*].metadata.name}'), want web-0 web-1 web-2 (they were $uids)"

section "Uninstallation"
sts uninstall --delete-sets --timeout=3m || fail "the uninstallation failed"
await "claims that are left, with the data" "data-web-0 data-web-1 data-web-2" value pvc '{.items[*].metadata.name}'
await "pods that are left" "" value pods '{.items[*].metadata.name}'

section "Nothing is left"
finish
bin/cluster down --dir "$DIR" --purge
left=$(traces)
[[ $left == "$before" ]] || fail "left behind: got"$'\n'"$left"$'\n'"want the objects from before:"$'\n'"$before"
printf '\nreal nodes: ok in %ds\n' "$SECONDS"
