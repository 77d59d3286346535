// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// retainObjects gives all templates of objects the retention of the host: "none", "Retain", "Delete", or
// "Delete:20" with a delay in seconds, for those of removed members, and with "/Delete" behind it those that
// are deleted with the set. Where the server refuses to delete them, a Secret that is drawn for data in
// claims, they are kept.
func (h *host) retainObjects() {
	h.t.Helper()
	for i := range h.set.Spec.ObjectTemplates {
		template := &h.set.Spec.ObjectTemplates[i]
		template.Retention = nil
		scaled, deleted, _ := strings.Cut(h.keeping, "/")
		mustStay := len(template.Generate) > 0 && len(h.set.Spec.VolumeClaimTemplates) > 0
		if h.keeping == "" || h.keeping == "none" || mustStay {
			continue
		}
		template.Retention = &v1.ObjectRetention{WhenDeleted: v1.ObjectRetentionPolicyType(deleted)}
		policy, seconds, delayed := strings.Cut(scaled, ":")
		template.Retention.WhenScaled = v1.ObjectRetentionPolicyType(policy)
		if delayed {
			template.Retention.ScaledAfterSeconds = new(int32(h.number(seconds)))
		}
	}
}

func objectsTexts(all []v1.ObjectTemplateStatus) (lines []string) {
	for _, o := range all {
		lines = append(lines, "objects "+objectsText(o))
	}
	return lines
}

// undeletedTexts say which claims are due, and could not be deleted.
func undeletedTexts(all []v1.Reclaim) (lines []string) {
	for _, r := range all {
		if r.Message != "" {
			lines = append(lines, r.Message)
		}
	}
	return lines
}

// objectsText says how a template of objects stands.
func objectsText(o v1.ObjectTemplateStatus) string {
	more := strings.TrimPrefix(o.Message+retiredText(o), " ")
	if identity.IsRemoved(o) {
		return fmt.Sprintf("of %s, which was removed: %d left %s", o.Name, o.Present, more)
	}
	return fmt.Sprintf("%s: %d wanted, %d present, %d updated, %d foreign %s", o.Name, o.Wanted, o.Present, o.Updated, o.Foreign, more)
}

// retiredText says how many objects of a template are retired.
func retiredText(o v1.ObjectTemplateStatus) string {
	switch {
	case o.Retired == 0:
		return ""
	case o.DueTime == nil:
		return fmt.Sprintf(" (%d retired)", o.Retired)
	default:
		return fmt.Sprintf(" (%d retired, the first due at %s)", o.Retired, o.DueTime.UTC().Format(time.RFC3339))
	}
}

// retentionCommand carries out the commands about objects that are dated: "inherit" has an object be that
// of an earlier set of the name, "own" that of this one, "date" puts a date on it, and "take" makes
// somebody else its controller; "forget" has the status tell of no objects.
func (h *host) retentionCommand(name string, args []string) bool {
	do := map[string]func(*Object){
		"inherit": func(o *Object) {
			o.Annotations = action.Merged(o.Annotations, map[string]string{ownerNote: "web/earlier"})
		},
		"own": func(o *Object) {
			o.Annotations = action.Merged(o.Annotations, map[string]string{ownerNote: "web/" + string(h.set.UID)})
		},
		"date": func(o *Object) {
			o.Annotations = action.Merged(o.Annotations, map[string]string{retiredNote: h.now.Add(-time.Hour).Format(time.RFC3339)})
		},
		"take": func(o *Object) { o.OwnerReferences = []metav1.OwnerReference{stranger()} },
	}
	switch {
	case name == "forget":
		h.set.Status.ObjectTemplates = nil
		return true
	case do[name] == nil:
		return false
	}
	for _, object := range args {
		h.changeObject(object, do[name])
	}
	return true
}
