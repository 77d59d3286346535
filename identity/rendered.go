// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// renderer renders the templates of the set with its own identity, or that of an earlier revision.
func (o *Overrides) renderer(identity *v1.MemberIdentity) *render.Renderer {
	return render.New(o.renderSource(identity))
}

func (o *Overrides) renderSource(identity *v1.MemberIdentity) render.Source {
	roster := OrdinalsOf(o.set)
	source := render.Source{
		Identity: identity, Name: o.set.Name, Namespace: o.set.Namespace, ServiceName: o.set.Spec.ServiceName,
		Replicas: roster.Len(), Desired: roster.Ranges, Selected: SelectedKeys(o.set.Spec.Selector), Outputs: outputs(o.set),
		Evaluation: o.within,
	}
	for i := range o.set.Spec.Overrides {
		if values := o.set.Spec.Overrides[i].Values; len(values) > 0 {
			source.Values = append(source.Values, values)
		}
	}
	return source
}

// SelectedKeys are the keys of the labels in a selector, sorted.
func SelectedKeys(selector *metav1.LabelSelector) (keys []string) {
	if selector == nil {
		return nil
	}
	for key := range selector.MatchLabels {
		keys = append(keys, key)
	}
	for _, requirement := range selector.MatchExpressions {
		keys = append(keys, requirement.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// member is the input of rendering for a member.
func (o *Overrides) member(ordinal int) render.Member {
	m := render.Member{Ordinal: ordinal}
	if override := o.Of(ordinal); override != nil {
		m.Values = override.Values
	}
	return m
}

// CheckTransforms returns the errors in the transforms of the set that do not depend on a member.
func (o *Overrides) CheckTransforms() []*render.Error {
	if o.renders == nil {
		return nil
	}
	return o.renders.Check()
}

// UnknownNames describes names in the pod template and the claim templates of the set that look
// like parameters but are unknown, at most that many for each kind of template. It is empty if the
// set renders nothing.
func (o *Overrides) UnknownNames(most int) []string {
	if o.renders == nil {
		return nil
	}
	var ofClaims []string
	for i := range o.set.Spec.VolumeClaimTemplates {
		ofClaims = append(ofClaims, o.renders.UnknownInClaim(i, &o.set.Spec.VolumeClaimTemplates[i], most-len(ofClaims))...)
	}
	return append(o.renders.Unknown(&o.set.Spec.Template, most), ofClaims...)
}

// FirstName is the first place in the templates of the set that names a parameter. It is empty if
// there is none, or if the set renders nothing.
func (o *Overrides) FirstName() string {
	if o.renders == nil {
		return ""
	}
	if named := o.renders.FirstName("spec.template", &o.set.Spec.Template); named != "" {
		return named
	}
	for i := range o.set.Spec.VolumeClaimTemplates {
		if named := o.renders.FirstName(fmt.Sprintf("spec.volumeClaimTemplates[%d]", i), &o.set.Spec.VolumeClaimTemplates[i]); named != "" {
			return named
		}
	}
	return ""
}

// Rendered is the template for the pod of a member: the template of its revision with its override,
// rendered if the revision has an identity. If it is not rendered, it shares with both everything
// that it does not change.
func (o *Overrides) Rendered(source Source, ordinal int) (*corev1.PodTemplateSpec, *render.Error) {
	template := o.Template(source.Template, ordinal)
	if source.Identity == nil {
		return template, nil
	}
	return o.rendererOf(source).Pod(template, o.member(ordinal))
}

func (o *Overrides) rendererOf(source Source) *render.Renderer {
	if source.Identity == o.set.Spec.Identity {
		return o.renders
	}
	return o.renderer(source.Identity)
}

// RenderedClaimTemplate is the template for the claim of a member: the claim template with that
// index and with the member's override, rendered if the set has an identity.
func (o *Overrides) RenderedClaimTemplate(template, ordinal int) (*corev1.PersistentVolumeClaim, *render.Error) {
	plain := o.ClaimTemplate(template, ordinal)
	if !o.named[plain] {
		return plain, nil
	}
	return o.renders.Claim(template, plain, o.member(ordinal))
}

// claimsWithNames are the claim templates, with and without overrides, that may name parameters.
// Most sets have none, and a set may have thousands of claims to compare.
func (o *Overrides) claimsWithNames() map[*corev1.PersistentVolumeClaim]bool {
	named := map[*corev1.PersistentVolumeClaim]bool{}
	note := func(template *corev1.PersistentVolumeClaim) {
		message, err := template.Marshal()
		named[template] = err != nil || bytes.Contains(message, []byte("$("))
	}
	for i := range o.set.Spec.VolumeClaimTemplates {
		note(&o.set.Spec.VolumeClaimTemplates[i])
	}
	for _, changed := range o.claims {
		for _, template := range changed {
			note(template)
		}
	}
	return named
}

// PodMaker builds the pods of many members. Members with the same override share the same changed
// template, unless it is rendered. It must be used by one goroutine only.
type PodMaker struct {
	overrides *Overrides
	// templates are the templates that were built, by their inputs.
	templates map[madeFrom]*corev1.PodTemplateSpec
	// renderers are the renderers of revisions with an identity.
	renderers map[*v1.MemberIdentity]*render.Renderer
}

// madeFrom is a template, and the index of an override or, if the template is rendered, the ordinal
// of the member.
type madeFrom struct {
	template *corev1.PodTemplateSpec
	identity *v1.MemberIdentity
	member   int
}

// PodMaker returns a PodMaker of the set.
func (o *Overrides) PodMaker() *PodMaker {
	return &PodMaker{overrides: o, templates: map[madeFrom]*corev1.PodTemplateSpec{}, renderers: map[*v1.MemberIdentity]*render.Renderer{}}
}

// Pod builds the pod of a member, as the function Pod does, and renders it. Sources are
// distinguished by their pointers.
func (m *PodMaker) Pod(source Source, revision string, ordinal int) (*corev1.Pod, *render.Error) {
	template, err := m.Template(source, ordinal)
	if err != nil {
		return nil, err
	}
	return podOf(m.overrides.set, template, revision, ordinal), nil
}

// Template is the template for the pod of a member.
func (m *PodMaker) Template(source Source, ordinal int) (*corev1.PodTemplateSpec, *render.Error) {
	from := madeFrom{template: source.Template, identity: source.Identity, member: ordinal}
	if source.Identity == nil {
		at, ok := m.overrides.at(ordinal)
		if !ok {
			at = -1
		}
		from.member = at
	}
	if made := m.templates[from]; made != nil {
		return made, nil
	}
	made, err := m.make(source, ordinal)
	if err == nil {
		m.templates[from] = made
	}
	return made, err
}

func (m *PodMaker) make(source Source, ordinal int) (*corev1.PodTemplateSpec, *render.Error) {
	template := m.overrides.Template(source.Template, ordinal)
	if source.Identity == nil {
		return template, nil
	}
	if m.renderers[source.Identity] == nil {
		m.renderers[source.Identity] = m.overrides.rendererOf(source)
	}
	return m.renderers[source.Identity].Pod(template, m.overrides.member(ordinal))
}
