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

// renderedParts is how many encoded bytes of a template count as one part of what a member does not
// share.
const renderedParts = 50

// cannotRender records that the templates cannot be rendered for a member.
func (d *draft) cannotRender(m member, wrong *render.Error) {
	d.stall(v1.ReasonRenderFailed, "%s", words.SanitizeText(wrong.For(m.ordinal)))
}

// identityParts is the size, in parts, of what a member does not share because its template is
// rendered: members share nothing of it.
func (f *facts) identityParts() int {
	if f.world.Set.Spec.Identity == nil {
		return 0
	}
	return f.world.Set.Spec.Template.Size() / renderedParts
}

// keepReplicas updates REPLICAS, the number of desired members, for pods that use it. They read it
// from an annotation, so no pod restarts. The rule comes late, and blocks nothing.
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
			continue // an annotation of a pod that is not rendered belongs to its user
		}
		if len(d.finally) == mostMissing {
			break // the next sync continues
		}
		d.finally = append(d.finally,
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
