// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// isNote is a patch that only says, on an object, since when its member is removed.
func (i *intent) isNote() bool {
	return i.Resource == model.ConfigMaps && i.Verb == "patch" && i.ContentType == string(types.MergePatchType)
}

// datesObjects: an object is dated when its member is gone, with the time that it is, and nothing else
// is written with that.
func datesObjects(_ *judge, i *intent, s scene) string {
	if !i.isNote() || s.set == nil || i.target == nil || i.setsOwners() {
		return ""
	}
	note, is := i.patch.Metadata.Annotations[v1.RetiredAtAnnotation]
	if !is || len(i.patch.Metadata.Annotations) != 1 || len(i.patch.Metadata.Labels)+len(i.patch.Metadata.OwnerReferences) > 0 {
		return fmt.Sprintf("it writes %s", i.Body)
	}
	_, goes := scenarios.GoesWithMember(s.set, i.target)
	removed, _, left := scenarios.GoesWithTemplate(s.set, i.target)
	switch {
	case left:
		return datesWithTemplate(i, s, note, removed)
	case note == nil && goes && s.pods[i.member()] == nil && tellsOf(s.set, i.target):
		return "its member is not wanted"
	case note == nil:
		return ""
	case !goes:
		return "the set does not ask for it"
	case s.pods[i.member()] != nil:
		return fmt.Sprintf("there is a pod %s", i.member())
	}
	return i.isDatedNow(*note)
}

// isDatedNow says what is wrong with a date that is put on an object.
func (i *intent) isDatedNow(note string) string {
	earliest := i.by.now()
	if now := i.by.clock.Now(); now.Before(earliest) { // it was set back
		earliest = now
	}
	if since, err := time.Parse(time.RFC3339, note); err != nil || since.Before(earliest.Add(-time.Minute)) {
		return fmt.Sprintf("it is dated %s, and it is %s", note, i.by.now())
	}
	return ""
}

// datesWithTemplate: an object whose template was removed is dated when nothing needs it any more, and the
// date is taken off if something does, or if it is of before. Whoever has read of an update that the
// status does not tell of knows of something that needs it.
func datesWithTemplate(i *intent, s scene, note *string, removed time.Time) string {
	needed := scenarios.NeededStill(s.set, s.pods[i.member()])
	since, err := time.Parse(time.RFC3339, i.target.GetAnnotations()[v1.RetiredAtAnnotation])
	switch {
	case note != nil && needed != "":
		return needed
	case note != nil:
		return i.isDatedNow(*note)
	case needed == "" && s.set.Status.ObservedGeneration == s.set.Generation && err == nil && !since.Before(removed):
		return "nothing needs it"
	default:
		return ""
	}
}

// setsOwners reports whether a note is one of what an object belongs to, and of that alone.
func (i *intent) setsOwners() bool {
	_, told := i.patch.Metadata.Annotations[v1.ObjectInputsAnnotation]
	return i.isNote() && i.patch.Metadata.OwnerReferences != nil && told && len(i.patch.Metadata.Annotations)+len(i.patch.Metadata.Labels) == 1
}

// ownsObjects: what an object belongs to follows what the set says of its end, and its digest tells that,
// and is otherwise what it was.
func ownsObjects(_ *judge, i *intent, s scene) string {
	if !i.setsOwners() || s.set == nil || i.target == nil {
		return ""
	}
	goes := scenarios.GoesWithSet(s.set, i.target)
	if owned := len(i.patch.Metadata.OwnerReferences) > 0; owned != goes {
		return fmt.Sprintf("it gets the owners %v, and goes with the set: %t", i.patch.Metadata.OwnerReferences, goes)
	}
	const anchored = ".objects"
	was := i.target.GetAnnotations()[v1.ObjectInputsAnnotation]
	want := strings.TrimSuffix(was, anchored)
	if goes {
		want += anchored
	}
	if now := i.patch.Metadata.Annotations[v1.ObjectInputsAnnotation]; now == nil || *now != want {
		return fmt.Sprintf("its digest was %q, and becomes %q, want %q", was, ptr.Deref(now, "none"), want)
	}
	return ""
}

// tellsOf reports whether the status of a set tells of the objects that one was made with. Dates of
// before it does are taken off.
func tellsOf(set *v1.StatefulSet, object metav1.Object) bool {
	return slices.ContainsFunc(set.Status.ObjectTemplates, func(t v1.ObjectTemplateStatus) bool {
		return t.Name == object.GetLabels()[v1.ObjectTemplateLabel] && t.ObjectName != ""
	})
}

// member is the name of the pod that an object says that it is for.
func (i *intent) member() string {
	return scenarios.Name + "-" + i.target.GetLabels()[v1.ObjectOrdinalLabel]
}

// deletesDueObjects: the set asks for it, does not want the member, which has no pod, or has no template
// for it, and nothing needs it; and the object tells that all this has been so for long enough.
func deletesDueObjects(j *judge, i *intent, s scene) string {
	if i.Resource != model.ConfigMaps || i.Verb != "delete" || i.target == nil || s.set == nil {
		return ""
	}
	after, goes := scenarios.GoesWithMember(s.set, i.target)
	removed, afterRemoval, left := scenarios.GoesWithTemplate(s.set, i.target)
	if left {
		after = afterRemoval
	}
	since, err := time.Parse(time.RFC3339, i.target.GetAnnotations()[v1.RetiredAtAnnotation])
	switch {
	case left && scenarios.NeededStill(s.set, s.pods[i.member()]) != "":
		return scenarios.NeededStill(s.set, s.pods[i.member()])
	case left && since.Before(removed):
		return fmt.Sprintf("it is dated %s, and its template was removed at %s", since, removed)
	case left:
	case !goes:
		return "the set does not ask for it"
	case s.pods[i.member()] != nil:
		return fmt.Sprintf("there is a pod %s", i.member())
	}
	if err != nil {
		return fmt.Sprintf("its annotations are %v", i.target.GetAnnotations())
	}
	return j.staysFor(after, i.target)
}

// wentWithSet reports whether an object is gone because what it belongs to is, and some state of its set has
// asked for that.
func (j *judge) wentWithSet(object *corev1.ConfigMap) bool {
	at := slices.IndexFunc(object.OwnerReferences, scenarios.IsAnchor)
	if at < 0 {
		return false
	}
	anchor, err := j.world.host.Get(model.Revisions, namespace, object.OwnerReferences[at].Name)
	gone := err != nil || anchor.GetUID() != object.OwnerReferences[at].UID
	return gone && slices.ContainsFunc(j.sets, func(set *v1.StatefulSet) bool { return scenarios.GoesWithSet(set, object) })
}

// objectGoes judges that an object is gone, whoever told it.
func (j *judge) objectGoes(object *corev1.ConfigMap) {
	if j.given[object.Name] || j.wentWithSet(object) {
		return
	}
	if slices.ContainsFunc(j.sets, func(set *v1.StatefulSet) bool {
		_, _, left := scenarios.GoesWithTemplate(set, object)
		return left
	}) {
		return
	}
	if pod := scenarios.Name + "-" + object.Labels[v1.ObjectOrdinalLabel]; j.world.present().pods[pod] != nil {
		j.broke("no object is deleted beside a pod", "%s goes while pod %s is there", object.Name, pod)
	}
	for _, set := range j.sets {
		if _, goes := scenarios.GoesWithMember(set, object); goes {
			return
		}
	}
	j.broke("nothing deletes an object that no template gives away", "%s goes, that of %q", object.Name,
		object.Annotations[v1.OwnerAnnotation])
}
