// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// noted is a set after a write that changes the old one: the status tells which templates were removed.
func noted(set, old *v1.StatefulSet) *v1.StatefulSet {
	return but(set, func(s *v1.StatefulSet) {
		s.Status = *old.Status.DeepCopy()
		identity.RecordRemovedTemplates(s, old, metav1.Now())
	})
}

// TestWhatIsDeletedForARemovedTemplateIsAskedFor has Eve, who may do everything with maps, and Sue, who may do
// everything with secrets, too. The controller may do everything with maps, and everything but delete with
// services.
func TestWhatIsDeletedForARemovedTemplateIsAskedFor(t *testing.T) {
	remove, retain := v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType},
		v1.ObjectRetention{WhenScaled: v1.RetainObjectRetentionPolicyType}
	withSet := v1.ObjectRetention{WhenDeleted: v1.DeleteObjectRetentionPolicyType}
	maps, secrets, services, things := manifest("v1", "ConfigMap"), manifest("v1", "Secret"), manifest("v1", "Service"),
		manifest("example.com/v1", "Thing")
	otherName := strings.Replace(secrets, "-x", "-y", 1)
	const (
		gone     = `spec.objectTemplates: Forbidden: template "t0" of Secret $(IDENTITY)-x is removed, and its objects would be deleted: `
		replaced = `spec.objectTemplates[0].retention: Forbidden: template "t0" of Secret $(IDENTITY)-x is replaced, and its objects would be deleted: `
		mayNot   = `user "eve" may not delete "secrets" in namespace "shop"`
		leaveOut = "; to keep them, leave out whenScaled: Delete"
		keep     = "; to keep them, keep the template, or replace it with one of the same name without whenScaled: Delete"
	)
	for sentence, test := range map[string]struct {
		user     string
		set, old *v1.StatefulSet
		silent   string
		err      string
		code     int32
	}{
		"a template swapped to another kind with deletion is refused without the right to delete the old kind": {user: "eve",
			old: describing(secrets), set: deleting(maps, remove), err: replaced + mayNot + leaveOut, code: 403},
		"a template swapped to another kind is accepted with the right to delete both": {
			user: "sue", old: describing(secrets), set: deleting(maps, remove)},
		"a template swapped to another kind without deletion is accepted": {
			user: "eve", old: describing(secrets), set: describing(maps)},
		"a template swapped to another kind is accepted if it takes deletion back": {
			user: "eve", old: deleting(secrets, remove), set: deleting(maps, retain)},
		"a template swapped to another kind is accepted if it has deletion only with the set": {
			user: "sue", old: describing(secrets), set: deleting(maps, withSet)},
		"a template swapped to other names with deletion is refused without the right": {
			user: "eve", old: describing(secrets), set: deleting(otherName, remove), err: replaced + mayNot + leaveOut, code: 403},
		"a template without deletion is removed by anybody": {
			user: "eve", old: describing(secrets), set: describing()},
		"a template with deletion is removed by who may delete the kind": {
			user: "sue", old: deleting(secrets, remove), set: describing()},
		"a template with deletion is not removed by who may not delete the kind": {
			user: "eve", old: deleting(secrets, remove), set: describing(), err: gone + mayNot + keep, code: 403},
		"a template with deletion that gets another name needs the right for the old one": {
			user: "eve", old: deleting(secrets, remove), set: renamed(deleting(secrets, remove)), err: gone + mayNot + keep, code: 403},
		"a template with deletion is not removed if the controller may not delete the kind": {user: "sue", old: deleting(services, remove),
			set: describing(), err: `the controller may not delete "services"; apply artifacts/objects-delete/services` + keep, code: 403},
		"a template of a kind that is not served any more is removed by anybody": {
			user: "eve", old: deleting(things, remove), set: describing()},
		"a template of a kind that is not served any more does not gain deletion": {
			user: "sue", old: describing(things), set: deleting(maps, remove),
			err:  `the host cluster does not serve kind "Thing" in version example.com/v1, so it cannot decide who may delete it` + leaveOut,
			code: 403},
		"a host that is silent about users refuses for now": {
			user: "sue", silent: silentOnUsers, old: deleting(secrets, remove), set: describing(), err: "no answer", code: 503},
		"a host that is silent about kinds refuses for now": {
			user: "sue", silent: silentOnKinds, old: deleting(secrets, remove), set: describing(), err: "no answer", code: 503},
		"what was removed earlier is not asked for again": {
			user: "eve", old: noted(describing(), deleting(secrets, remove)), set: describing(maps)},
		"what was removed earlier, came back and is removed again with deletion is asked for": {user: "eve", old: noted(deleting(secrets, remove),
			noted(describing(), deleting(secrets, remove))), set: describing(), err: gone + mayNot + keep, code: 403},
		"a second template next to one that stays is asked for, wherever it is": {user: "eve", old: but(describing(maps, secrets), deletesSecond),
			set: describing(maps), err: `template "t1" of Secret $(IDENTITY)-x is removed, and its objects would be deleted: ` + mayNot, code: 403},
		"templates in another order remove nothing": {user: "eve", old: but(describing(maps, secrets), deletesSecond),
			set: but(but(describing(maps, secrets), deletesSecond), func(s *v1.StatefulSet) { slices.Reverse(s.Spec.ObjectTemplates) })},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := &fakeHost{silent: test.silent, kinds: []metav1.APIResource{
				served("v1", "ConfigMap", "configmaps"), served("v1", "Service", "services"), served("v1", "Secret", "secrets")},
				users: func(name, right string) bool {
					return strings.HasSuffix(right, " configmaps") || name == "sue"
				},
				controller: func(_, right string) bool { return right != "delete services" },
			}
			err := host.plugin(t).Validate(t.Context(), asking(test.user, noted(test.set, test.old), test.old, "", false), nil)
			expectRefusal(t, err, test.err, test.code)
		})
	}
}

func deletesSecond(set *v1.StatefulSet) {
	set.Spec.ObjectTemplates[1].Retention = &v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}
}

func renamed(set *v1.StatefulSet) *v1.StatefulSet {
	set.Spec.ObjectTemplates[0].Name = "other"
	return set
}
