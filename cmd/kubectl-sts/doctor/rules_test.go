// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func storedSet(name string, change func(*v1.StatefulSet)) v1.StatefulSet {
	labels := map[string]string{"app": name}
	set := v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: v1.StatefulSetSpec{
		Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}},
		},
	}}
	change(&set)
	return set
}

func transformed(expression string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"BIG": strings.Repeat("x", 4<<10)},
			Transforms: []v1.Transform{{Path: "/metadata/annotations/x", Expression: expression}}}
	}
}

func describing(manifest, output string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.Spec.Identity = &v1.MemberIdentity{}
		set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "a", Object: k8sruntime.RawExtension{Raw: []byte(manifest)}}}
		if output != "" {
			set.Spec.ObjectTemplates[0].Outputs = []v1.ObjectOutput{{Name: "X", Expression: output}}
		}
	}
}

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"}}`

func TestStoredSetsAreCheckedAgainstTheRulesOfThePlugin(t *testing.T) {
	tests := map[string]struct {
		change func(*v1.StatefulSet)
		// says is in the finding, and fix in its commands. Without says there is no finding.
		says, fix string
	}{
		"a plain set breaks no rule":                   {change: func(*v1.StatefulSet) {}},
		"an expression that is valid breaks no rule":   {change: transformed(`BIG.lowerAscii()`)},
		"an object template that is valid breaks none": {change: describing(configMap, "object.metadata.name")},
		"a set that is being deleted is not checked": {change: func(set *v1.StatefulSet) {
			transformed("NONE")(set)
			set.DeletionTimestamp = new(metav1.Now())
		}},
		"a set that cannot be read is not checked": {change: func(set *v1.StatefulSet) {
			transformed("NONE")(set)
			set.Annotations, set.Spec.Selector = map[string]string{v1.DamagedAnnotation: ""}, nil
		}},
		"a key of the group on the set itself is valid": {change: func(set *v1.StatefulSet) {
			set.Annotations = map[string]string{v1.HoldAnnotation: "why"}
		}},
		"a transform that cannot be compiled is named by its field": {
			change: transformed("NONE"), says: "spec.identity.transforms[0].expression: 1:1: undeclared reference to 'NONE'",
			fix: "kubectl -n shop edit statefulset.apps.statefulset.dev/db",
		},
		"a transform that may cost too much is named by its field": {
			change: transformed(`lists.range(1000).map(x, lists.range(1000).map(y, BIG)).size() > 0 ? "a" : "b"`),
			says:   "spec.identity.transforms[0].expression: may cost",
			fix:    "change the field before the upgrade",
		},
		"an output that cannot be compiled is named by its field": {
			change: describing(configMap, "other.metadata.name"),
			says:   "spec.objectTemplates[0].outputs[0].expression: 1:1: undeclared reference to 'other'",
			fix:    "kubectl -n shop edit statefulset.apps.statefulset.dev/db",
		},
		"a manifest that is not an object is named by its field": {
			change: describing(`[]`, ""), says: "spec.objectTemplates[0].object: must be a Kubernetes object",
			fix: "kubectl -n shop edit statefulset.apps.statefulset.dev/db",
		},
		"a manifest with a key in another case is named": {
			change: describing(strings.TrimSuffix(configMap, "}")+`,"Kind":"Secret"}`, ""),
			says:   "spec.objectTemplates[0].object", fix: "write each key once",
		},
		"a key of the group in the pod template is named": {
			change: func(set *v1.StatefulSet) {
				set.Spec.Template.Annotations = map[string]string{v1.OverrideAnnotation: "x"}
			},
			says: "spec.template.metadata.annotations[apps.statefulset.dev/override]: keys of apps.statefulset.dev are reserved for the controller",
			fix:  "use another domain",
		},
		"a key of the group in a claim template is named": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimTemplates = make([]corev1.PersistentVolumeClaim, 2)
				set.Spec.VolumeClaimTemplates[1].Labels = map[string]string{v1.ObjectSetLabel: "x"}
			},
			says: "spec.volumeClaimTemplates[1].metadata.labels[apps.statefulset.dev/set]: ", fix: "remove the key",
		},
		"a key of the group in an override is named": {
			change: func(set *v1.StatefulSet) {
				set.Spec.Overrides = []v1.MemberOverride{{Ordinals: []v1.OrdinalRange{{First: 0}}}}
				set.Spec.Overrides[0].Annotations = map[string]string{v1.ReplicasAnnotation: "9"}
			},
			says: "spec.overrides[0].annotations[apps.statefulset.dev/replicas]: ", fix: "remove the key",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := checkRules(t.Context(), "sets", []v1.StatefulSet{storedSet("db", test.change)})
			if test.says == "" {
				if len(found) > 0 {
					t.Errorf("got %+v, want no finding", found)
				}
				return
			}
			if len(found) != 1 || found[0].verdict != doubt || found[0].about != "set shop/db" || !strings.HasPrefix(found[0].message, test.says) {
				t.Fatalf("got %+v, want one warning about set shop/db that begins with %q", found, test.says)
			}
			if !strings.Contains(strings.Join(found[0].fix, "\n"), test.fix) {
				t.Errorf("got the commands %q, want one with %q", found[0].fix, test.fix)
			}
		})
	}
}

// Evaluated, the first of these expressions allocates 7 GiB, and the second 3.5 GiB.
func TestNoExpressionOfAStoredSetIsEvaluated(t *testing.T) {
	const most = 64 << 20
	long := strings.Replace(configMap, "}}", `},"data":{"a":"`+strings.Repeat("x", 60<<10)+`"}}`, 1)
	for name, change := range map[string]func(*v1.StatefulSet){
		"nested calls in a transform": transformed(`[BIG].map(x, x.replace("", "aaaaaaaaaaaaaaaaaaaa")).map(z, z.replace("", z))[0]`),
		"a square in an output":       describing(long, `object.data.a.replace("", object.data.a)`),
		"patterns that are values": func(set *v1.StatefulSet) {
			transformed(`string([1,1,1,1].map(i, [BIG].map(p, "".matches(p))).size())`)(set)
			set.Spec.Identity.Values["BIG"] = strings.Repeat("a{1000}", 580)
		},
	} {
		sets := []v1.StatefulSet{storedSet("db", change)}
		checkRules(t.Context(), "sets", sets) // what is made once is made now
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		checkRules(t.Context(), "sets", sets)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: got %d MiB allocated, want at most %d", name, got>>20, most>>20)
		}
	}
}

func TestTheListOfBrokenRulesIsLimited(t *testing.T) {
	sets := make([]v1.StatefulSet, 0, 2*mostViolations)
	for i := range cap(sets) {
		sets = append(sets, storedSet(fmt.Sprintf("db-%d", i), transformed("NONE")))
	}
	found := checkRules(t.Context(), "sets", sets)
	if len(found) != mostViolations+1 {
		t.Fatalf("findings about %d sets: got %d, want %d and one that counts the others", len(sets), len(found), mostViolations)
	}
	if last := found[mostViolations].message; !strings.HasPrefix(last, fmt.Sprintf("%d of them violate further rules", mostViolations)) {
		t.Errorf("the last finding: got %q, want that %d sets violate further rules", last, mostViolations)
	}
	one := storedSet("db", func(set *v1.StatefulSet) {
		set.Spec.Template.Annotations = map[string]string{}
		for i := range 100 {
			set.Spec.Template.Annotations[fmt.Sprintf("%s/k%d", v1.GroupName, i)] = ""
		}
	})
	if found := checkRules(t.Context(), "sets", []v1.StatefulSet{one}); len(found) != mostOfSet+1 {
		t.Errorf("findings about one set with 100 reserved keys: got %d, want %d and one that counts the others", len(found), mostOfSet)
	}
}

func TestALongDetailIsCut(t *testing.T) {
	found := checkRules(t.Context(), "sets", []v1.StatefulSet{storedSet("db", transformed(strings.Repeat("é", 1500)+"("))})
	if len(found) != 1 || len(found[0].message) > 2*mostOfDetail {
		t.Errorf("got %+v, want one finding of at most %d bytes", found, 2*mostOfDetail)
	}
}

func TestMoreKindsThanAreWatchedAreAWarning(t *testing.T) {
	of := func(kinds int) (sets []v1.StatefulSet) {
		for i := range kinds {
			thing := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing%03d","metadata":{"name":"$(IDENTITY)"}}`, i)
			sets = append(sets, storedSet(fmt.Sprintf("db-%d", i), describing(thing, "")))
		}
		return append(sets, sets...)
	}
	if found := checkRules(t.Context(), "sets", of(identity.MostObjectKinds)); len(found) > 0 {
		t.Errorf("%d kinds: got %+v, want no finding", identity.MostObjectKinds, found)
	}
	found := checkRules(t.Context(), "sets", of(identity.MostObjectKinds+1))
	const rarest = "Thing000.example.com and Thing001.example.com"
	if len(found) != 1 || found[0].verdict != doubt || !strings.Contains(found[0].message, "objects of 101 kinds") ||
		!strings.Contains(found[0].fix[0], rarest) {
		t.Errorf("%d kinds: got %+v, want one warning with their number and two of the kinds", identity.MostObjectKinds+1, found)
	}
}

func TestARunThatIsOutOfTimeSaysWhatWasNotChecked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	found := checkRules(ctx, "sets", []v1.StatefulSet{storedSet("db", transformed("NONE")), storedSet("web", transformed("NONE"))})
	if len(found) != 1 || found[0].verdict != unknown || !strings.Contains(found[0].message, "checked only 0 of 2 sets") {
		t.Errorf("got %+v, want that 0 of 2 sets were checked", found)
	}
}
