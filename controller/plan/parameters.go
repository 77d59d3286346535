// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// renderedParts is how much of a template counts as one part of what a member has for itself, in
// bytes of its message.
const renderedParts = 50

// cannotRender says that nothing can be made for a member from the templates.
func (d *draft) cannotRender(m member, wrong *render.Error) {
	d.blocked(v1.ReasonRenderFailed, "%s", words.ForeignText(wrong.For(m.ordinal)))
}

// identityParts is how much a member has for itself because its template is rendered: members
// share nothing of it.
func (f *facts) identityParts() int {
	if f.world.Set.Spec.Identity == nil {
		return 0
	}
	return f.world.Set.Spec.Template.Size() / renderedParts
}

// keepReplicas tells pods that name REPLICAS how many members the set is to have by now. They read
// it from an annotation, so that nobody is restarted. It comes last, and holds up nothing.
func keepReplicas(f *facts, d *draft) verdict {
	if f.world.Set.DeletionTimestamp != nil {
		return proceed
	}
	wanted := strconv.Itoa(f.roster.Len())
	for _, m := range f.members {
		if m.pod == nil || isTerminating(m.pod) || isFinished(m.pod) || d.changesPod(m) {
			continue
		}
		told, names := m.pod.Annotations[v1.ReplicasAnnotation]
		if !names || told == wanted || !d.isRendered(f, revisionOf(m.pod)) {
			continue // or the annotation is its user's
		}
		if len(d.aside) == mostMissing {
			break // the next look goes on
		}
		d.aside = append(d.aside,
			action.Chain{action.PatchPod{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Minor: true, What: "set REPLICAS to " + wanted,
				Annotations: map[string]*string{v1.ReplicasAnnotation: &wanted}}})
	}
	return proceed
}

// isRendered reports whether pods of a revision are rendered.
func (d *draft) isRendered(f *facts, revision string) bool {
	if revision == f.update.name {
		return f.world.Set.Spec.Identity != nil
	}
	renders, found := d.rendered[revision]
	if found {
		return renders
	}
	if at := f.history.index(revision); at >= 0 {
		source, err := identity.Recorded(f.history[at].Data.Raw)
		renders = err == nil && source.Identity != nil
	}
	if d.rendered == nil {
		d.rendered = map[string]bool{}
	}
	d.rendered[revision] = renders
	return renders
}
