// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// retains describes a ConfigMap for each member that is deleted so many seconds after its member,
// and one that stays.
func retains(version, seconds int) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":"conf","retention":{"whenScaled":"Delete","scaledAfterSeconds":%d},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d","member":"$(ORDINAL)"}}},
		{"name":"kept","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-kept"},"data":{"version":"%[2]d"}}}]}}`,
		seconds, version))
}

// ends describes a ConfigMap for each member, and one for the set, which are deleted with the set
// or stay.
func ends(version int, policy v1.ObjectRetentionPolicyType) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":"conf","retention":{"whenDeleted":%q},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d"}}},
		{"name":"all","scope":"Set","retention":{"whenDeleted":%[1]q},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"},"data":{"version":"%[2]d"}}}]}}`, policy, version))
}

// GoesWithSet reports whether an object that belongs to the set must be deleted with it.
func GoesWithSet(set *v1.StatefulSet, object metav1.Object) bool {
	return object.GetAnnotations()[v1.OwnerAnnotation] == set.Name+"/"+string(set.UID) &&
		slices.ContainsFunc(set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool {
			return t.Name == object.GetLabels()[v1.ObjectTemplateLabel] && endsWithSet(&t)
		})
}

func endsWithSet(template *v1.ObjectTemplate) bool {
	return template.Retention != nil && template.Retention.WhenDeleted == v1.DeleteObjectRetentionPolicyType
}

func isAnchor(revision *appsv1.ControllerRevision) bool {
	return strings.HasPrefix(revision.Name, Name+"-objects")
}

// IsAnchor reports whether an owner is the revision through which objects are deleted with their
// set.
func IsAnchor(owner metav1.OwnerReference) bool {
	return owner.Kind == "ControllerRevision" && strings.HasPrefix(owner.Name, Name+"-objects")
}

// GoesWithMember reports whether an object that belongs to the set must be deleted some time after
// its member was removed, and the set does not want that member.
func GoesWithMember(set *v1.StatefulSet, object metav1.Object) (after time.Duration, goes bool) {
	ordinal, err := strconv.Atoi(object.GetLabels()[v1.ObjectOrdinalLabel])
	at := slices.IndexFunc(set.Spec.ObjectTemplates,
		func(t v1.ObjectTemplate) bool { return t.Name == object.GetLabels()[v1.ObjectTemplateLabel] })
	if err != nil || at < 0 || slices.Contains(Wanted(set), ordinal) ||
		object.GetAnnotations()[v1.OwnerAnnotation] != set.Name+"/"+string(set.UID) {
		return 0, false
	}
	retention := set.Spec.ObjectTemplates[at].Retention
	if retention == nil || retention.WhenScaled != v1.DeleteObjectRetentionPolicyType {
		return 0, false
	}
	if retention.ScaledAfterSeconds != nil {
		after = time.Duration(*retention.ScaledAfterSeconds) * time.Second
	}
	return after, true
}

// objectsLeft names an object that should have been deleted, or an object that should stay but has
// a date of deletion.
func (o Observed) objectsLeft() string {
	for i := range o.Objects {
		object := &o.Objects[i]
		_, goes := GoesWithMember(o.Set, object)
		_, _, left := GoesWithTemplate(o.Set, object)
		_, dated := object.Annotations[v1.RetiredAtAnnotation]
		switch {
		case left:
			return fmt.Sprintf("%s was not deleted with its template", object.Name)
		case goes:
			return fmt.Sprintf("%s was not deleted with its member", object.Name)
		case dated && IsOf(o.Set.Name, object):
			return fmt.Sprintf("%s is due for deletion, but should stay", object.Name)
		}
	}
	return ""
}

// Retired waits for the members that the set wants, and for so many objects that are due for
// deletion.
func Retired(n int32) Wait {
	return Wait{fmt.Sprintf("%d objects are due for deletion", n), func(o Observed) string {
		if o.Set == nil || o.Set.Status.ReadyReplicas != *o.Set.Spec.Replicas || o.Set.Status.Replicas != *o.Set.Spec.Replicas {
			return "members are missing or not ready"
		}
		for _, s := range o.Set.Status.ObjectTemplates {
			if s.Retired > 0 && s.Retired != n || s.Retired == 0 && n > 0 || s.Retired > 0 && s.DueTime == nil {
				return fmt.Sprintf("status of an object template is %+v", s)
			}
		}
		return ""
	}}
}
