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

// retains is a ConfigMap for each member, which goes so many seconds after its member, and one that
// stays.
func retains(version, seconds int) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":"conf","retention":{"whenScaled":"Delete","scaledAfterSeconds":%d},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d","member":"$(ORDINAL)"}}},
		{"name":"kept","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-kept"},"data":{"version":"%[2]d"}}}]}}`,
		seconds, version))
}

// ends is a ConfigMap for each member, and one for the set, which are deleted with the set or stay.
func ends(version int, policy v1.ObjectRetentionPolicyType) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":"conf","retention":{"whenDeleted":%q},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d"}}},
		{"name":"all","scope":"Set","retention":{"whenDeleted":%[1]q},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"},"data":{"version":"%[2]d"}}}]}}`, policy, version))
}

// GoesWithSet reports whether the set asks for an object of its own to be deleted with it.
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

// IsAnchor reports whether an owner is the revision by which objects go with their set.
func IsAnchor(owner metav1.OwnerReference) bool {
	return owner.Kind == "ControllerRevision" && strings.HasPrefix(owner.Name, Name+"-objects")
}

// GoesWithMember reports whether the set asks for an object of its own to be deleted, some time after
// its member is removed, and does not want that member.
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

// objectsLeft says which object has not gone that is to, and which one that is to stay is dated.
func (o Observed) objectsLeft() string {
	for i := range o.Objects {
		object := &o.Objects[i]
		_, goes := GoesWithMember(o.Set, object)
		_, _, left := GoesWithTemplate(o.Set, object)
		_, dated := object.Annotations[v1.RetiredAtAnnotation]
		switch {
		case left:
			return fmt.Sprintf("%s has not gone with its template", object.Name)
		case goes:
			return fmt.Sprintf("%s has not gone with its member", object.Name)
		case dated && IsOf(o.Set.Name, object):
			return fmt.Sprintf("%s is to be deleted", object.Name)
		}
	}
	return ""
}

// Retired waits for the members that the set wants, and for so many objects that are to be deleted.
func Retired(n int32) Wait {
	return Wait{fmt.Sprintf("%d objects are to be deleted", n), func(o Observed) string {
		if o.Set == nil || o.Set.Status.ReadyReplicas != *o.Set.Spec.Replicas || o.Set.Status.Replicas != *o.Set.Spec.Replicas {
			return "members are missing"
		}
		for _, s := range o.Set.Status.ObjectTemplates {
			if s.Retired > 0 && s.Retired != n || s.Retired == 0 && n > 0 || s.Retired > 0 && s.DueTime == nil {
				return fmt.Sprintf("status says of objects %+v", s)
			}
		}
		return ""
	}}
}
