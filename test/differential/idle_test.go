//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"maps"
	"slices"
	"testing"
)

// idleFields are fields that the built-in StatefulSet does not have, with values by which nothing
// is to change for a set of a few members.
func idleFields() map[string]any {
	faraway := []any{map[string]any{"first": 100000}}
	return map[string]any{
		"ordinals":          map[string]any{"reserved": faraway},
		"overrides":         []any{map[string]any{"name": "faraway", "ordinals": faraway, "labels": map[string]any{"far": "away"}}},
		"volumeClaimUpdate": map[string]any{"policy": "NewClaims"},
		"disruption": map[string]any{"method": "Delete", "gates": []any{
			map[string]any{"conditionType": "example.com/asked", "operations": []any{"Replace"}},
		}},
	}
}

// idleUpdateFields are such fields of updateStrategy.rollingUpdate.
func idleUpdateFields() map[string]any {
	return map[string]any{
		"replaceUnreadyAfterSeconds": 604800,
		"order": map[string]any{
			"direction": "Descending", "last": []any{map[string]any{"matchLabels": map[string]any{"role": "none"}}}},
	}
}

// notIdle says of scenarios why they cannot be played with fields that are idle: in them one of
// the fields has something to do.
func notIdle() map[string]string {
	const (
		templates = "volumeClaimUpdate lets claim templates change"
		order     = "without a block rollingUpdate, the first members are left alone; where the set orders its updates, ordinals do not say which"
	)
	return map[string]string{
		"claims-templates-changed": templates, "immutable-fields": templates,
		"no-rolling-block": order, "order-idle-no-block": order, "unblock-idle-no-block": order,
	}
}

// withIdleFields is a scenario in which our sets have fields that are idle.
func withIdleFields(s scenario) scenario {
	s.commands = slices.Clone(s.commands)
	for i := range s.commands {
		c := &s.commands[i]
		if len(c.words) < 2 || c.words[1] != "set" || c.words[0] != "create" && c.words[0] != "apply" {
			continue
		}
		spec := idleFields()
		if policy(c.value) == "Parallel" { // ordered sets are warned of it
			spec["scaleStrategy"] = map[string]any{"maxUnavailable": 1000}
		}
		if updates(c.value) {
			spec["updateStrategy"] = map[string]any{"rollingUpdate": idleUpdateFields()}
		}
		own, _ := c.value["ours"].(map[string]any)
		c.value = maps.Clone(c.value)
		if c.value == nil {
			c.value = map[string]any{}
		}
		c.value["ours"] = merged(map[string]any{"spec": spec}, own)
	}
	return s
}

func policy(value map[string]any) any {
	spec, _ := value["spec"].(map[string]any)
	return spec["podManagementPolicy"]
}

// idleShown is what of a set with idle fields is to be seen: the fields, in them no partition that
// nobody has given, what the status says of them, and which claim templates a pod was made with.
func idleShown(all []scenario) explanation {
	e := explanation{Sometimes: true, Reason: "the set has the fields that it was given", What: []string{
		"set * spec.disruption.*", "set * spec.ordinals.*", "set * spec.overrides*", "set * spec.scaleStrategy.maxUnavailable",
		"set * spec.volumeClaimUpdate.policy",
		"set * spec.updateStrategy.rollingUpdate.order.*", "set * spec.updateStrategy.rollingUpdate.replaceUnreadyAfterSeconds",
		"set * spec.updateStrategy.rollingUpdate.partition",
		"set * status.ordinals*", "set * status.volumeClaims*", "pod * metadata.annotations.apps.statefulset.dev/claim-templates",
	}}
	for _, s := range all {
		e.Scenarios = append(e.Scenarios, s.name)
	}
	return e
}

// updates reports whether members of a set are recreated by the rolling update of it.
func updates(value map[string]any) bool {
	spec, _ := value["spec"].(map[string]any)
	strategy, _ := spec["updateStrategy"].(map[string]any)
	kind, named := strategy["type"]
	return !named || kind == "RollingUpdate"
}

// TestScenariosWithIdleFields plays every scenario with sets of ours that have fields of ours: as
// long as these have nothing to do, they are to change nothing.
func TestScenariosWithIdleFields(t *testing.T) {
	if testing.Short() {
		t.Skip("every scenario is played a second time, which is left out in short")
	}
	all := slices.DeleteFunc(readScenarios(t), func(s scenario) bool { return notIdle()[s.name] != "" })
	for i := range all {
		all[i] = withIdleFields(all[i])
	}
	explanations := append(readExplanations(t), idleShown(all))
	playAll(t, all, explanations).judge(t, explanations, false)
}
