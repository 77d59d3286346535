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

// renderer renders what a set makes with an identity, its own or that of an earlier revision.
func (o *Overrides) renderer(identity *v1.MemberIdentity) *render.Renderer {
	return render.New(o.renderSource(identity))
}

func (o *Overrides) renderSource(identity *v1.MemberIdentity) render.Source {
	roster := OrdinalsOf(o.set)
	source := render.Source{
		Identity: identity, Name: o.set.Name, Namespace: o.set.Namespace, ServiceName: o.set.Spec.ServiceName,
		Replicas: roster.Len(), Wanted: roster.Ranges, Selected: SelectedKeys(o.set.Spec.Selector), Outputs: outputs(o.set),
		Evaluation: o.within,
	}
	for i := range o.set.Spec.Overrides {
		if values := o.set.Spec.Overrides[i].Values; len(values) > 0 {
			source.Values = append(source.Values, values)
		}
	}
	return source
}

// SelectedKeys are the labels by which a set finds its pods, in order.
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

// member is one for which something is rendered.
func (o *Overrides) member(ordinal int) render.Member {
	m := render.Member{Ordinal: ordinal}
	if override := o.Of(ordinal); override != nil {
		m.Values = override.Values
	}
	return m
}

// CheckTransforms says what is wrong with the transforms of the set, whoever they are for.
func (o *Overrides) CheckTransforms() []*render.Error {
	if o.renders == nil {
		return nil
	}
	return o.renders.Check()
}

// UnknownNames says which names in the template of the set, and in its claim templates, look like
// parameters and are none; of each at most as many as asked for. A set that renders nothing has none.
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

// FirstName says where the templates of the set name a parameter first; empty if they name none, or
// if the set renders nothing.
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

// Rendered is what the pod of a member is made from: the template of its revision, with its
// override, rendered if the revision says so. Unless it is rendered, it shares with both what is
// not changed.
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

// RenderedClaimTemplate is what the claim of a member is made from: the claim template of that
// index, with the member's override, rendered if the set says so.
func (o *Overrides) RenderedClaimTemplate(template, ordinal int) (*corev1.PersistentVolumeClaim, *render.Error) {
	plain := o.ClaimTemplate(template, ordinal)
	if !o.named[plain] {
		return plain, nil
	}
	return o.renders.Claim(template, plain, o.member(ordinal))
}

// claimsWithNames are the claim templates, with and without overrides, that may name parameters:
// of most sets none, and a set may have thousands of claims to compare.
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

// PodMaker builds pods of many members, of which those with one override share what it makes of
// their template, unless it is rendered. It is for one goroutine.
type PodMaker struct {
	overrides *Overrides
	// templates are what has been made, by what it was made from.
	templates map[madeFrom]*corev1.PodTemplateSpec
	// renderers are those of revisions with an identity.
	renderers map[*v1.MemberIdentity]*render.Renderer
}

// madeFrom is a template, and the index of an override; of what is rendered, the ordinal of the
// member.
type madeFrom struct {
	template *corev1.PodTemplateSpec
	identity *v1.MemberIdentity
	member   int
}

// PodMaker builds pods of the set.
func (o *Overrides) PodMaker() *PodMaker {
	return &PodMaker{overrides: o, templates: map[madeFrom]*corev1.PodTemplateSpec{}, renderers: map[*v1.MemberIdentity]*render.Renderer{}}
}

// Pod builds the pod of a member, as the function of that name does, and renders it. The source
// is told from others by its pointers.
func (m *PodMaker) Pod(source Source, revision string, ordinal int) (*corev1.Pod, *render.Error) {
	template, err := m.Template(source, ordinal)
	if err != nil {
		return nil, err
	}
	return podOf(m.overrides.set, template, revision, ordinal), nil
}

// Template is what the pod of a member is made from.
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
