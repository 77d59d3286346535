// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/scenarios"
)

// threeWithObjects brings up three members with a claim and two objects each, and one object of the set.
func threeWithObjects() scenarios.Scenario {
	s := named("objects are lost and changed by hand")
	s.Name = "three members with two objects each"
	s.Steps = []scenarios.Step{s.Steps[0], s.Steps[1], scenarios.Patch(`{"spec":{"replicas":3,"objectTemplates":[
		{"name":"conf","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"member":"$(ORDINAL)"}}},
		{"name":"more","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-more"},"data":{"of":"$(REPLICAS)"}}},
		{"name":"all","scope":"Set","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"},"data":{"set":"$(SET)"}}}]}}`), scenarios.Settled}
	return s
}

// TestMembersWithObjectsTakeNoMoreWritesThanThereAreThings counts all writes but those of the status,
// for ten minutes.
func TestMembersWithObjectsTakeNoMoreWritesThanThereAreThings(t *testing.T) {
	want := map[string]int{
		"create controllerrevisions default":                      1,
		"create pods default":                                     3,
		"create persistentvolumeclaims default":                   3,
		"create configmaps default":                               3*2 + 1,
		"status a minute after all is as it should be, and later": 0,
	}
	expectWrites(t, threeWithObjects(), want)
}

// TestObjectsThatComeAndGoTakeTwoWritesMore: a member that is removed and comes back within the delay has
// its object dated, and the date taken off; one that stays away has its object dated and deleted.
func TestObjectsThatComeAndGoTakeTwoWritesMore(t *testing.T) {
	s := threeWithObjects()
	s.Name = "three members whose objects go, of which one comes back"
	retention := func(seconds int, replicas int) scenarios.Step {
		return scenarios.Patch(
			fmt.Sprintf(`{"spec":{"replicas":%d,"objectTemplates":[{"name":"conf","retention":{"whenScaled":"Delete","scaledAfterSeconds":%d},
			"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"member":"$(ORDINAL)"}}}]}}`, replicas,
				seconds))
	}
	s.Steps = []scenarios.Step{s.Steps[0], s.Steps[1], retention(600, 3), scenarios.Settled, retention(600, 1), scenarios.Retired(2),
		retention(600, 2), scenarios.Retired(1),
		retention(1, 2), scenarios.Settled}
	expectWrites(t, s, map[string]int{
		"create controllerrevisions default":                      1,
		"create pods default":                                     3 + 1,
		"delete pods default web-1":                               1,
		"delete pods default web-2":                               1,
		"create persistentvolumeclaims default":                   3,
		"create configmaps default":                               3,
		"patch configmaps default web-1-conf":                     2,
		"patch configmaps default web-2-conf":                     1,
		"delete configmaps default web-2-conf":                    1,
		"status a minute after all is as it should be, and later": 0,
	})
}

// expectWrites plays a scenario for ten minutes, and counts what the controller writes.
func expectWrites(t *testing.T, scenario scenarios.Scenario, want map[string]int) {
	t.Helper()
	const long = 10 * time.Minute
	got := map[string]int{"status a minute after all is as it should be, and later": 0}
	v := trial{name: "writes", scenario: scenario, free: true, fault: func() fault {
		return fault{
			begin: func(w *world) { w.after(long, func() {}) },
			call: func(w *world, c *call) bool {
				switch {
				case !c.writes():
				case !strings.HasSuffix(c.String(), " status"):
					got[c.String()]++
				case time.Since(w.began) > time.Minute:
					got["status a minute after all is as it should be, and later"]++
				}
				return false
			},
		}
	}}.play(t)
	if len(v.broken) > 0 {
		t.Fatalf("%s\n%s", strings.Join(v.broken, "\n"), tail(v.story))
	}
	if !maps.Equal(got, want) {
		t.Errorf("the controller wrote %v, want %v\n%s", got, want, tail(v.story))
	}
}
