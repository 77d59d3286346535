// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/apiserver/storage"
	"statefulset.dev/identity"
)

// traces are what the members of a set leave in the host.
func traces(t *testing.T, set *v1.StatefulSet, revisionOf func(ordinal int) string, names ...string) []runtime.Object {
	t.Helper()
	var objects []runtime.Object
	for i, name := range names {
		data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": set.Spec.Template, "identity": set.Spec.Identity}})
		if err != nil {
			t.Fatalf("encoding the template: %v", err)
		}
		objects = append(objects, &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: set.Namespace, Labels: maps.Clone(set.Spec.Template.Labels),
				Annotations: maps.Clone(set.Annotations), OwnerReferences: []metav1.OwnerReference{identity.Owner(set)},
			},
			Revision: int64(i + 1),
			Data:     runtime.RawExtension{Raw: data},
		})
	}
	for ordinal := range identity.OrdinalsOf(set).All() {
		objects = append(objects, identity.Pod(set, &set.Spec.Template, revisionOf(ordinal), ordinal))
		for _, claim := range identity.Claims(set, ordinal) {
			claim.Spec.VolumeName = "pv-" + claim.Name
			claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes", v1.GeneratedAnnotation: "sst"}
			objects = append(objects, claim)
		}
	}
	return objects
}

func latest(int) string { return "web-a" }

// rebuiltFrom rebuilds the first set of which something is left.
func rebuiltFrom(t *testing.T, objects []runtime.Object) rebuiltSet {
	t.Helper()
	found, err := findLeftovers(t.Context(), fake.NewClientset(objects...))
	if err != nil {
		t.Fatalf("looking for remains: %v", err)
	}
	rebuilt, err := found[0].rebuild()
	if err != nil {
		t.Fatalf("rebuilding: %v", err)
	}
	return rebuilt
}

func TestASetIsRebuiltFromWhatIsLeft(t *testing.T) {
	scheme, unserved := scheme.New(), storage.NewUnserved()
	for name, change := range map[string]func(*v1.StatefulSet){
		"a plain set": func(*v1.StatefulSet) {},
		"a set without claims": func(set *v1.StatefulSet) {
			set.Spec.VolumeClaimTemplates, set.Spec.Template.Spec.Containers[0].VolumeMounts = nil, nil
		},
		"a set without a service": func(set *v1.StatefulSet) { set.Spec.ServiceName = "" },
		"a set that begins at 5":  func(set *v1.StatefulSet) { set.Spec.Ordinals = &v1.StatefulSetOrdinals{Start: 5} },
		"a set with a label more": func(set *v1.StatefulSet) {
			set.Spec.VolumeClaimTemplates[0].Labels = map[string]string{"tier": "db"}
		},
		"a set that is rendered": func(set *v1.StatefulSet) {
			set.Spec.Identity = &v1.MemberIdentity{Env: []string{"ORDINAL"}, Values: map[string]string{"SIZE": "small"}}
		},
		"a set whose template has a key of the group, which the server refuses in a new set": func(set *v1.StatefulSet) {
			set.Spec.Template.Annotations = map[string]string{v1.InPlaceAnnotation: "{}"}
		},
		"a set with annotations": func(set *v1.StatefulSet) { set.Annotations = map[string]string{"note": "x"} },
		"a set with another volume": func(set *v1.StatefulSet) {
			set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "shared"},
			}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := servertest.Owning("web")
			change(set)
			scheme.Default(set)
			found, err := findLeftovers(t.Context(), fake.NewClientset(traces(t, set, latest, "web-a")...))
			if err != nil || len(found) != 1 {
				t.Fatalf("looking for remains: got %+v, %v, want those of one set", found, err)
			}
			rebuilding := rebuilding{complete: unserved.Complete}
			rebuilt, err := rebuilding.check(found[0].rebuild())
			if err != nil {
				t.Fatalf("rebuilding: %v", err)
			}
			got := rebuilt.set
			if _, held := v1.Held(got); !held {
				t.Errorf("annotations: got %v, want the set to be held", got.Annotations)
			}
			delete(got.Annotations, v1.HoldAnnotation)
			if got.UID != set.UID || got.Name != set.Name || got.Namespace != set.Namespace ||
				!equality.Semantic.DeepEqual(got.Annotations, set.Annotations) {
				t.Errorf("metadata: got %+v, want that of %+v", got.ObjectMeta, set.ObjectMeta)
			}
			if !equality.Semantic.DeepEqual(got.Spec, set.Spec) {
				t.Errorf("spec: got\n%s\nwant\n%s", asJSON(t, got.Spec), asJSON(t, set.Spec))
			}
			if got.Status.CurrentRevision != "web-a" || got.Status.UpdateRevision != "web-a" {
				t.Errorf("revisions: got %q and %q, want web-a", got.Status.CurrentRevision, got.Status.UpdateRevision)
			}
		})
	}
}

func TestARolloutThatWasUnderWayIsRebuilt(t *testing.T) {
	set := servertest.Owning("web")
	byOrdinal := func(ordinal int) string { return []string{"web-a", "web-a", "web-b"}[ordinal] }
	rebuilt := rebuiltFrom(t, traces(t, set, byOrdinal, "web-a", "web-b"))
	if s := rebuilt.set.Status; s.CurrentRevision != "web-a" || s.UpdateRevision != "web-b" {
		t.Errorf("revisions: got %q and %q, want web-a and web-b", s.CurrentRevision, s.UpdateRevision)
	}
}

// Nothing that is left shows whether an update was aborted or rolled back, so it does not go on by
// itself.
func TestAnUpdateThatIsNotCompleteIsRebuiltPaused(t *testing.T) {
	set := servertest.Owning("web")
	for name, byOrdinal := range map[string]func(int) string{
		"all members were rolled back": func(int) string { return "web-a" },
		"one member was reached":       func(ordinal int) string { return []string{"web-a", "web-a", "web-b"}[ordinal] },
	} {
		t.Run(name, func(t *testing.T) {
			rebuilt := rebuiltFrom(t, traces(t, set, byOrdinal, "web-a", "web-b"))
			if rolling := rebuilt.set.Spec.UpdateStrategy.RollingUpdate; rolling == nil || !rolling.IsPaused() {
				t.Errorf("the update is not paused: %+v", rebuilt.set.Spec.UpdateStrategy)
			}
			if said := strings.Join(rebuilt.guesses, "\n"); !strings.Contains(said, "may have been aborted or rolled back") {
				t.Errorf("the guesses do not say why the update is paused: %s", said)
			}
		})
	}
}

// The service of a set may change while its members keep the names that they have.
func TestTheServiceIsThatOfTheLatestPod(t *testing.T) {
	set := servertest.Owning("web")
	objects := traces(t, set, latest, "web-a")
	last := nth[*corev1.Pod](objects, 1)
	last.Spec.Subdomain, last.CreationTimestamp = "other", metav1.Now()
	rebuilt := rebuiltFrom(t, objects)
	if got := rebuilt.set.Spec.ServiceName; got != "other" {
		t.Errorf("serviceName: got %q, want that of the latest pod, %q", got, "other")
	}
	if want := `serviceName is "other", as in pod ` + last.Name + ","; !strings.Contains(fmt.Sprint(rebuilt.guesses), want) {
		t.Errorf("guesses: got %v, want one that begins with %q", rebuilt.guesses, want)
	}
}

// A pod in another namespace that names the owner of a member is none of the set's.
func TestRemainsAreThoseOfOneNamespaceAndKind(t *testing.T) {
	set := servertest.Owning("web")
	objects := traces(t, set, latest, "web-a")
	copied := first[*corev1.Pod](objects).DeepCopy()
	copied.Namespace = "other"
	copied.Spec.Subdomain = "forged"
	stranger := first[*corev1.Pod](objects).DeepCopy()
	stranger.Name, stranger.OwnerReferences[0].Kind = "web-stranger", "Other"
	found, err := findLeftovers(t.Context(), fake.NewClientset(append([]runtime.Object{copied, stranger}, objects...)...))
	if err != nil || len(found) != 2 {
		t.Fatalf("looking for remains: got %+v, %v, want those of two sets", found, err)
	}
	rebuilt, err := found[0].rebuild()
	if err != nil || rebuilt.set.Namespace != set.Namespace || *rebuilt.set.Spec.Replicas != *set.Spec.Replicas {
		t.Errorf("the set: got %+v, %v, want it rebuilt in its namespace", rebuilt.set, err)
	}
	if _, err := found[1].rebuild(); err == nil || found[1].namespace != "other" {
		t.Errorf("the copy: got %+v, %v, want it not rebuilt", found[1], err)
	}
}

func TestASetIsNotRebuiltWhenItIsNotCertain(t *testing.T) {
	tests := map[string]struct {
		spoil func(objects []runtime.Object) []runtime.Object
		want  string
	}{
		"without pods":                   {without[*corev1.Pod], "it has no pods"},
		"without revisions":              {without[*appsv1.ControllerRevision], "it has no revisions"},
		"without the claims of its pods": {without[*corev1.PersistentVolumeClaim], "its template is not known"},
		"with a pod of a revision that is gone": {func(objects []runtime.Object) []runtime.Object {
			first[*corev1.Pod](objects).Labels[identity.RevisionLabel] = "web-z"
			return objects
		}, `was created from revision "web-z", which no longer exists`},
		"with a pod that has the name of no member": {func(objects []runtime.Object) []runtime.Object {
			first[*corev1.Pod](objects).Name = "stranger"
			return objects
		}, "does not have the name of a member"},
		"with pods of three revisions": {func(objects []runtime.Object) []runtime.Object {
			for i, revision := range []string{"web-b", "web-c"} {
				nth[*corev1.Pod](objects, i).Labels[identity.RevisionLabel] = revision
				copied := first[*appsv1.ControllerRevision](objects).DeepCopy()
				copied.Name = revision
				copied.Revision = -1
				objects = append(objects, copied)
			}
			return objects
		}, "more than two revisions"},
		"with a revision that cannot be read": {func(objects []runtime.Object) []runtime.Object {
			first[*appsv1.ControllerRevision](objects).Data.Raw = []byte(`{"spec":{}}`)
			return objects
		}, "records no template"},
		"with a template that is not valid": {func(objects []runtime.Object) []runtime.Object {
			r := first[*appsv1.ControllerRevision](objects)
			r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), `"containers"`, `"restartPolicy":"Never","containers"`, 1))
			return objects
		}, "do not form a valid set"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects := test.spoil(traces(t, servertest.Owning("web"), latest, "web-a"))
			found, err := findLeftovers(t.Context(), fake.NewClientset(objects...))
			if err != nil || len(found) != 1 {
				t.Fatalf("looking for remains: got %+v, %v, want those of one set", found, err)
			}
			rebuilding := rebuilding{complete: storage.NewUnserved().Complete}
			if _, err := rebuilding.check(found[0].rebuild()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func nth[T runtime.Object](objects []runtime.Object, n int) T {
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			if n == 0 {
				return typed
			}
			n--
		}
	}
	panic(fmt.Sprintf("there is no such object among %d", len(objects)))
}

func first[T runtime.Object](objects []runtime.Object) T { return nth[T](objects, 0) }

func without[T runtime.Object](objects []runtime.Object) []runtime.Object {
	var left []runtime.Object
	for _, object := range objects {
		if _, ok := object.(T); !ok {
			left = append(left, object)
		}
	}
	return left
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	content, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	return string(content)
}
