// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
)

func TestWhichNodesAreWanted(t *testing.T) {
	fresh, fake := &state{}, &state{Kubernetes: "1.37"}
	real2 := &state{Kubernetes: "1.37", Network: &network{Nodes: 2}}
	mixed2 := &state{Kubernetes: "1.37", Network: &network{Nodes: 2, Mixed: true}}
	for sentence, tc := range map[string]struct {
		given string
		there *state
		want  string
		fails bool
	}{
		"a new cluster has fake nodes":                    {"", fresh, "fake", false},
		"real alone means three":                          {"real", fresh, "real:3", false},
		"a number can be given":                           {"real:1", fresh, "real:1", false},
		"a cluster keeps its fake nodes":                  {"", fake, "fake", false},
		"a cluster keeps its real nodes":                  {"", real2, "real:2", false},
		"mixed alone means three real ones":               {"mixed", fresh, "mixed:3", false},
		"a number of real ones of both can be given":      {"mixed:1", fresh, "mixed:1", false},
		"a cluster keeps its nodes of both kinds":         {"", mixed2, "mixed:2", false},
		"a number of both that is none is refused":        {"mixed:", fresh, "", true},
		"none is no number of nodes":                      {"real:0", fresh, "", true},
		"more than there are addresses for are refused":   {"real:101", fresh, "", true},
		"a number that is none is refused":                {"real:x", fresh, "", true},
		"fake nodes are not counted":                      {"fake:3", fresh, "", true},
		"another kind is refused, and the kinds are told": {"kwok", fresh, "", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := parseNodes(tc.given, tc.there)
			var usage usageError
			if tc.fails != errors.As(err, &usage) {
				t.Fatalf("got error %v, want a mistake on the command line: %v", err, tc.fails)
			}
			if tc.fails {
				if !strings.Contains(err.Error(), "fake, real") {
					t.Errorf("got %q, want it to say what can be given", err)
				}
				return
			}
			if got.String() != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestMachinesOfANetworkShareNothing(t *testing.T) {
	n, err := newNetwork("/some/where", nodesWanted{real: maxNodes})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{n.gateway(): "this machine"}
	spaces := []namespace{n.controlPlane()}
	for _, one := range n.nodes() {
		spaces = append(spaces, one.namespace)
		if other, taken := seen[one.pods]; taken {
			t.Errorf("pods of %s and %s have the same addresses, %s", one.name, other, one.pods)
		}
		seen[one.pods] = one.name
	}
	for _, s := range spaces {
		for _, thing := range []string{s.name, s.address, s.link} {
			if other, taken := seen[thing]; taken {
				t.Errorf("%s has %s, and so has %s", s.name, thing, other)
			}
			seen[thing] = s.name
		}
		// The kernel takes no longer names of devices.
		if len(s.link) > 15 {
			t.Errorf("name of a device: got %q with %d characters, want at most 15", s.link, len(s.link))
		}
	}
}

func TestADirectoryThatIsTooDeepForSocketsIsRefused(t *testing.T) {
	n := &network{Name: "sts000000", Prefix: "10.89.0", Nodes: 1}
	for sentence, tc := range map[string]struct {
		dir     string
		refused bool
	}{
		"an ordinary one": {"/home/somebody/statefulset-apiserver/.cluster-nodes", false},
		"a deep one":      {"/" + strings.Repeat("d", 80), true},
	} {
		l := layout{dir: tc.dir, net: n}
		if err := l.checkNodeDir(n.nodes()[0]); (err != nil) != tc.refused {
			t.Errorf("%s: got %v, want refused: %v", sentence, err, tc.refused)
		}
	}
}

// Flags that are remembered must not change with what is started, or all would be restarted.
func TestFakeNodesAreStartedAsBefore(t *testing.T) {
	l := layout{dir: "/c", ports: map[string]int{}, kubernetes: newestRelease()}
	for _, c := range l.components() {
		if c.netns != "" || c.group != "" {
			t.Errorf("%s: got namespace %q and group %q, want none", c.name, c.netns, c.group)
		}
	}
}

// What a cluster starts follows from its nodes, and fake ones take unasked what they can only take when there are no real ones.
func TestEveryKindOfNodesHasItsParts(t *testing.T) {
	const (
		always = "etcd kube-apiserver kube-controller-manager kube-scheduler "
		addons = "coredns local-path-provisioner containerd-n1 kubelet-n1 kube-proxy-n1"
		taint  = "taints:\n  - {key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}"
	)
	withNodes := func(mixed bool) *network {
		return &network{Name: "sts000000", Prefix: "10.89.0", Nodes: 1, Mixed: mixed}
	}
	for kind, tc := range map[string]struct {
		net                   *network
		components            string
		nodes, taints         int
		defaultClass, another string
	}{
		"fake":  {nil, always + "kwok", 3, 0, "kwok-volume", "local-path"},
		"real":  {withNodes(false), always + addons, 0, 0, "local-path", "kwok-volume"},
		"mixed": {withNodes(true), always + "kwok " + addons, 3, 3, "local-path", "kwok-volume"},
	} {
		l := layout{dir: "/c", ports: map[string]int{}, kubernetes: newestRelease(), net: tc.net}
		var names []string
		for _, c := range l.components() {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); got != tc.components {
			t.Errorf("%s: components: got %s, want %s", kind, got, tc.components)
		}
		raw, err := l.prepared()
		if err != nil {
			t.Fatal(err)
		}
		prepared := string(raw)
		if got := strings.Count(prepared, "kind: Node\n"); got != tc.nodes {
			t.Errorf("%s: fake nodes: got %d, want %d", kind, got, tc.nodes)
		}
		if got := strings.Count(prepared, taint); got != tc.taints {
			t.Errorf("%s: nodes with a taint: got %d, want %d", kind, got, tc.taints)
		}
		isDefault := func(class string) bool {
			return strings.Contains(prepared, "name: "+class+"\n  annotations:\n    storageclass.kubernetes.io/is-default-class: \"true\"")
		}
		if !isDefault(tc.defaultClass) || isDefault(tc.another) {
			t.Errorf("%s: default storage class: got %s: %v, %s: %v, want the first only", kind, tc.defaultClass, isDefault(tc.defaultClass),
				tc.another, isDefault(tc.another))
		}
		if got := strings.Count(prepared, "name: my-storage-class\n"); got != 1 {
			t.Errorf("%s: storage classes of the documentation's examples: got %d, want 1", kind, got)
		}
	}
}

func TestEveryConfigurationOfANodeIsFilledIn(t *testing.T) {
	values := map[string]any{}
	for _, key := range []string{"Node", "Address", "Pods", "Dir", "RuntimeDir", "Socket", "CNI", "Runc", "Pause", "Group", "ClusterCA",
		"Certificate", "Key", "DNS", "HealthPort"} {
		values[key] = "value-of-" + key
	}
	entries, err := nodeConfigs.ReadDir("nodeconfig")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := renderNodeConfig(entry.Name(), values)
		if err != nil {
			t.Errorf("%s: %v", entry.Name(), err)
			continue
		}
		if !strings.Contains(string(text), "value-of-") {
			t.Errorf("%s: got nothing of what is known, want some of it", entry.Name())
		}
	}
}
