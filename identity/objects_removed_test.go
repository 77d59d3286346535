// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// described is a template in one line: its name, the kind of its objects, their name, and its retention,
// such as "conf ConfigMap $(IDENTITY)-conf Delete:20".
func described(t *testing.T, line string) v1.ObjectTemplate {
	t.Helper()
	words := strings.Fields(line)
	version := "v1"
	if words[1] == "Job" {
		version = "batch/v1"
	}
	template := v1.ObjectTemplate{Name: words[0]}
	template.Object = runtime.RawExtension{
		Raw: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q}}`, version, words[1], words[2])}
	if len(words) > 3 {
		policy, seconds, delayed := strings.Cut(words[3], ":")
		template.Retention = &v1.ObjectRetention{WhenScaled: v1.ObjectRetentionPolicyType(policy)}
		if delayed {
			var after int32
			if _, err := fmt.Sscan(seconds, &after); err != nil {
				t.Fatal(err)
			}
			template.Retention.ScaledAfterSeconds = &after
		}
	}
	return template
}

// removedText is what a status tells of removed templates.
func removedText(status *v1.StatefulSetStatus) (lines []string) {
	for _, s := range identity.RemovedTemplates(status) {
		line := fmt.Sprintf("%s %s %s %s", s.Name, identity.RemovedKind(s), s.ObjectName, s.Retention.WhenScaled)
		if s.Retention.ScaledAfterSeconds != nil {
			line += fmt.Sprintf(":%d", *s.Retention.ScaledAfterSeconds)
		}
		lines = append(lines, line+" at "+s.RemovedAt.UTC().Format("15:04:05"))
	}
	return lines
}

func TestNoteRemovedTemplates(t *testing.T) {
	const conf = "conf ConfigMap $(IDENTITY)-conf Delete:20"
	for sentence, test := range map[string]struct {
		// states are the templates of one spec after another, an hour apart.
		states [][]string
		want   []string
	}{
		"a template that stays is not noted": {states: [][]string{{conf}, {conf}}},
		"one that is removed is, with what it said last": {
			states: [][]string{{conf}, nil}, want: []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-conf Delete:20 at 01:00:00"}},
		"so is one of a group": {
			states: [][]string{{"init Job $(SET)-init Delete"}, nil}, want: []string{"init batch/v1, Kind=Job $(SET)-init Delete at 01:00:00"}},
		"one that kept its objects is not": {
			states: [][]string{{"conf ConfigMap $(IDENTITY)-conf Retain"}, nil}},
		"nor one that said nothing of that": {states: [][]string{{"conf ConfigMap $(IDENTITY)-conf"}, nil}},
		"one that is changed otherwise is not": {
			states: [][]string{{conf}, {"conf ConfigMap $(IDENTITY)-conf Delete:5"}}},
		"one with other names of its objects is another": {states: [][]string{{conf},
			{"conf ConfigMap $(IDENTITY)-cfg Delete:20"}}, want: []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-conf Delete:20 at 01:00:00"}},
		"one of another kind is another": {states: [][]string{
			{conf}, {"conf Secret $(IDENTITY)-conf Delete:20"}}, want: []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-conf Delete:20 at 01:00:00"}},
		"its last word holds for the objects with the old names": {states: [][]string{
			{conf}, {"conf ConfigMap $(IDENTITY)-cfg Delete:5"}}, want: []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-conf Delete:5 at 01:00:00"}},
		"and keeps them if it says so": {
			states: [][]string{{conf}, {"conf ConfigMap $(IDENTITY)-cfg Retain"}}},
		"one that comes back is forgotten": {states: [][]string{{conf}, nil, {conf}}},
		"one that comes back with other names leaves the old ones to go": {states: [][]string{{conf}, nil,
			{"conf ConfigMap $(IDENTITY)-cfg Delete"}}, want: []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-conf Delete:20 at 01:00:00"}},
		"one that comes back with other names and keeps its objects does not": {
			states: [][]string{{conf}, nil, {"conf ConfigMap $(IDENTITY)-cfg"}}},
		"what was noted stays when others change": {
			states: [][]string{{conf, "a Secret $(IDENTITY)-a"}, {"a Secret $(IDENTITY)-a"}, {"b Secret $(IDENTITY)-b"}},
			want:   []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-conf Delete:20 at 01:00:00"}},
		"one that is removed again is noted from then on, whatever it was for": {states: [][]string{{conf},
			{"conf ConfigMap $(IDENTITY)-cfg Delete:5"}, nil}, want: []string{"conf /v1, Kind=ConfigMap $(IDENTITY)-cfg Delete:5 at 02:00:00"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set, now := &v1.StatefulSet{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for _, state := range test.states {
				old := set
				set = old.DeepCopy()
				set.Spec.ObjectTemplates = nil
				for _, line := range state {
					set.Spec.ObjectTemplates = append(set.Spec.ObjectTemplates, described(t, line))
				}
				identity.RecordRemovedTemplates(set, old, metav1.NewTime(now))
				now = now.Add(time.Hour)
			}
			if got := removedText(&set.Status); strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNoMoreRemovedTemplatesAreNotedThanThereMayBe(t *testing.T) {
	set := &v1.StatefulSet{}
	for n := range identity.MostRemovedTemplates + 4 {
		old := set.DeepCopy()
		set.Spec.ObjectTemplates = []v1.ObjectTemplate{described(t, fmt.Sprintf("t%d ConfigMap $(IDENTITY)-t%[1]d Delete", n))}
		identity.RecordRemovedTemplates(set, old, metav1.Now())
	}
	got := removedText(&set.Status)
	if len(got) != identity.MostRemovedTemplates || !strings.HasPrefix(got[0], "t0 ") {
		t.Errorf("got %q, want the first %d", got, identity.MostRemovedTemplates)
	}
}

func TestKindsOfRemovedTemplatesAreKnown(t *testing.T) {
	old := &v1.StatefulSet{Spec: v1.StatefulSetSpec{
		ObjectTemplates: []v1.ObjectTemplate{described(t, "init Job $(SET)-init Delete"), described(t, "conf ConfigMap $(IDENTITY)-conf")}}}
	set := old.DeepCopy()
	set.Spec.ObjectTemplates = set.Spec.ObjectTemplates[1:]
	identity.RecordRemovedTemplates(set, old, metav1.Now())
	got, want := fmt.Sprint(identity.ObjectKinds(set)), "[/v1, Kind=ConfigMap batch/v1, Kind=Job]"
	if got != want {
		t.Errorf("got the kinds %s, want %s", got, want)
	}
}
