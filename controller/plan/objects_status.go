// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// objectTemplates tell, by template, how far the objects are there. Of a kind that is not known
// yet they are what they were: a controller that starts knows of none. The name of the objects is told
// when no date of before is on any, because from then on dates count.
func objectTemplates(f *facts) []v1.ObjectTemplateStatus {
	if f.badObjects != nil {
		return f.Set.Status.ObjectTemplates
	}
	var all []v1.ObjectTemplateStatus
	for _, template := range f.objects {
		status := f.statusOf(template)
		if !f.listed(template) && !f.startsAfresh(template) {
			status.ObjectName = ""
		}
		all = append(all, status)
	}
	return append(all, f.removedTemplates()...)
}

func (f *facts) statusOf(template identity.Object) v1.ObjectTemplateStatus {
	kind := template.Kind().GroupKind()
	status := v1.ObjectTemplateStatus{Name: template.Template().Name, Kind: kind.String(), ObjectName: template.Pattern(), Wanted: 1}
	if !template.ForSet() {
		status.Wanted = int32(f.roster.Len()) //nolint:gosec // validation bounds it
	}
	if known := f.Kinds[kind]; !known.Known {
		f.keepCounts(&status, known.Refused)
		return status
	}
	for s, needed := range f.objectsOf(template) {
		f.countObject(&status, s, needed)
	}
	f.countRetired(&status)
	status.Message = cmp.Or(status.Message, f.spared[status.Name])
	return status
}

// openUnknown says that objects are lacking of a kind that is not known yet, as far as the status says,
// which holds until it is known better: a controller that starts would say otherwise that nothing is
// open. It is empty of a kind that is refused, which is said elsewhere.
func (f *facts) openUnknown(template identity.Object) string {
	if kind := f.Kinds[template.Kind().GroupKind()]; kind.Known || kind.Refused != "" {
		return ""
	}
	due := 0
	for _, needed := range f.objectsOf(template) {
		due += one(needed)
	}
	told := f.statusOf(template)
	if int(told.Updated+told.Foreign) >= due {
		return ""
	}
	return cmp.Or(told.Message, "objects of template "+told.Name+" are not known yet")
}

// keepCounts leaves the counts of a template as they were.
func (f *facts) keepCounts(status *v1.ObjectTemplateStatus, refused string) {
	before := f.Set.Status.ObjectTemplates
	at := slices.IndexFunc(before, func(s v1.ObjectTemplateStatus) bool {
		return !identity.IsRemoved(s) && s.Name == status.Name && s.Kind == status.Kind && s.ObjectName == status.ObjectName
	})
	if at >= 0 {
		status.Present, status.Updated = min(before[at].Present, status.Wanted), min(before[at].Updated, status.Wanted)
		status.Foreign, status.Message = min(before[at].Foreign, status.Wanted), before[at].Message
		status.Retired, status.DueTime = before[at].Retired, before[at].DueTime
	}
	if refused != "" {
		status.Message = status.Kind + " cannot be watched: " + foreignText(refused)
	}
}

func (f *facts) countObject(status *v1.ObjectTemplateStatus, s supporting, needed bool) {
	message := ""
	switch s.is {
	case objectPresent:
		status.Present++
		status.Updated++
	case objectOutdated:
		status.Present++
		message = s.key.String() + " is to be changed: " + s.why
	case objectReturning:
		status.Present++
		message = s.key.String() + " was to be deleted, and is kept"
	case objectForeign:
		status.Foreign++
	case objectMissing, objectUnowned:
		message = s.key.String() + " does not exist"
	case objectGoing:
		message = s.key.String() + " is terminating"
	case objectUnknown:
	case objectShared, objectExists, objectDoubled, objectLost:
		_, message = s.taken()
	}
	if needed && status.Message == "" {
		status.Message = message
	}
}
