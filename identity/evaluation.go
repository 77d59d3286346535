// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// evaluationVersion is part of the digest of an evaluation. It changes with the content of the
// digest.
const evaluationVersion = "1"

// Evaluation is what must be evaluated for a set: its expressions, and those in revisions of its
// pods.
type Evaluation struct {
	set   *v1.StatefulSet
	older []Source
	// Fields are the fields that contain expressions, in the order of the spec. Inputs is a digest
	// of the expressions and of everything that they read and that a user can change.
	Fields []string
	Inputs string
}

// EvaluationOf returns the evaluation of a set. older are the sources of earlier revisions that its
// pods run, or will run until an update reaches them.
func EvaluationOf(set *v1.StatefulSet, older ...Source) Evaluation {
	e := Evaluation{set: set, Inputs: evaluatedInputs(set)}
	for _, source := range older {
		if source.Identity != nil && len(source.Identity.Transforms) > 0 {
			e.older = append(e.older, source)
		}
	}
	if len(e.older) > 0 || set.Spec.Identity != nil && len(set.Spec.Identity.Transforms) > 0 {
		e.Fields = append(e.Fields, "spec.identity.transforms")
	}
	for i := range set.Spec.ObjectTemplates {
		template := &set.Spec.ObjectTemplates[i]
		if len(template.Transforms) > 0 {
			e.Fields = append(e.Fields, fmt.Sprintf("spec.objectTemplates[%d].transforms", i))
		}
		if len(template.Outputs) > 0 {
			e.Fields = append(e.Fields, fmt.Sprintf("spec.objectTemplates[%d].outputs", i))
		}
	}
	return e
}

// Any reports whether there are expressions.
func (e Evaluation) Any() bool { return len(e.Fields) > 0 }

// Run evaluates the expressions for the set and for some members, until the evaluation ends. It
// ignores errors, which are reported where the results are used.
func (e Evaluation) Run(within *render.Evaluation, ordinals []int) {
	overrides := OverridesWithin(within, e.set)
	objects, wrong := overrides.Objects()
	if wrong != nil {
		objects = nil // they cannot be rendered
	}
	objects = slices.DeleteFunc(objects, func(o Object) bool { return len(o.Template().Transforms) == 0 })
	for _, object := range objects {
		if object.ForSet() && !within.Ended() {
			_, _ = object.Make(0)
		}
	}
	sources, renderers := e.sources(), []*render.Renderer{}
	for _, source := range sources {
		renderers = append(renderers, overrides.rendererOf(source))
	}
	for _, ordinal := range ordinals {
		if within.Ended() {
			return
		}
		for i, renderer := range renderers {
			_, _ = renderer.Pod(overrides.Template(sources[i].Template, ordinal), overrides.member(ordinal))
		}
		for _, object := range objects {
			if !object.ForSet() {
				_, _ = object.Make(ordinal)
			}
		}
	}
}

// sources are the sources with transforms from which pods are built.
func (e Evaluation) sources() []Source {
	if of := e.set.Spec.Identity; of == nil || len(of.Transforms) == 0 {
		return e.older
	}
	return append(slices.Clone(e.older), SourceOf(e.set))
}

// IsEvaluationStopped reports whether the expressions of a set are not evaluated any more, because
// processes ended while they evaluated them.
func IsEvaluationStopped(set *v1.StatefulSet) bool {
	return set.Status.Evaluation.IsStopped() && set.Status.Evaluation.Inputs == evaluatedInputs(set)
}

// RecordsTransforms reports whether the data of a revision may record transforms. It is a cheap
// check with false positives.
func RecordsTransforms(data []byte) bool {
	return bytes.Contains(data, []byte(`"identity"`)) && bytes.Contains(data, []byte(`"transforms"`))
}

// evaluatedInputs is a digest of the expressions of a set and of what they read. It does not
// contain the name of the set, which cannot change, or the templates, which expressions do not
// read.
func evaluatedInputs(set *v1.StatefulSet) string {
	sum := sha256.New()
	part := func(value any) {
		text, err := json.Marshal(value)
		if err != nil {
			// Values that were decoded can be encoded.
			panic(fmt.Sprintf("encoding the inputs of an evaluation: %v", err))
		}
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	part(evaluationVersion)
	part(set.Spec.ServiceName)
	if of := set.Spec.Identity; of != nil {
		part(of.Values)
		part(of.Transforms)
	}
	for i := range set.Spec.Overrides {
		if override := &set.Spec.Overrides[i]; len(override.Values) > 0 {
			part(override.Ordinals)
			part(override.Values)
		}
	}
	for i := range set.Spec.ObjectTemplates {
		template := &set.Spec.ObjectTemplates[i]
		part(template.Scope)
		part(template.Transforms)
		part(template.Outputs)
		for _, t := range template.Transforms {
			if strings.Contains(t.Expression, render.Members) || strings.Contains(t.Expression, render.Replicas) {
				part(OrdinalsOf(set).Ranges())
				break
			}
		}
	}
	const enough = 8
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}
