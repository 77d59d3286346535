// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// TestRevisionOfTheExample compares the name that the example's template is
// recorded under with the one that the built-in controller of Kubernetes 1.37 gave
// it. The hash in the name covers every byte of the record, defaults included, so
// this fails as soon as a set that moves between the two kinds would restart.
func TestRevisionOfTheExample(t *testing.T) {
	manifest, err := os.ReadFile("../../artifacts/examples/web.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	_, document, _ := strings.Cut(string(manifest), "---\n")
	set := &v1.StatefulSet{}
	if err := yaml.UnmarshalStrict([]byte(document), set); err != nil {
		t.Fatalf("decoding the example: %v", err)
	}
	v1.SetObjectDefaults_StatefulSet(set)

	plan := Compute(World{Set: set})
	const want = "web-6cdc958bf"
	if got := plan.Status.UpdateRevision; got != want {
		t.Errorf("the example's revision is %s, want %s; its record is\n%s", got, want, identity.RevisionData(identity.SourceOf(set)))
	}
}

// TestRecordsOfOthers checks which records the planner takes for the present
// template, and what it does when the name for a new one is taken.
func TestRecordsOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(record *appsv1.ControllerRevision)
		want   string
	}{
		"a record with the null time that older releases wrote is the same template": {
			change: func(record *appsv1.ControllerRevision) {
				record.Data.Raw = bytes.Replace(record.Data.Raw, []byte(`"metadata":{`), []byte(`"metadata":{"creationTimestamp":null,`), 1)
			},
			want: "nothing",
		},
		"a record that lacks a default is the same template": {
			change: func(record *appsv1.ControllerRevision) {
				record.Data.Raw = bytes.Replace(record.Data.Raw, []byte(`"dnsPolicy":"ClusterFirst",`), nil, 1)
			},
			want: "nothing",
		},
		"a record without a controller is adopted": {
			change: func(record *appsv1.ControllerRevision) { record.OwnerReferences = nil },
			want:   "adopt revision NAME",
		},
		"a record of another template under the name is a collision": {
			change: func(record *appsv1.ControllerRevision) {
				record.Data.Raw = []byte(`{"spec":{"template":{"$patch":"replace","spec":{"containers":null}}}}`)
			},
			want: "create revision OTHER (2)",
		},
		"a record of the same template that somebody else controls is used as it is": {
			change: func(record *appsv1.ControllerRevision) { record.OwnerReferences[0].UID = "other" },
			want:   "nothing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, Compute)
			h.configure([]string{"replicas=0"})
			h.look()
			var record *appsv1.ControllerRevision
			for _, record = range h.revisions {
			}
			before := string(record.Data.Raw)
			c.change(record)
			if c.want == "nothing" && record.OwnerReferences[0].UID == "set-uid" && string(record.Data.Raw) == before {
				t.Fatal("the case changes nothing")
			}

			plan := Compute(h.world())
			got := "nothing"
			if len(plan.All()) > 0 {
				got = plan.All()[0].String()
			}
			got = strings.ReplaceAll(got, record.Name, "NAME")
			if plan.Status.UpdateRevision != record.Name {
				got = strings.ReplaceAll(got, plan.Status.UpdateRevision, "OTHER")
			}
			if got != c.want {
				t.Errorf("the planner would %s, want %s", got, c.want)
			}
		})
	}
}
