// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// outputsFor are the values, by name, of the outputs that the pod of a member uses. It reports
// false, and records why, if one of them has no value.
func outputsFor(f *facts, d *draft, m member, source identity.Source) (values map[string]string, known bool) {
	if source.Identity == nil || len(f.supporting.templates) == 0 {
		return nil, true
	}
	template, wrong := d.pods.Template(source, m.ordinal)
	if wrong != nil {
		return nil, false // sourceOf has recorded why
	}
	known = true
	for _, name := range f.overrides.OutputsNamedBy(template) {
		value, ok := f.output(d, m, name)
		if !ok {
			known = false // continue to find the other objects that must be read
			continue
		}
		if values == nil {
			values = map[string]string{}
		}
		values[name] = value
	}
	return values, known
}

// output is the value of an output for a member. It reports false, and records why, if there is no
// value.
func (f *facts) output(d *draft, m member, name string) (string, bool) {
	s := f.supporting.objectOf(f.supporting.templateOfOutput(name), m.ordinal)
	switch {
	case s.state == objectOutdated && !s.corrects:
		d.waitForObject(v1.ReasonWaitingForOutputs, "%s: %s is being changed, and provides %s afterwards", f.podName(m), s.key, name)
		return "", false
	case !d.usesObject(f, m, s):
		return "", false
	case s.found.Outputs == nil:
		d.reads.needs(s.read())
		d.waitForObject(v1.ReasonWaitingForOutputs, "%s: %s is being read for output %s", f.podName(m), s.key, name)
		return "", false
	}
	output, known := s.found.Outputs[name]
	if known && output.Missing == "" {
		return output.Value, true
	}
	if wrong := refusedOutput(s.template, name); wrong != nil {
		d.stall(v1.ReasonRenderFailed, "%s: %s", wrong.In, words.SanitizeText(wrong.Detail))
		return "", false
	}
	d.waitForObject(v1.ReasonWaitingForOutputs, "%s: %s gives no %s: %s", f.podName(m), s.key, name, words.SanitizeText(output.Missing))
	return "", false
}

// refusedOutput is the error in the expression of an output, nil if it can be evaluated. An earlier
// version of the server may have accepted it.
func refusedOutput(object identity.Object, name string) *render.Error {
	at := slices.IndexFunc(object.Template().Outputs, func(output v1.ObjectOutput) bool { return output.Name == name })
	for _, wrong := range object.Check() {
		if strings.HasSuffix(wrong.In, fmt.Sprintf(".outputs[%d]", at)) {
			return wrong
		}
	}
	return nil
}

// templateOfOutput is the template that defines an output. There is exactly one.
func (o *supportingObjects) templateOfOutput(name string) identity.Object {
	at := slices.IndexFunc(o.templates, func(t identity.Object) bool {
		return slices.ContainsFunc(t.Template().Outputs, func(output v1.ObjectOutput) bool { return output.Name == name })
	})
	return o.templates[at]
}

// read is the request to read an object.
func (s supportingObject) read() ObjectRead {
	return ObjectRead{s.key, s.template.Template().Name, s.ordinal}
}

// needs records an object that must be read.
func (r *reader) needs(object ObjectRead) {
	if !slices.Contains(r.objects, object) {
		r.objects = append(r.objects, object)
	}
}

// AssumedOutputs are placeholder values of the outputs of a template, for plans that read no
// objects from the host cluster.
func AssumedOutputs(template *v1.ObjectTemplate) map[string]render.Output {
	if len(template.Outputs)+len(template.Generate) == 0 {
		return nil
	}
	all := map[string]render.Output{}
	for _, output := range template.Outputs {
		all[output.Name] = render.Output{Value: "$(" + output.Name + ")"}
	}
	assumedKeys(template, all)
	return all
}
