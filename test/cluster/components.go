// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
)

// Components, by the names of their binaries.
const (
	etcdName       = "etcd"
	apiserverName  = "kube-apiserver"
	kcmName        = "kube-controller-manager"
	schedulerName  = "kube-scheduler"
	kwokName       = "kwok"
	aggregatedName = "statefulset-apiserver"

	// etcdPeer names etcd's second listener; it is not a component.
	etcdPeer = "etcd-peer"
)

// startOrder returns the components in starting order. They stop in the reverse order, because
// kube-apiserver hangs in its shutdown when etcd has stopped first.
func (l layout) startOrder() []string {
	var names []string
	for _, c := range l.components() {
		names = append(names, c.name)
	}
	return append(names, aggregatedName)
}

// component describes how to run one part of the cluster and how to check its health.
type component struct {
	name   string
	exe    string
	args   []string
	env    []string
	health probe
	// netns is the network namespace in which it runs, empty for the namespace of this program, and
	// group is its control group.
	netns string
	group controlGroup
	// retries is how often it is restarted if it exits before it is healthy.
	retries int
}

// components returns everything that `up` runs, in starting order, without the paths of the
// programs.
func (l layout) components() []component {
	all := append([]component{l.etcd(nil), l.apiserver(nil)}, l.followers(nil)...)
	for _, n := range l.nodes() {
		all = append(all, l.nodePrograms(nil, n)...)
	}
	return all
}

// followers returns the components that run next to kube-apiserver and need only that.
func (l layout) followers(bin binaries) []component {
	all := []component{l.controllerManager(bin), l.scheduler(bin)}
	if l.fakeNodes() {
		all = append(all, l.kwok(bin))
	}
	if l.net != nil {
		all = append(all, l.coredns(bin), l.localPath(bin))
	}
	return all
}

func (l layout) etcd(bin binaries) component {
	client := l.url(etcdName)
	peer := l.url(etcdPeer)
	return component{
		name: etcdName,
		exe:  bin["etcd"],
		args: []string{
			"--name=local",
			"--data-dir=" + l.path("etcd"),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=local=" + peer,
			"--cert-file=" + l.crt(etcdServer),
			"--key-file=" + l.key(etcdServer),
			"--client-cert-auth",
			"--trusted-ca-file=" + l.crt(etcdCA),
			"--peer-cert-file=" + l.crt(etcdServer),
			"--peer-key-file=" + l.key(etcdServer),
			"--peer-client-cert-auth",
			"--peer-trusted-ca-file=" + l.crt(etcdCA),
			// A test cluster need not survive a power cut, and slow disks would slow down
			// everything.
			"--unsafe-no-fsync",
		},
		netns:  l.netns(),
		health: probe{url: client + "/health", caFile: l.crt(etcdCA), certBase: l.pki(etcdClient)},
	}
}

func (l layout) apiserver(bin binaries) component {
	return component{
		name: apiserverName,
		exe:  bin["kube-apiserver"],
		args: append(slices.Concat(l.kubernetes.gateFlags(), l.apiserverForNodes()),
			"--bind-address="+l.host(),
			"--advertise-address="+l.host(),
			"--secure-port="+l.port(apiserverName),
			"--etcd-servers="+l.url(etcdName),
			"--etcd-cafile="+l.crt(etcdCA),
			"--etcd-certfile="+l.crt(etcdClient),
			"--etcd-keyfile="+l.key(etcdClient),
			"--tls-cert-file="+l.crt(servingCert),
			"--tls-private-key-file="+l.key(servingCert),
			"--client-ca-file="+l.crt(clusterCA),
			"--authorization-mode=Node,RBAC",
			"--service-cluster-ip-range="+serviceRange,
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file="+l.key(serviceAccounts),
			"--service-account-signing-key-file="+l.key(serviceAccounts),
			"--requestheader-client-ca-file="+l.crt(frontProxyCA),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-uid-headers=X-Remote-Uid",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file="+l.crt(frontProxyClient),
			"--proxy-client-key-file="+l.key(frontProxyClient),
			"--audit-policy-file="+l.path("config", auditPolicyFile),
			"--audit-log-path="+l.path("logs", "audit.log"),
			"--allow-privileged=true",
		),
		netns:  l.netns(),
		health: l.apiserverProbe("/readyz"),
	}
}

// apiserverForNodes returns the flags of kube-apiserver that depend on the kind of nodes.
func (l layout) apiserverForNodes() []string {
	if l.net == nil {
		return []string{
			// Endpoints of the service "kubernetes" must not be loopback addresses, so no component
			// writes them.
			"--endpoint-reconciler-type=none",
			// The controller that would remove the not-ready taint of a new node does not run here.
			"--disable-admission-plugins=TaintNodesByCondition",
			"--enable-aggregator-routing=false",
		}
	}
	return []string{
		"--kubelet-client-certificate=" + l.crt(adminClient),
		"--kubelet-client-key=" + l.key(adminClient),
		"--kubelet-certificate-authority=" + l.crt(clusterCA),
		"--kubelet-preferred-address-types=InternalIP",
		// No kube-proxy runs next to it, so it connects directly to the pods of a Service.
		"--enable-aggregator-routing=true",
	}
}

func (l layout) controllerManager(bin binaries) component {
	return component{
		name: kcmName,
		exe:  bin["kube-controller-manager"],
		args: append(slices.Concat(l.controlLoop(kcmName, kcmClient), l.kubernetes.gateFlags(), l.controllersForNodes()),
			// Without it, most writes of the controllers are forbidden.
			"--use-service-account-credentials=true",
			// The default of 20 a second makes a new cluster wait five seconds for its service
			// accounts.
			"--kube-api-qps=200",
			"--kube-api-burst=400",
			"--root-ca-file="+l.crt(clusterCA),
			"--service-account-private-key-file="+l.key(serviceAccounts),
			"--cluster-signing-cert-file="+l.crt(clusterCA),
			"--cluster-signing-key-file="+l.key(clusterCA),
		),
		netns:  l.netns(),
		health: probe{url: l.url(kcmName) + "/healthz", caFile: l.crt(clusterCA), certBase: l.pki(adminClient)},
	}
}

// controllersForNodes returns the flags of kube-controller-manager that depend on the kind of
// nodes.
func (l layout) controllersForNodes() []string {
	if l.net == nil {
		// On a busy machine, heartbeats are late, and this controller would mark every pod as not
		// ready. Nothing marks a fake pod as ready again.
		return []string{"--controllers=*,-node-lifecycle-controller"}
	}
	// Every node renews its lease every three seconds. Fake nodes get more time: nothing marks
	// their pods as ready again after a missed lease.
	grace := "20s"
	if l.net.Mixed {
		grace = "40s"
	}
	return []string{"--node-monitor-grace-period=" + grace, "--node-monitor-period=2s"}
}

func (l layout) scheduler(bin binaries) component {
	return component{
		name:   schedulerName,
		exe:    bin["kube-scheduler"],
		args:   l.controlLoop(schedulerName, schedulerClient),
		netns:  l.netns(),
		health: probe{url: l.url(schedulerName) + "/readyz", caFile: l.crt(clusterCA), certBase: l.pki(adminClient)},
	}
}

// controlLoop returns the flags that kube-controller-manager and kube-scheduler share. There is one
// of each, so they elect no leader.
func (l layout) controlLoop(name, client string) []string {
	config := l.clientConfig(client)
	return []string{
		"--kubeconfig=" + config,
		"--authentication-kubeconfig=" + config,
		"--authorization-kubeconfig=" + config,
		"--bind-address=" + l.host(),
		"--secure-port=" + l.port(name),
		"--tls-cert-file=" + l.crt(servingCert),
		"--tls-private-key-file=" + l.key(servingCert),
		"--leader-elect=false",
	}
}

func (l layout) kwok(bin binaries) component {
	lease, pods := "40", "10.244.0.1/16"
	if l.net != nil {
		// In this cluster, nodes that do not renew their lease become NotReady. A node renews its
		// lease after a quarter of this time.
		lease, pods = "12", fakePodRange
	}
	return component{
		name: kwokName,
		exe:  bin["kwok"],
		args: []string{
			"--kubeconfig=" + l.clientConfig(kwokClient),
			"--config=" + l.path("config", stagesFile),
			"--server-address=" + l.address(l.ports[kwokName]),
			// A test that acts as the kubelet creates a node without the annotation.
			"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
			"--node-lease-duration-seconds=" + lease,
			"--cidr=" + pods,
		},
		netns: l.netns(),
		// Prevents kwok from merging a configuration in the user's home directory.
		env:    []string{"KWOK_WORKDIR=" + l.path("config", "kwok")},
		health: probe{url: "http://" + l.address(l.ports[kwokName]) + "/healthz"},
	}
}
