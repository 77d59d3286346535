//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"strings"
	"testing"
)

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
  labels:
    app: db
`

// TestPruneKnowsBuiltInKinds applies a set and a ConfigMap, and then the ConfigMap alone.
func TestPruneKnowsBuiltInKinds(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		prune := func(stdin string, flags ...string) string {
			t.Helper()
			args := append([]string{"apply", "--namespace=" + namespace, "--prune", "--selector=app=db", "--filename=-"}, flags...)
			return suite.MustKubectl(t, stdin, args...)
		}
		prune(configMap + "---\n" + asYAML(t, s.set(t, namespace, first)))
		printed := prune(configMap)
		if got, want := strings.Contains(printed, "/db pruned"), choose(s, true, false); got != want {
			t.Errorf("without a list of kinds, the set is pruned: got %t, want %t; kubectl printed\n%s", got, want, printed)
		}
		if s.name == "built-in" {
			return
		}
		printed = prune(configMap, "--prune-allowlist=core/v1/ConfigMap", "--prune-allowlist=apps.statefulset.dev/v1/StatefulSet")
		if !strings.Contains(printed, "statefulset.apps.statefulset.dev/db pruned") {
			t.Errorf("with our kind in the list, the set is not pruned; kubectl printed\n%s", printed)
		}
	})
}

// TestApplySetsPruneBothKinds is the way without a list.
func TestApplySetsPruneBothKinds(t *testing.T) {
	t.Setenv("KUBECTL_APPLYSET", "true")
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		args := []string{"apply", "--namespace=" + namespace, "--prune", "--applyset=app", "--filename=-"}
		suite.MustKubectl(t, configMap+"---\n"+asYAML(t, s.set(t, namespace, first)), args...)
		if printed := suite.MustKubectl(t, configMap, args...); !strings.Contains(printed, "/db pruned") {
			t.Errorf("the set is not pruned; kubectl printed\n%s", printed)
		}
	})
}

// TestApplyMergesBothKindsAlike is kubectl's three-way merge, for which it reads the definitions that servers publish.
func TestApplyMergesBothKindsAlike(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		apply := func(image string) {
			t.Helper()
			suite.MustKubectl(t, asYAML(t, s.set(t, namespace, image)), "apply", "--filename=-")
		}
		apply(first)
		s.patch(t, namespace, sidecar)
		s.patch(t, namespace, slower)
		apply(second)
		live := s.live(t, namespace)
		if got := containers(t, live); got != withSidecar {
			t.Errorf("containers after another client added one: got %s, want %s", got, withSidecar)
		}
		if got := minReady(t, live); got != 5 {
			t.Errorf("minReadySeconds after another client wrote 9: got %d, want 5", got)
		}
	})
}

// TestLocalPatchesKnowBuiltInKinds patches a file, and not a set of the cluster.
func TestLocalPatchesKnowBuiltInKinds(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		manifest := asYAML(t, s.set(t, namespace, first))
		printed, _, err := suite.Kubectl(t.Context(), manifest, "patch", "--local", "--filename=-", "--output=yaml", "--patch="+sidecar)
		if got, want := err == nil && strings.Contains(printed, "name: main"), choose(s, true, false); got != want {
			t.Errorf("a strategic merge of a file keeps the container of the file: got %t, want %t; %v\n%s", got, want, err, printed)
		}
		printed = suite.MustKubectl(t, manifest, "patch", "--local", "--filename=-", "--output=yaml", "--type=json",
			`--patch=[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"sidecar","image":"example.test/sidecar:1"}}]`)
		if !strings.Contains(printed, "name: main") || !strings.Contains(printed, "name: sidecar") {
			t.Errorf("a JSON patch of a file: want both containers, got\n%s", printed)
		}
	})
}
