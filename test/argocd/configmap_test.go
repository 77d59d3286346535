// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

const configMap = "../../artifacts/argocd/argocd-cm.yaml"

// knownTypes are the fields whose quantities Argo CD formats as the server does before it compares. It does so by itself for
// kinds that are compiled into it.
const knownTypes = `- field: spec.template.spec
  type: core/v1/PodSpec
- field: spec.volumeClaimTemplates.spec
  type: core/v1/PersistentVolumeClaimSpec
- field: spec.overrides.containers.resources
  type: core/v1/ResourceRequirements
- field: spec.overrides.volumeClaims.storage
  type: core/Quantity
`

// TestTheConfigMapHasTheScripts compares the patch of Argo CD's ConfigMap with the scripts that the other tests run.
func TestTheConfigMapHasTheScripts(t *testing.T) {
	script := func(name string) string {
		content, err := os.ReadFile(filepath.Join(scripts, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	actions := map[string]any{
		"discovery.lua": script("actions/discovery.lua"),
		"definitions":   []any{map[string]any{"name": "restart", "action.lua": script("actions/restart/action.lua")}},
	}
	want := asYAML(t, map[string]any{"data": map[string]any{
		"resource.customizations.health.apps.statefulset.dev_StatefulSet":          script("health.lua"),
		"resource.customizations.actions.apps.statefulset.dev_StatefulSet":         asYAML(t, actions),
		"resource.customizations.knownTypeFields.apps.statefulset.dev_StatefulSet": knownTypes,
	}})
	want = "# Written by go test ./test/argocd -update. DO NOT EDIT. See docs/gitops.md.\n" + want
	if *update {
		if err := os.WriteFile(configMap, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(configMap)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is\n%s\nwant\n%s\nrun the test with -update", configMap, got, want)
	}
}

func asYAML(t *testing.T, value any) string {
	t.Helper()
	content, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
