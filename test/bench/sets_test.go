//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import "fmt"

// node is where all pods run. They name it themselves, or the scheduler would be measured.
const node = "node-1"

// service is the headless Service that a namespace has for all sets: without it, users would
// be warned, after our server has waited for it a little. It selects no pods, or the
// cluster's controllers would keep endpoints of them.
const service = "members"

// option changes the spec of a set.
type option func(spec map[string]any)

// set is a manifest, with pods such as small databases have them.
func set(name string, replicas int, options ...option) map[string]any {
	labels := map[string]any{"app": name}
	spec := map[string]any{
		"replicas":    replicas,
		"serviceName": service,
		"selector":    map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     podSpec(),
		},
	}
	for _, option := range options {
		option(spec)
	}
	return map[string]any{"kind": "StatefulSet", "metadata": map[string]any{"name": name}, "spec": spec}
}

func podSpec() map[string]any {
	return map[string]any{
		"nodeName": node,
		"containers": []any{map[string]any{
			"name":      "main",
			"image":     "example.test/main:1",
			"ports":     []any{map[string]any{"name": "db", "containerPort": 5432}},
			"env":       []any{map[string]any{"name": "MODE", "value": "primary"}, map[string]any{"name": "DATA", "value": "/data"}},
			"resources": map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "128Mi"}},
		}},
	}
}

func parallel(spec map[string]any) { spec["podManagementPolicy"] = "Parallel" }

// withClaim gives each member a claim that binds at once.
func withClaim(spec map[string]any) { withClaims(1)(spec) }

// withClaims gives each member n of them.
func withClaims(n int) option {
	return func(spec map[string]any) {
		var templates, mounts []any
		for i := range n {
			name := fmt.Sprintf("data%d", i)
			templates = append(templates, claimTemplate(name))
			mounts = append(mounts, map[string]any{"name": name, "mountPath": "/" + name})
		}
		spec["volumeClaimTemplates"] = templates
		pod := podSpec()
		pod["containers"].([]any)[0].(map[string]any)["volumeMounts"] = mounts
		spec["template"].(map[string]any)["spec"] = pod
	}
}

func claimTemplate(name string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"accessModes":      []any{"ReadWriteOnce"},
			"storageClassName": "kwok-volume",
			"resources":        map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		},
	}
}
