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
	n, err := newNetwork("/some/where", maxNodes)
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
	var names []string
	for _, c := range l.components(nil) {
		names = append(names, c.name)
		if c.netns != "" || c.group != "" {
			t.Errorf("%s: got namespace %q and group %q, want none", c.name, c.netns, c.group)
		}
	}
	if got, want := strings.Join(names, " "), "etcd kube-apiserver kube-controller-manager kube-scheduler kwok"; got != want {
		t.Errorf("components: got %s, want %s", got, want)
	}
}

func TestEveryConfigurationOfANodeIsFilledIn(t *testing.T) {
	values := map[string]any{}
	for _, key := range []string{"Node", "Address", "Pods", "Dir", "RuntimeDir", "Socket", "CNI", "Runc", "Pause", "Group", "ClusterCA", "Certificate", "Key", "DNS", "HealthPort"} {
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
