// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

const isProtected = `set default/web is protected ("prod"): remove annotation apps.statefulset.dev/protect first`

func protect(why string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.Annotations = map[string]string{v1.ProtectAnnotation: why}
	}
}

func write(s Storage, change func(*v1.StatefulSet), dryRun ...string) error {
	obj, err := s.StatefulSet.Get(s.requestFor(""), "web", &metav1.GetOptions{})
	if err != nil {
		return err
	}
	set := obj.(*v1.StatefulSet).DeepCopy()
	change(set)
	_, _, err = s.StatefulSet.Update(s.requestFor(""), "web", rest.DefaultUpdatedObjectInfo(set),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: dryRun})
	return err
}

func remove(s Storage, options metav1.DeleteOptions) error {
	_, _, err := s.StatefulSet.Delete(s.requestFor(""), "web", rest.ValidateAllObjectFunc, &options)
	return err
}

func removeAll(s Storage, options metav1.DeleteOptions) error {
	_, err := s.StatefulSet.DeleteCollection(s.requestFor(""), rest.ValidateAllObjectFunc, &options, &metainternalversion.ListOptions{})
	return err
}

func propagating(policy metav1.DeletionPropagation) metav1.DeleteOptions {
	return metav1.DeleteOptions{PropagationPolicy: &policy}
}

// scaleTo is a write of the set itself.
func scaleTo(replicas int32) func(*v1.StatefulSet) {
	return settest.Spec(func(s *v1.StatefulSetSpec) { s.Replicas = &replicas })
}

func expectForbidden(t *testing.T, err error, message string) {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != http.StatusForbidden || status.Status().Reason != metav1.StatusReasonForbidden ||
		err.Error() != message {
		t.Errorf("got %v (%T), want 403 Forbidden with the message %q", err, err, message)
	}
}

func TestAProtectedSetKeepsItsMembers(t *testing.T) {
	dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	for sentence, test := range map[string]struct {
		do   func(Storage) error
		want string
	}{
		"when it is deleted": {func(s Storage) error { return remove(s, metav1.DeleteOptions{}) }, isProtected},
		"when it is deleted and its pods are to stay": {
			func(s Storage) error { return remove(s, propagating(metav1.DeletePropagationOrphan)) }, isProtected},
		"when it is deleted after its pods": {
			func(s Storage) error { return remove(s, propagating(metav1.DeletePropagationForeground)) }, isProtected},
		"when it is deleted in a dry run": {func(s Storage) error { return remove(s, dryRun) }, isProtected},
		"when all sets are deleted": {
			func(s Storage) error { return removeAll(s, metav1.DeleteOptions{}) }, "nothing was deleted: " + isProtected},
		"when all sets are deleted in a dry run": {func(s Storage) error { return removeAll(s, dryRun) }, "nothing was deleted: " + isProtected},
		"when it is scaled to none":              {func(s Storage) error { return write(s, scaleTo(0)) }, isProtected},
		"when it is scaled to none in a dry run": {func(s Storage) error { return write(s, scaleTo(0), metav1.DryRunAll) }, isProtected},
		"when the write that scales it to none ends the protection": {func(s Storage) error {
			return write(s, func(set *v1.StatefulSet) { scaleTo(0)(set); set.Annotations = nil })
		}, isProtected},
		"when its scale is set to none": {func(s Storage) error {
			_, err := rescale(s, "web", func(scale *autoscalingv1.Scale) { scale.Spec.Replicas = 0 })
			return err
		}, isProtected},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			before := create(t, s, settest.Changed(protect("prod")))
			expectForbidden(t, test.do(s), test.want)
			if after := storedSet(t, s); after.ResourceVersion != before.ResourceVersion {
				t.Errorf("the set is now %+v, want it as it was", after)
			}
		})
	}
}

func TestAPlanOfWhatProtectionForbidsIsRefused(t *testing.T) {
	s := newTestStorage(t)
	create(t, s, settest.Changed(protect("prod")))
	plans := NewPlanREST(s.StatefulSet, newScheme(t), nil)
	for sentence, proposal := range map[string]*v1.StatefulSet{
		"of no members": settest.Changed(scaleTo(0)),
		"of a Scale":    {Spec: v1.StatefulSetSpec{Replicas: new(int32(0))}},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := plans.Create(s.requestFor("plan"), "web", proposal, rest.ValidateAllObjectFunc, nil)
			expectForbidden(t, err, isProtected)
		})
	}
}

func TestWhatProtectionDoesNotPrevent(t *testing.T) {
	for sentence, test := range map[string]struct {
		stored func(*v1.StatefulSet)
		do     func(Storage) error
	}{
		"a change of the template": {protect("prod"), func(s Storage) error {
			return write(s, settest.Spec(func(s *v1.StatefulSetSpec) { s.Template.Spec.Containers[0].Image = "nginx:2" }))
		}},
		"fewer members": {protect("prod"), func(s Storage) error { return write(s, scaleTo(1)) }},
		"the end of the protection": {
			protect("prod"), func(s Storage) error { return write(s, func(set *v1.StatefulSet) { set.Annotations = nil }) }},
		"its beginning with no members": {func(*v1.StatefulSet) {}, func(s Storage) error {
			return write(s, func(set *v1.StatefulSet) { scaleTo(0)(set); protect("prod")(set) })
		}},
		"a change of a set without members": {func(set *v1.StatefulSet) { scaleTo(0)(set); protect("prod")(set) }, func(s Storage) error {
			return write(s, func(set *v1.StatefulSet) { set.Labels = map[string]string{"c": "d"} })
		}},
		"the end of a set that is no longer protected": {protect("prod"), func(s Storage) error {
			if err := write(s, func(set *v1.StatefulSet) { set.Annotations = nil }); err != nil {
				return err
			}
			return remove(s, metav1.DeleteOptions{})
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			create(t, s, settest.Changed(test.stored))
			if err := test.do(s); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
	}
}

// A set that a client protects while it ends cannot be brought back, so it goes on to its end.
func TestADeletionThatHasBegunGoesOn(t *testing.T) {
	s := newTestStorage(t)
	create(t, s, settest.Changed(func(set *v1.StatefulSet) { set.Finalizers = []string{"example.com/wait"} }))
	if err := remove(s, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	for _, step := range []struct {
		sentence string
		do       func(Storage) error
	}{
		{"it is protected", func(s Storage) error { return write(s, protect("too late")) }},
		{"it is scaled to none", func(s Storage) error { return write(s, scaleTo(0)) }},
		{"it is deleted again", func(s Storage) error { return remove(s, metav1.DeleteOptions{}) }},
		{"all are deleted", func(s Storage) error { return removeAll(s, metav1.DeleteOptions{}) }},
		{"its finalizer is removed", func(s Storage) error {
			return write(s, func(set *v1.StatefulSet) { set.Finalizers = nil })
		}},
	} {
		if err := step.do(s); err != nil {
			t.Errorf("when %s: got %v, want no error", step.sentence, err)
		}
	}
	if _, err := s.StatefulSet.Get(s.requestFor(""), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("getting the set at the end: %v, want not found", err)
	}
}

func TestOfACollectionWithAProtectedSetNothingIsDeleted(t *testing.T) {
	s := newTestStorage(t)
	for i := range 9 {
		create(t, s, settest.Changed(func(set *v1.StatefulSet) {
			set.Name = fmt.Sprintf("s%d", i)
			if set.Labels["kind"] = "free"; i > 1 {
				protect("")(set)
				set.Labels["kind"] = "bound"
			}
		}))
	}
	var texts []string
	for i := 2; i < 7; i++ {
		texts = append(texts, fmt.Sprintf("set default/s%d is protected: remove annotation apps.statefulset.dev/protect first", i))
	}
	expectForbidden(t, removeAll(s, metav1.DeleteOptions{}), "nothing was deleted: "+strings.Join(append(texts, "2 more are protected"), "; "))
	if got := stored(t, s); len(got) != 9 {
		t.Errorf("after the refusal there are %q, want all 9", got)
	}
	free := &metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"kind": "free"})}
	if _, err := s.StatefulSet.DeleteCollection(s.requestFor(""), rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}, free); err != nil {
		t.Errorf("deleting those that are not protected: %v", err)
	}
	if got, want := stored(t, s), []string{"s2", "s3", "s4", "s5", "s6", "s7", "s8"}; !slices.Equal(got, want) {
		t.Errorf("then there are %q, want %q", got, want)
	}
}

func stored(t *testing.T, s Storage) (all []string) {
	t.Helper()
	list, err := s.StatefulSet.List(s.requestFor(""), &metainternalversion.ListOptions{})
	if err != nil {
		t.Fatalf("listing the sets: %v", err)
	}
	for _, set := range list.(*v1.StatefulSetList).Items {
		all = append(all, set.Name)
	}
	return all
}

func TestAReasonIsCutShort(t *testing.T) {
	set := settest.Changed(protect(strings.Repeat("ä", 101)))
	if got, want := v1.ExplainProtection(set),
		`set default/web is protected ("`+strings.Repeat("ä", 100)+`..."): remove annotation apps.statefulset.dev/protect first`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWarningsAboutProtection(t *testing.T) {
	const want = `metadata.annotations[apps.statefulset.dev/protect]: "False" protects the set, as every value does; remove the annotation to end that`
	off := func() *v1.StatefulSet { return settest.Changed(protect("False")) }
	for sentence, test := range map[string]struct {
		set, old *v1.StatefulSet
		want     []string
	}{
		"a new set whose value seems to end it": {off(), nil, []string{want}},
		"a change to such a value":              {off(), settest.Changed(protect("prod")), []string{want}},
		"such a value that stays":               {off(), off(), nil},
		"a reason":                              {settest.Changed(protect("prod")), nil, nil},
		"no reason":                             {settest.Changed(protect("")), nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := warnings(t.Context(), test.set, test.old, nil); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
