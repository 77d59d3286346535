// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// UnknownInClaim describes names in the claim template with that index that look like parameters
// but are unknown. It returns at most that many texts.
func (r *Renderer) UnknownInClaim(index int, template *corev1.PersistentVolumeClaim, most int) []string {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil
	}
	u := newManifestSearch(r.source.parameters(Member{}), fmt.Sprintf("spec.volumeClaimTemplates[%d]", index), most)
	u.leaves = isName
	return u.all(tree)
}

// Unknown describes names in the manifest that look like parameters but are unknown. It returns at
// most that many texts.
func (o *Object) Unknown(most int) []string {
	tree := map[string]any{}
	if err := utiljson.Unmarshal(o.text, &tree); err != nil {
		return nil
	}
	u := newManifestSearch(o.source.ofObject(o.forSet, Member{}), "spec."+o.in+".object", most)
	u.leaves = isBinary
	return u.all(tree)
}

// manifestSearch searches templates that only the controller renders for names that are not
// parameters.
type manifestSearch struct {
	unknownSearch

	tree   map[string]any
	leaves func(at []string) bool
}

// newManifestSearch returns a search for unknown names outside of pod templates, at a path.
func newManifestSearch(known map[string]parameter, path string, most int) *manifestSearch {
	maps.DeleteFunc(known, func(_ string, p parameter) bool { return p.misplaced() != "" }) // these get an error
	s := &manifestSearch{unknownSearch: unknownSearch{known: known, path: path, find: referred, most: most}}
	s.visit = s.name
	return s
}

func (s *manifestSearch) all(tree map[string]any) []string {
	s.tree = tree
	s.value(tree)
	return s.texts
}

func (s *manifestSearch) name(name string) {
	if _, known := s.known[name]; known || s.leaves(s.at) || s.isVariable(name) {
		return
	}
	s.report("$(%s) is not a parameter here, and is not replaced; parameters here are %s", name,
		strings.Join(slices.Sorted(maps.Keys(s.known)), ", "))
}

// isVariable reports whether a name is in a container that may have a variable of that name, such
// as a container of a Job. The kubelet expands it.
func (s *manifestSearch) isVariable(name string) bool {
	value := any(s.tree)
	for i, token := range s.at {
		switch in := value.(type) {
		case map[string]any:
			if defines(in, name) {
				return true
			}
			value = in[token]
		case []any:
			if isOfService(name) && i > 0 && (s.at[i-1] == "containers" || s.at[i-1] == "initContainers") {
				return true
			}
			at, _ := strconv.Atoi(token)
			value = in[at]
		}
	}
	return false
}

// defines reports whether a value is a container that may define a variable.
func defines(container map[string]any, name string) bool {
	from, _ := container["envFrom"].([]any)
	env, _ := container["env"].([]any)
	return len(from) > 0 || slices.ContainsFunc(env, func(variable any) bool {
		fields, _ := variable.(map[string]any)
		return fields["name"] == name
	})
}
