// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// statuses report, by template, how many objects exist and are up to date. For a kind that is not
// known yet they stay unchanged, because a controller that starts knows no objects. The status
// names the objects only when none of them carries a date from before: from then on dates count.
func (o *supportingObjects) statuses() []v1.ObjectTemplateStatus {
	if o.unreadable != nil {
		return o.world.Set.Status.ObjectTemplates
	}
	var all []v1.ObjectTemplateStatus
	for _, template := range o.templates {
		status := o.statusOf(template)
		if !o.listed(template) && !o.startsAfresh(template) {
			status.ObjectName = ""
		}
		all = append(all, status)
	}
	return append(all, o.removedTemplates()...)
}

func (o *supportingObjects) statusOf(template identity.Object) v1.ObjectTemplateStatus {
	kind := template.Kind().GroupKind()
	status := v1.ObjectTemplateStatus{Name: template.Template().Name, Kind: kind.String(), ObjectName: template.Pattern(), Wanted: 1}
	if !template.ForSet() {
		status.Wanted = int32(o.roster.Len()) //nolint:gosec // validation bounds it
	}
	if known := o.world.Kinds[kind]; !known.Known {
		o.keepCounts(&status, known.Refused)
		return status
	}
	for s, needed := range o.objectsOf(template) {
		o.countObject(&status, s, needed)
	}
	o.countRetired(&status)
	status.Message = cmp.Or(status.Message, o.keptBecause[status.Name])
	return status
}

// openUnknown says that objects of a kind that is not known yet are missing or out of date,
// according to the status of before: otherwise a controller that starts would report that nothing
// is open. It is empty if the kind is refused, which is reported elsewhere.
func (o *supportingObjects) openUnknown(template identity.Object) string {
	if kind := o.world.Kinds[template.Kind().GroupKind()]; kind.Known || kind.Refused != "" {
		return ""
	}
	due := 0
	for _, needed := range o.objectsOf(template) {
		due += boolToInt(needed)
	}
	told := o.statusOf(template)
	if int(told.Updated+told.Foreign) >= due {
		return ""
	}
	return cmp.Or(told.Message, "objects of template "+told.Name+" are not known yet")
}

// keepCounts keeps the earlier counts of a template.
func (o *supportingObjects) keepCounts(status *v1.ObjectTemplateStatus, refused string) {
	before := o.world.Set.Status.ObjectTemplates
	at := slices.IndexFunc(before, func(s v1.ObjectTemplateStatus) bool {
		return !identity.IsRemoved(s) && s.Name == status.Name && s.Kind == status.Kind && s.ObjectName == status.ObjectName
	})
	if at >= 0 {
		status.Present, status.Updated = min(before[at].Present, status.Wanted), min(before[at].Updated, status.Wanted)
		status.Foreign, status.Message = min(before[at].Foreign, status.Wanted), before[at].Message
		status.Retired, status.DueTime = before[at].Retired, before[at].DueTime
	}
	if refused != "" {
		status.Message = status.Kind + " cannot be watched: " + words.SanitizeText(refused)
	}
}

func (o *supportingObjects) countObject(status *v1.ObjectTemplateStatus, s supportingObject, needed bool) {
	message := ""
	switch s.state {
	case objectPresent:
		status.Present++
		status.Updated++
	case objectOutdated:
		status.Present++
		message = s.key.String() + " is out of date: " + s.why
	case objectReturning:
		status.Present++
		message = "the retired-at annotation of " + s.key.String() + " is being removed"
	case objectUnmanaged:
		status.Foreign++
	case objectMissing, objectUnowned:
		message = s.key.String() + " does not exist"
	case objectTerminating:
		message = s.key.String() + " is terminating"
	case objectUnknown:
	case objectShared, objectExists, objectDoubled, objectLost:
		_, message = s.unusable()
	}
	if needed && status.Message == "" {
		status.Message = message
	}
}
