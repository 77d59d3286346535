// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestCompare(t *testing.T) {
	old := podRun{uid: "1", started: "8:00", revision: "web-a"}
	wanted := func(ordinal int) bool { return ordinal < 2 }
	for sentence, test := range map[string]struct {
		was, is                podRun
		name                   string
		explained, unexplained string
	}{
		"nothing happened": {was: old, is: old},
		"the same pod has started since": {
			was: podRun{uid: "1", revision: "web-b"}, is: podRun{uid: "1", revision: "web-b", started: "8:00"}},
		"the update replaced the pod":     {was: old, is: podRun{uid: "2", revision: "web-b"}, explained: "was replaced"},
		"the update is replacing the pod": {was: old, is: podRun{}, explained: "was replaced"},
		"a pod that was terminating has gone": {
			was: podRun{uid: "1", revision: "web-b", leaving: true}, is: podRun{}, explained: "was replaced"},
		"a surplus pod has gone": {
			name: "web-7", was: podRun{uid: "1", revision: "web-b"}, is: podRun{}, explained: "was replaced"},
		"an updated pod has gone": {was: podRun{uid: "1", revision: "web-b"}, is: podRun{}, unexplained: "does not exist any more"},
		"an updated pod is another": {
			was: podRun{uid: "1", revision: "web-b"}, is: podRun{uid: "2", revision: "web-b"}, unexplained: "is not the same pod"},
		"an outdated pod is another, still outdated": {was: old, is: podRun{uid: "2", revision: "web-a"}, unexplained: "is not the same pod"},
		"a container has restarted": {
			was: old, is: podRun{uid: "1", started: "8:00", revision: "web-a", restarts: "main:1 "}, unexplained: "has restarted"},
	} {
		t.Run(sentence, func(t *testing.T) {
			name := test.name
			if name == "" {
				name = "web-1"
			}
			before := snapshot{pods: map[string]podRun{name: test.was}, update: "web-b", wanted: wanted}
			after := snapshot{pods: map[string]podRun{}, update: "web-b", wanted: wanted}
			if test.is != (podRun{}) {
				after.pods[name] = test.is
			}
			explained, unexplained := compare(before, after)
			if got := strings.Join(explained, ";"); (got == "") != (test.explained == "") || !strings.Contains(got, test.explained) {
				t.Errorf("explained: %q, want %q", got, test.explained)
			}
			if got := strings.Join(unexplained, ";"); (got == "") != (test.unexplained == "") || !strings.Contains(got, test.unexplained) {
				t.Errorf("unexplained: %q, want %q", got, test.unexplained)
			}
		})
	}
	before := snapshot{claims: map[string]types.UID{"data-web-0": "1", "data-web-9": "1"}, wanted: wanted}
	if _, unexplained := compare(before, snapshot{claims: map[string]types.UID{"data-web-0": "1"}}); len(unexplained) > 0 {
		t.Errorf("the claim of a surplus member is gone: %v, want that to be fine", unexplained)
	}
	if _, unexplained := compare(before, snapshot{claims: map[string]types.UID{"data-web-0": "2"}}); len(unexplained) != 1 {
		t.Errorf("a claim is another one: %v, want one complaint", unexplained)
	}
}
