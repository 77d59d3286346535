// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"flag"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

var update = flag.Bool("update", false, "write the golden files")

func TestReadFile(t *testing.T) {
	const set = "apiVersion: apps.statefulset.dev/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec: {serviceName: web}\n"
	tests := map[string]struct {
		file    string
		want    int
		wantErr string
	}{
		"a set":                        {file: set, want: 1},
		"a set among other objects":    {file: "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n" + set, want: 1},
		"two sets":                     {file: set + "---\n" + set, want: 2},
		"empty documents are left out": {file: "---\n---\n" + set + "---\n", want: 1},
		"JSON": {
			file: `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"web"}}`, want: 1},
		"a set of apps/v1 is not ours": {
			file: strings.Replace(set, "apps.statefulset.dev/v1", "apps/v1", 1), wantErr: "has no StatefulSet of apps.statefulset.dev/v1"},
		"an unknown field of the spec is named": {
			file: strings.Replace(set, "serviceName", "servieName", 1), wantErr: `unknown field "spec.servieName"`},
		"a set without a name is refused": {file: strings.Replace(set, "name: web", "labels: {}", 1), wantErr: "metadata.name is missing"},
		"what is no YAML is refused":      {file: "{", wantErr: "reading -"},
		"a field of the wrong type is refused": {
			file: strings.Replace(set, "serviceName: web", "replicas: many", 1), wantErr: "cannot unmarshal string"},
		"an empty file is refused":               {file: "", wantErr: "has no StatefulSet"},
		"a file with nothing but a comment, too": {file: "# nothing\n", wantErr: "has no StatefulSet"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readFile("-", strings.NewReader(test.file))
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("got error %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil || len(got) != test.want {
				t.Errorf("got %d sets and error %v, want %d and none", len(got), err, test.want)
			}
		})
	}
}

func TestChange(t *testing.T) {
	tests := map[string]struct {
		change  change
		image   string
		count   int32
		wantErr string
	}{
		"replicas":                     {change: change{replicas: 5}, image: "old", count: 5},
		"no replicas at all":           {change: change{replicas: 0}, image: "old", count: 0},
		"an image":                     {change: change{replicas: unchanged, images: []string{"db=new"}}, image: "new", count: 3},
		"the image of every container": {change: change{replicas: unchanged, images: []string{"*=new"}}, image: "new", count: 3},
		"without a member":             {change: change{replicas: unchanged, removed: []string{"db-1"}}, image: "old", count: 2},
		"without a member that there is not": {
			change: change{replicas: unchanged, removed: []string{"db-3"}}, wantErr: "set db has no member db-3 to remove",
		},
		"an image of a container that is not there": {
			change: change{replicas: unchanged, images: []string{"web=new"}}, wantErr: `has no container "web": it has db`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Replicas: ptr.To[int32](3)}}
			set.Name = "db"
			set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: "db", Image: "old"})
			err := test.change.apply(set)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("got error %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if got := set.Spec.Template.Spec.Containers[0].Image; err != nil || got != test.image || *set.Spec.Replicas != test.count {
				t.Errorf("got image %q, %d replicas and error %v, want %q and %d", got, *set.Spec.Replicas, err, test.image, test.count)
			}
		})
	}
}

func TestFlagsThatCannotBeUsedAreNamed(t *testing.T) {
	tests := map[string]struct {
		change change
		want   string
	}{
		"an image without a container": {change{images: []string{"nginx"}}, `--image is "nginx", must be CONTAINER=IMAGE`},
		"a container without an image": {change{images: []string{"web="}}, `--image is "web="`},
		"a number and a removal":       {change{replicas: 3, removed: []string{"db-1"}}, "use either --replicas or --remove"},
		"a negative number":            {change{replicas: -3}, "--replicas is -3, must be 0 or more"},
		"a replacement and a decision": {
			change{replicas: unchanged, replaced: []string{"db-1"}, aborted: true}, "--promote, --promote-all, --abort and --replace cannot be combined with each other"},
		"a replacement and a change":  {change{replicas: 2, replaced: []string{"db-1"}}, "cannot be combined with a change"},
		"force without a replacement": {change{replicas: unchanged, forced: true}, "--force requires --replace"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := test.change.validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestRender(t *testing.T) {
	plan := &v1.StatefulSetPlan{Outcome: v1.PlanConverged, Reason: v1.ReasonMembersAvailable, Message: "2 of 2 members are available"}
	plan.Namespace, plan.Name = "shop", "web"
	plan.Rounds = []v1.PlanRound{
		{Steps: []v1.PlanStep{{Actions: []v1.PlanAction{{Description: "create revision web-2 (2)", Message: "the template is new"}}},
			{Actions: []v1.PlanAction{{Description: "delete pod web-1 (update)", Message: "the pod is outdated"}}}},
			WaitingFor: "pod web-1 to terminate", Members: []v1.PlanMember{
				{Ordinal: 3, WhyNot: v1.PlanWhyNotBudget, Message: "2 may be"}, {Ordinal: 2, WhyNot: v1.PlanWhyNotBudget, Message: "2 may be"},
				{Ordinal: 0, WhyNot: v1.PlanWhyNotPartition, Message: "the first is left alone"}}, ExpectedEvents: []string{"pod web-1 is gone"}},
		{Steps: []v1.PlanStep{{Actions: []v1.PlanAction{{Description: "create pod web-1 at web-2", Message: "the pod is missing"},
			{Description: "create pod web-2 at web-2", Message: "the pod is missing"}}}},
			Warnings: []v1.PlanWarning{{Reason: "ClaimShared", Message: "set a has the claims of set b"}}},
	}
	compare(t, "testdata/rollout.txt", render(plan))
	compare(t, "testdata/nothing.txt", render(&v1.StatefulSetPlan{Outcome: v1.PlanHeld, Message: "migration", Truncated: true}))
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatalf("writing %s: %v", golden, err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("reading %s: %v", golden, err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant, by %s,\n%s", got, golden, want)
	}
}
