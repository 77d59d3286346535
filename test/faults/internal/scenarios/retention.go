// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// retains is a ConfigMap for each member, which goes so many seconds after its member, and one that
// stays.
func retains(version, seconds int) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":"conf","retention":{"whenScaled":"Delete","scaledAfterSeconds":%d},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d","member":"$(ORDINAL)"}}},
		{"name":"kept","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-kept"},"data":{"version":"%[2]d"}}}]}}`, seconds, version))
}

// GoesWithMember reports whether the set asks for an object of its own to be deleted, some time after
// its member is removed, and does not want that member.
func GoesWithMember(set *v1.StatefulSet, object metav1.Object) (after time.Duration, goes bool) {
	ordinal, err := strconv.Atoi(object.GetLabels()[v1.ObjectOrdinalLabel])
	at := slices.IndexFunc(set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == object.GetLabels()[v1.ObjectTemplateLabel] })
	if err != nil || at < 0 || slices.Contains(Wanted(set), ordinal) || object.GetAnnotations()[v1.OwnerAnnotation] != set.Name+"/"+string(set.UID) {
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
		_, dated := object.Annotations[v1.RetiredAtAnnotation]
		switch {
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
