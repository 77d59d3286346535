// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// mostText is the maximum length of all strings with parameters together, in bytes.
const mostText = 1 << 20

// Renderer renders the templates of a set. It can be used concurrently.
type Renderer struct {
	source Source
	// compiled are the transforms, compiled when they are first needed.
	compiled func() ([]transform, []*Error)
}

// New returns the renderer of a set. The source must have an Identity.
func New(source Source) *Renderer {
	r := &Renderer{source: source}
	r.compiled = sync.OnceValues(r.source.compile)
	return r
}

// Check returns the errors in the transforms that do not depend on a member.
func (r *Renderer) Check() []*Error {
	_, errs := r.compiled()
	return errs
}

// Pod renders a pod template for a member. It does not change the template, and the result shares
// nothing with it.
func (r *Renderer) Pod(template *corev1.PodTemplateSpec, m Member) (*corev1.PodTemplateSpec, *Error) {
	const in = "template"
	known := r.source.parameters(m)
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil, errorf(in, "", "", "%s", err)
	}
	if wrong := (&walk{known: known, room: mostText, leaves: ofTheKubelet}).all(in, tree); wrong != nil {
		return nil, wrong
	}
	if wrong := r.transform(tree, known); wrong != nil {
		return nil, wrong
	}
	rendered := &corev1.PodTemplateSpec{}
	if wrong := decode(in, tree, rendered); wrong != nil {
		return nil, cmp.Or(r.blame(template, known), wrong)
	}
	keepReserved(rendered.Annotations, template.Annotations)
	injectEnv(rendered, r.source.Identity.Env, known)
	return rendered, nil
}

// keepReserved reverts changes that transforms made to annotations with reserved keys. The
// controller would take them for its own records.
func keepReserved(rendered, written map[string]string) {
	maps.DeleteFunc(rendered, func(key, _ string) bool {
		_, has := written[key]
		return !has && IsReserved(key)
	})
	for key, value := range written {
		if IsReserved(key) && rendered != nil {
			rendered[key] = value
		}
	}
}

// Claim renders the claim template with that index for a member. It does not change the template,
// and the result shares nothing with it.
func (r *Renderer) Claim(index int, template *corev1.PersistentVolumeClaim, m Member) (*corev1.PersistentVolumeClaim, *Error) {
	in := fmt.Sprintf("volumeClaimTemplates[%d]", index)
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil, errorf(in, "", "", "%s", err)
	}
	if wrong := (&walk{known: r.source.parameters(m), room: mostText, leaves: noOne}).all(in, tree); wrong != nil {
		return nil, wrong
	}
	rendered := &corev1.PersistentVolumeClaim{}
	if wrong := decode(in, tree, rendered); wrong != nil {
		return nil, wrong
	}
	return rendered, nil
}

// transform executes the transforms in their order.
func (r *Renderer) transform(tree map[string]any, known map[string]parameter) *Error {
	transforms, errs := r.compiled()
	if len(errs) > 0 {
		return errs[0]
	}
	return carryOut(r.source.Evaluation, transforms, tree, inputOf(known))
}

// carryOut executes transforms in their order.
func carryOut(e *Evaluation, transforms []transform, tree, input map[string]any) *Error {
	spent := uint64(0)
	for _, t := range transforms {
		value, cost, err := t.evaluate(e, input)
		if spent = saturated(spent, cost); err == nil && spent > mostCost {
			err = fmt.Errorf("costs %d together with the transforms before it; at most %d is allowed", spent, mostCost)
		}
		if err != nil {
			return t.failed(err)
		}
		if _, err := t.at.set(tree, value); err != nil {
			return errorf(t.in, "path", t.at.String(), "%s", err)
		}
	}
	return nil
}

// failed is the error of a transform whose expression could not be evaluated.
func (t transform) failed(err error) *Error {
	wrong := errorf(t.in, "expression", t.text, "%s", err)
	wrong.Stopped = errors.Is(err, errStopped)
	return wrong
}

// blame finds the transform that makes a template invalid. It returns nil if no transform does.
func (r *Renderer) blame(template *corev1.PodTemplateSpec, known map[string]parameter) *Error {
	transforms, _ := r.compiled()
	for _, t := range transforms {
		if wrong := t.alone(r.source.Evaluation, template, known); wrong != nil {
			return wrong
		}
	}
	return nil
}

// alone returns the reason why a template is invalid after this transform. It returns nil if the
// template is valid, or if the transform depends on the result of another one.
func (t transform) alone(e *Evaluation, template *corev1.PodTemplateSpec, known map[string]parameter) *Error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return errorf("template", "", "", "%s", err)
	}
	value, _, err := t.evaluate(e, inputOf(known))
	if err != nil {
		return t.failed(err)
	}
	whole, outside := t.at.set(tree, value)
	fields, is := whole.(map[string]any)
	if outside != nil || !is {
		fields = nil // it depends on the result of an earlier transform
	}
	wrong := decode(t.in, fields, &corev1.PodTemplateSpec{})
	if wrong == nil {
		return nil
	}
	wrong.Field, wrong.Value, wrong.Detail = "expression", t.text, t.at.String()+": "+wrong.Detail
	return wrong
}

func decode(in string, tree map[string]any, into any) *Error {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(tree, into, true)
	if err == nil {
		return nil
	}
	if text, _ := json.Marshal(tree); !runtime.IsStrictDecodingError(err) {
		err = cmp.Or(json.Unmarshal(text, into), err) // this error names the field
	}
	return errorf(in, "", "", "%s", err)
}
