// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	v1 "statefulset.dev/api/apps/v1"
)

// TestMetricsShowObjectsByKind has two sets with Services, of which one has ConfigMaps, too.
func TestMetricsShowObjectsByKind(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	gauge := NewGauge()
	if err := registry.Register(gauge.GaugeVec); err != nil {
		t.Fatalf("registering: %v", err)
	}
	show := func(name string, templates ...v1.ObjectTemplateStatus) {
		gauge.Show(cache.ObjectName{Namespace: "shop", Name: name}, templates)
	}
	expect := func(sentence string, kinds ...[6]any) {
		t.Helper()
		var want strings.Builder
		for _, k := range kinds {
			for i, state := range []string{"foreign", "present", "retired", "updated", "wanted"} {
				fmt.Fprintf(&want, "statefulset_controller_objects{kind=%q,state=%q} %d\n", k[0], state, k[i+1])
			}
		}
		header := ""
		if len(kinds) > 0 {
			header = "# HELP statefulset_controller_objects [ALPHA] How many objects the templates of all sets want, how many are present, updated, not managed by the set (foreign), and to be deleted later (retired)\n# TYPE statefulset_controller_objects gauge\n"
		}
		if err := testutil.GatherAndCompare(registry, strings.NewReader(header+want.String()), "statefulset_controller_objects"); err != nil {
			t.Errorf("%s: %v", sentence, err)
		}
	}
	service := v1.ObjectTemplateStatus{Name: "ext", Kind: "Service", Wanted: 3, Present: 2, Updated: 1, Foreign: 1, Retired: 4}
	config := v1.ObjectTemplateStatus{Name: "conf", Kind: "ConfigMap", Wanted: 5, Present: 5, Updated: 5}
	expect("no set has templates")
	show("db", service, config)
	show("web", service, service)
	show("plain")
	expect("all sets count, and all templates of a set", [6]any{"ConfigMap", 0, 5, 0, 5, 5}, [6]any{"Service", 3, 6, 12, 3, 9})
	show("web", service)
	show("web", service)
	expect("a set counts as it is now", [6]any{"ConfigMap", 0, 5, 0, 5, 5}, [6]any{"Service", 2, 4, 8, 2, 6})
	show("db", service)
	expect("a kind that no set has is gone", [6]any{"Service", 2, 4, 8, 2, 6})
	show("web")
	expect("a set that is gone counts no more", [6]any{"Service", 1, 2, 4, 1, 3})
	gauge.Drop()
	expect("a term that is over shows nothing")
	show("db", service)
	expect("the next one begins anew", [6]any{"Service", 1, 2, 4, 1, 3})
}
