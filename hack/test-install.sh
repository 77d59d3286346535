#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs our server in all ways on three real nodes, with three servers and three members of their store, and changes between
# them while a set runs. Its pods stay the same from the first installation to the last, and so does the set.
#
#   hack/test-install.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-install
EXAMPLE=test/images/web/web.yaml
SELECTOR=app=web
TIMEOUT=180 # seconds that each step may take
SYSTEM=statefulset-system
RELEASE=statefulset-apiserver
STORE=statefulset-apiserver-etcd

. hack/demo-lib.sh

# keep_logs adds those of the server and its store to the cluster's.
keep_logs() {
  local pod
  for pod in $(system get pods -o name); do
    system logs "$pod" --previous >"$DIR/logs/${pod#pod/}-previous.log" 2>/dev/null || true
    system logs "$pod" >"$DIR/logs/${pod#pod/}.log" || true
  done
}

helm() { KUBECONFIG=$DIR/kubeconfig bin/helm --namespace "$SYSTEM" "$@"; }
system() { kubectl --namespace "$SYSTEM" "$@"; }
of_system() { system get "$1" -o jsonpath="$2"; }
node() { bin/cluster node "$1" "$2" --dir "$DIR" "${@:3}"; }

# authority tells whether the Secret of the serving authority is another one, or has other data.
authority() { of_system secret/statefulset-apiserver-ca '{.metadata.uid} {.data}' | sha256sum; }
same_authority() { await "$1: the Secret of the CA" "$filled" authority; }

# members names the pods of the set with their UIDs, and the set itself.
members() { value pods '{range .items[*]}{.metadata.name}={.metadata.uid} {end}' && value sset/web '{.metadata.uid}'; }

# served WHAT: the API answers through the cluster, and what ran before still runs.
served() {
  kubectl wait --for=condition=Available apiservice/v1.apps.statefulset.dev --timeout="${TIMEOUT}s" >/dev/null || fail "$1: the API does not become available"
  await "$1: the set and its pods" "$standing" members
}

# writable: a change of the set is stored, and seen by the controller.
writable() {
  local generation
  kubectl annotate --overwrite sset/web tried="$SECONDS" >/dev/null || fail "$1: the set cannot be changed"
  kubectl patch sset web --type=merge -p "{\"spec\":{\"minReadySeconds\":$((RANDOM % 5))}}" >/dev/null || fail "$1: the set cannot be changed"
  generation=$(value sset/web '{.metadata.generation}')
  await "$1: the generation that the controller has observed" "$generation" value sset/web '{.status.observedGeneration}'
}

store_ready() { await "members of the store that are ready" 3 of_system statefulset/$STORE '{.status.readyReplicas}'; }

# begin starts what is installed, and the set if there is none.
began() {
  store_ready
  await "servers that are available" 3 of_system deployment/statefulset-apiserver '{.status.availableReplicas}'
}

# refused WANT COMMAND...: the command fails and says so, and everything runs on.
refused() {
  local want=$1 got
  shift
  if got=$("$@" 2>&1); then fail "$*: got success, want it refused because of: $want"; fi
  [[ $got == *"$want"* ]] || fail "$*: got"$'\n'"$got"$'\n'"want it refused because of: $want"
  echo "refused: $want"
}

backup() { system exec "$1" -- /statefulset-apiserver store backup --data-dir=/data/etcd --to=- >"$DIR/sets.backup" || fail "the backup of $1 failed"; }
restore() { system exec -i "$1" -- /statefulset-apiserver store restore --accept-unauthenticated --from=- --data-dir=/data/etcd <"$DIR/sets.backup" || fail "the restore in $1 failed"; }

stop_servers() {
  system scale deployment/statefulset-apiserver --replicas=0
  system wait --for=delete pod -l app.kubernetes.io/name=statefulset-apiserver --timeout="${TIMEOUT}s"
}

# store_pod begins a container beside the volume of an embedded store.
store_pod() {
  kubectl apply -f artifacts/examples/store.yaml
  system wait --for=condition=Ready pod/store --timeout="${TIMEOUT}s"
}

hack/node-packages.sh
trap "remove_cluster keep_logs" EXIT
bin/cluster down --dir "$DIR" --purge
bin/cluster up --nodes=real --dir "$DIR" --images bin/images

section "Helm"
refused "this chart must be installed in statefulset-system" env KUBECONFIG="$DIR/kubeconfig" bin/helm install "$RELEASE" artifacts/chart --namespace default
helm install "$RELEASE" artifacts/chart --create-namespace --wait --timeout 4m || fail "helm install failed"
began
kubectl apply -f "$EXAMPLE"
await "members that are ready" 3 value sset/web '{.status.readyReplicas}'
standing=$(members)
filled=$(authority)
[[ -n $(of_system secret/statefulset-apiserver-ca '{.data.ca\.key}') ]] || fail "the server has not filled its Secret"
sts doctor || fail "doctor found failures"

section "The disk of a member of the store is lost"
system annotate pvc data-$STORE-1 apps.statefulset.dev/allow-delete=yes
refused "to delete only this object, annotate data-$STORE-0" system delete pvc data-$STORE-0
system delete pvc data-$STORE-1 --wait=false
old=$(of_system pod/$STORE-1 '{.metadata.uid}')
begun=$SECONDS
system delete pod $STORE-1
writable "while the member is away"
until [[ $(of_system pod/$STORE-1 '{.metadata.uid}' 2>/dev/null) != "$old" ]]; do sleep 0.2; done
system wait --for=condition=Ready pod/$STORE-1 --timeout="${TIMEOUT}s"
echo "back after $((SECONDS - begun))s"
served "after a lost disk"

section "A node is lost, with a server and a member of the store"
begun=$SECONDS
node stop n2
await "the node" Unknown value node/n2 '{.status.conditions[?(@.type=="Ready")].status}'
writable "while a node is away"
node start n2 --images bin/images
await "the node" True value node/n2 '{.status.conditions[?(@.type=="Ready")].status}'
began
await "members that are ready" 3 value sset/web '{.status.readyReplicas}'
standing=$(members) # the member of that node was recreated
echo "all back after $((SECONDS - begun))s"

section "A release with sets is not uninstalled"
refused "nothing was changed, because there are sets" helm uninstall "$RELEASE"
served "after the refusal"
helm rollback "$RELEASE" 1 || fail "helm rollback failed"

section "All modes of certificates"
authorities() {
  local name
  for name in peer-ca client-ca; do of_system secret/$STORE-$name '{.data.ca\.crt}'; done
}
signing=$(authorities)
[[ ${#signing} -gt 1000 ]] || fail "CAs of the store: got \"$signing\", want two"
for mode in helm existingSecret auto; do
  set -- --set tls.mode=$mode
  if [[ $mode == existingSecret ]]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mine -keyout "$DIR/mine.key" -out "$DIR/mine.crt" \
      -addext subjectAltName=DNS:statefulset-apiserver.statefulset-system.svc 2>/dev/null
    system create secret tls mine --cert="$DIR/mine.crt" --key="$DIR/mine.key"
    set -- "$@" --set tls.secret=mine --set-file tls.caBundle="$DIR/mine.crt"
  fi
  # The caBundle is the server's as long as the mode is auto.
  if [[ $mode == helm ]]; then refused "conflict with \"statefulset-apiserver-tls\": .spec.caBundle" helm upgrade "$RELEASE" artifacts/chart "$@"; fi
  helm upgrade "$RELEASE" artifacts/chart "$@" --force-conflicts --wait --timeout 4m >/dev/null || fail "helm upgrade to tls.mode=$mode failed"
  served "tls.mode=$mode"
  writable "tls.mode=$mode"
  echo "tls.mode=$mode: served"
done
same_authority "all ways to have a certificate"

[[ $(authorities) == "$signing" ]] || fail "CAs of the store: got others after upgrades, want the same"

section "A certificate of cert-manager"
hack/install-cert-manager.sh "$DIR"
helm upgrade "$RELEASE" artifacts/chart --set tls.mode=certManager --force-conflicts --wait --timeout 4m >/dev/null || fail "helm upgrade to tls.mode=certManager failed"
served "tls.mode=certManager"
writable "tls.mode=certManager"
# serial prints that of a certificate, of the Secret or of what a server of ours shows.
serial() { openssl x509 -noout -serial; }
secret() { of_system secret/statefulset-apiserver-serving '{.data.tls\.crt}' | base64 -d; }
in_secret() { secret | serial; }
lasts() { secret | openssl x509 -noout -checkend "$1" >/dev/null && echo yes; }
shown() {
  local address
  address=$(system get pods -l app.kubernetes.io/name=statefulset-apiserver -o jsonpath='{.items[0].status.podIP}')
  ip netns exec "$(sed -n 's/.*"name": "\(sts[0-9a-f]*\)".*/\1/p' "$DIR/state.json")-cp" openssl s_client -connect "$address:8443" </dev/null 2>/dev/null | serial
}
first=$(in_secret)
await "the certificate that a server shows" "$first" shown
# It lasts an hour, and is due after half a minute: that is how cert-manager sees one of ninety days after sixty.
system patch certificate statefulset-apiserver-serving --type=merge -p '{"spec":{"duration":"1h","renewBefore":"59m30s"}}'
renewals=0
for ((deadline = SECONDS + TIMEOUT; renewals < 3; )); do
  ((SECONDS < deadline)) || fail "renewals: got $renewals in ${TIMEOUT}s, want 3"
  next=$(in_secret)
  if [[ $next != "$first" ]]; then first=$next renewals=$((renewals + 1)); fi
  kubectl get sset web >/dev/null || fail "a request failed while the certificate was renewed"
  sleep 0.5
done
system patch certificate statefulset-apiserver-serving --type=merge -p '{"spec":{"duration":"2160h","renewBefore":null}}'
await "whether the certificate lasts more than a day again" yes lasts 86400
await "the renewed certificate that a server shows, without a restart" "$(in_secret)" shown
served "renewed by cert-manager"
writable "renewed by cert-manager"
sts doctor || fail "doctor found failures"
helm upgrade "$RELEASE" artifacts/chart --set tls.mode=auto --force-conflicts --wait --timeout 4m >/dev/null || fail "helm upgrade back to tls.mode=auto failed"
served "back to tls.mode=auto"

section "Helm, uninstalled and installed again"
kubectl delete -f "$EXAMPLE" --cascade=orphan
helm uninstall "$RELEASE" --wait --timeout 4m || fail "helm uninstall failed"
await "registrations that are left" "" kubectl get apiservice v1.apps.statefulset.dev --ignore-not-found -o name
left=$(kubectl get clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas -o name | grep -E 'statefulset-(apiserver|controller|preflight|edit|view)' | grep -v system: || true)
[[ -z $left ]] || fail "left behind: got $left, want nothing"
kubectl wait --for=condition=Ready pod -l "$SELECTOR" --timeout="${TIMEOUT}s" >/dev/null || fail "pods of the set do not keep running"
[[ $(authorities) == "$signing" ]] || fail "CAs of the store: got others after the release was uninstalled, want the same"

section "The plugin"
sts install --image=statefulset-apiserver:dev --timeout="${TIMEOUT}s" || fail "the installation failed"
began
same_authority "uninstalled by Helm and installed by the plugin"
kubectl delete pods -l "$SELECTOR" --wait
kubectl apply -f "$EXAMPLE"
await "members that are ready" 3 value sset/web '{.status.readyReplicas}'
standing=$(members)

section "From three servers to one"
refused "the cluster records a store that is not embedded" sts install --image=statefulset-apiserver:dev --single
stop_servers
backup $STORE-0
kubectl apply -f artifacts/base/storage.yaml
store_pod
restore store
system delete pod store
sts install --image=statefulset-apiserver:dev --single --change-store
served "with one server"
writable "with one server"

section "From one server to three, with new disks"
system annotate statefulset/$STORE apps.statefulset.dev/allow-delete=yes
system delete statefulset/$STORE --wait
for i in 0 1 2; do
  system annotate pvc data-$STORE-$i apps.statefulset.dev/allow-delete=yes
  system delete pvc data-$STORE-$i
done
stop_servers
store_pod
backup store
system delete pod store
sts install --image=statefulset-apiserver:dev --change-store
system wait --for=jsonpath='{.status.phase}'=Running pod/$STORE-0 --timeout="${TIMEOUT}s"
expect "what the first member waits for" "restore a backup" system logs $STORE-0
restore $STORE-0
served "with three servers again"
writable "with three servers again"
began

section "kubectl alone"
kubectl apply -k artifacts/ha >/dev/null || fail "kubectl apply -k failed"
system rollout status deployment/statefulset-apiserver --timeout="${TIMEOUT}s"
served "applied by kubectl"
same_authority "applied by kubectl"
writable "applied by kubectl"
sts doctor || fail "doctor found failures"

section "Uninstallation"
sts uninstall --delete-sets --timeout=3m || fail "the uninstallation failed"
await "pods that are left" "" value pods '{.items[*].metadata.name}'
await "pods of the system that are left" "" of_system pods '{.items[*].metadata.name}'
printf '\ninstallations: ok in %ds\n' "$SECONDS"
