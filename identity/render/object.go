// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "statefulset.dev/api/apps/v1"
)

// version is an input of every object. It changes with the rules of rendering.
const version = "1"

// Object renders an object template.
type Object struct {
	in       string
	forSet   bool
	source   Source
	template *v1.ObjectTemplate
	// text is the manifest as JSON. names are the parameters that it may name, maybe with false
	// positives.
	text  []byte
	names []string
	// roster describes the desired members. It is empty if the template does not mention MEMBERS.
	roster string
	// members is the list of members as expressions read it, computed when it is first needed.
	members func() ref.Val
	name    string
	kind    schema.GroupVersionKind
	// compiled are the transforms, compiled when they are first needed.
	compiled func() ([]transform, []*Error)
	// outputs are the outputs, compiled when they are first needed.
	outputs func() ([]output, []*Error)
}

// NewObject prepares a template, whose path in spec is in. It returns an error if the manifest is
// not an object.
func NewObject(source Source, template *v1.ObjectTemplate, in string) (*Object, *Error) {
	o := &Object{in: in, forSet: template.IsForSet(), source: source, template: template}
	manifest, wrong := ReadManifest(template.Object.Raw, in+".object")
	if wrong != nil {
		return nil, wrong
	}
	text, err := json.Marshal(manifest.Tree)
	if err != nil {
		return nil, errorf(in+".object", "", "", "%s", err)
	}
	o.text, o.kind, o.name = text, manifest.Kind, manifest.Name
	var written strings.Builder
	written.Write(o.text)
	for _, t := range template.Transforms {
		written.WriteString(" " + t.Expression)
	}
	all := written.String()
	known := o.source.ofObject(o.forSet, Member{})
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(all, name) && !known[name].output {
			o.names = append(o.names, name)
		}
	}
	if _, taken := known[Members]; !taken && mentionsMembers(template.Transforms) {
		o.roster = o.source.roster()
	}
	o.members = sync.OnceValue(o.source.list)
	o.compiled = sync.OnceValues(o.compile)
	o.outputs = sync.OnceValues(o.compileOutputs)
	return o, nil
}

// compile compiles the transforms. They cannot change fields that the set or the host cluster owns.
func (o *Object) compile() ([]transform, []*Error) {
	known := o.source.ofObject(o.forSet, Member{})
	c := compilation{in: o.in + ".transforms", whose: "the set", known: known, sizes: o.source.lengths(known),
		owned: []pointer{{"apiVersion"}, {"kind"}, {"status"}}, members: o.source.listedInObject(o.template.Transforms, o.forSet)}
	for _, field := range []string{
		"name", "generateName", "namespace", "ownerReferences", "uid", "resourceVersion", "managedFields", "finalizers"} {
		c.owned = append(c.owned, pointer{"metadata", field})
	}
	for _, key := range []string{v1.ObjectSetLabel, v1.ObjectTemplateLabel, v1.ObjectOrdinalLabel} {
		c.owned = append(c.owned, pointer{"metadata", "labels", key})
	}
	for _, key := range []string{v1.OwnerAnnotation, v1.ObjectInputsAnnotation, v1.RetiredAtAnnotation, v1.GeneratedAnnotation} {
		c.owned = append(c.owned, pointer{"metadata", "annotations", key})
	}
	return c.all(o.template.Transforms)
}

// Kind is the kind of the objects.
func (o *Object) Kind() schema.GroupVersionKind { return o.kind }

// ForSet reports whether there is one object for the set.
func (o *Object) ForSet() bool { return o.forSet }

// Template is the template of the objects.
func (o *Object) Template() *v1.ObjectTemplate { return o.template }

// Manifest is a copy of the manifest before it is rendered.
func (o *Object) Manifest() map[string]any {
	manifest, _ := ReadManifest(o.template.Object.Raw, o.in) // NewObject has parsed it without an error
	return manifest.Tree
}

// Pattern is the name of the objects with parameters.
func (o *Object) Pattern() string { return o.name }

// Check returns the errors in the transforms and the outputs.
func (o *Object) Check() []*Error {
	_, errs := o.compiled()
	_, more := o.outputs()
	return slices.Concat(errs, more)
}

// ListsMembers reports whether the objects depend on the list of members.
func (o *Object) ListsMembers() bool {
	if o.roster == "" {
		return false
	}
	transforms, _ := o.compiled()
	return slices.ContainsFunc(transforms, func(t transform) bool { return t.lists })
}

// Name is the name of the object of a member.
func (o *Object) Name(m Member) string {
	if !strings.Contains(o.name, "$(") {
		return o.name
	}
	known := o.source.ofObject(o.forSet, m)
	return substitute(o.name, func(name string) bool { _, is := known[name]; return is }, func(name string) string { return known[name].text })
}

// Inputs is a digest of all inputs of the object of a member. Equal digests mean equal objects.
func (o *Object) Inputs(m Member) string {
	known := o.source.ofObject(o.forSet, m)
	sum := sha256.New()
	part := func(text string) { fmt.Fprintf(sum, "%d:%s", len(text), text) }
	part(version)
	part(string(o.text))
	for _, t := range o.template.Transforms {
		part(t.Path)
		part(t.Expression)
	}
	for _, name := range o.names {
		part(name)
		part(known[name].text)
	}
	if o.roster != "" {
		part(Members)
		part(o.roster)
	}
	const enough = 16
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}

// Render renders the object of a member, without the namespace and without the labels and
// annotations of the set.
func (o *Object) Render(m Member) (map[string]any, *Error) {
	tree := map[string]any{}
	if err := utiljson.Unmarshal(o.text, &tree); err != nil {
		return nil, errorf(o.in+".object", "", "", "%s", err)
	}
	known := o.source.ofObject(o.forSet, m)
	w := &walk{known: known, room: mostText, named: true, leaves: isBinary}
	if wrong := w.all(o.in+".object", tree); wrong != nil {
		return nil, wrong
	}
	transforms, errs := o.compiled()
	if len(errs) > 0 {
		return nil, errs[0]
	}
	input := inputOf(known)
	if slices.ContainsFunc(transforms, func(t transform) bool { return t.lists }) {
		input[Members] = o.members()
	}
	if wrong := carryOut(o.source.Evaluation, transforms, tree, input); wrong != nil {
		return nil, wrong
	}
	return tree, nil
}

// isBinary reports whether a place in a manifest has binary data.
func isBinary(at []string) bool { return at[0] == "binaryData" }
