// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// threeWithSecrets brings up three members with a claim and a Secret each, and one Secret of the set.
func threeWithSecrets() scenarios.Scenario {
	s := named("Secrets are generated, and stay while members and their set are deleted and recreated")
	s.Name = "three members with generated Secrets"
	s.Steps = s.Steps[:slices.IndexFunc(s.Steps, func(step scenarios.Step) bool { _, ends := step.(scenarios.EndPod); return ends })]
	return s
}

// TestMembersWithGeneratedSecretsTakeNoMoreWritesThanThereAreThings counts all writes but those of the
// status, for ten minutes.
func TestMembersWithGeneratedSecretsTakeNoMoreWritesThanThereAreThings(t *testing.T) {
	want := map[string]int{
		"create controllerrevisions default":    1,
		"create pods default":                   3,
		"create persistentvolumeclaims default": 3,
		"create secrets default":                3 + 1,
	}
	got := map[string]int{}
	v := trial{name: "writes", scenario: threeWithSecrets(), free: true, fault: func() fault {
		return fault{
			begin: func(w *world) { w.after(10*time.Minute, func() {}) },
			call: func(_ *world, c *call) bool {
				if c.writes() && !strings.HasSuffix(c.String(), " status") {
					got[c.String()]++
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

// TestSecretsAreDrawnOnceWhateverIsKilled kills the controller around each of its writes, and has a Secret
// deleted when all have been made: it stays away, and the others stay as they are.
func TestSecretsAreDrawnOnceWhateverIsKilled(t *testing.T) {
	for k := 1; k <= 11; k++ {
		for _, how := range []crash{beforeWrite, insideWrite, afterWrite, lateWrite} {
			t.Run(fmt.Sprintf("%s %d", how, k), func(t *testing.T) {
				gone := false
				v := trial{name: "crash", scenario: threeWithSecrets(), free: true, seed: uint64(k), fault: func() fault {
					f := crashAt(how, k)()
					f.begin = func(w *world) {
						w.after(5*time.Minute, func() {
							_, err := w.host.Delete(model.Secrets, namespace, scenarios.Name+"-sst", metav1.DeleteOptions{})
							gone = err == nil
							_, _ = w.host.Delete(model.Pods, namespace, podName(1), metav1.DeleteOptions{})
						})
						w.after(10*time.Minute, func() {
							if _, err := w.host.Get(model.Secrets, namespace, scenarios.Name+"-sst"); err == nil {
								w.judge.broke("nothing is drawn over data", "%s-sst is there again", scenarios.Name)
							}
							if set := w.judge.latest(); set == nil || !says(set, v1.ReasonGeneratedSecretMissing) {
								w.judge.broke("what is gone is said", "the set is %+v", set)
							}
						})
					}
					return f
				}}.play(t)
				if len(v.broken) > 0 || !gone {
					t.Errorf("the Secret was deleted: %t; %s\n%s", gone, strings.Join(v.broken, "\n"), tail(v.story))
				}
			})
		}
	}
}

func says(set *v1.StatefulSet, reason string) bool {
	for _, c := range set.Status.Conditions {
		if c.Reason == reason {
			return true
		}
	}
	return false
}
