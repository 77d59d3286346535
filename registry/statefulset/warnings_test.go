// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	appsv1 "statefulset.dev/api/apps/v1"
)

func TestWarnings(t *testing.T) {
	tests := map[string]struct {
		change func(*appsv1.StatefulSet)
		want   string // empty for none
	}{
		"are not given for an ordinary set":         {change: func(*appsv1.StatefulSet) {}},
		"are not given for the longest usable name": {change: func(set *appsv1.StatefulSet) { set.Name = strings.Repeat("a", 52) }},
		"are given for a name that leaves no room for the revision": {
			change: func(set *appsv1.StatefulSet) { set.Name = strings.Repeat("a", 53) },
			want:   `metadata.name: "` + strings.Repeat("a", 53) + `" has 53 characters, more than 52: pods may not be created`,
		},
		"are given for a history without end": {
			change: func(set *appsv1.StatefulSet) { set.Spec.RevisionHistoryLimit = ptr.To[int32](-1) },
			want:   "spec.revisionHistoryLimit: -1 is below 0",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(warnings(changed(test.change)), "\n")
			if !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("warnings: got %q, want %q", got, test.want)
			}
		})
	}
}
