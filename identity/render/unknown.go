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
)

// Unknown describes names in a pod template that look like parameters but are unknown, and
// variables that refer to themselves. It returns at most that many texts.
func (r *Renderer) Unknown(template *corev1.PodTemplateSpec, most int) (texts []string) {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil
	}
	u := &unknownSearch{known: r.source.parameters(Member{}), template: template, path: "spec.template", find: expanded, most: most}
	u.visit = u.name
	u.value(tree)
	return u.texts
}

// FirstName describes the first place in a template that names a parameter, with its text. It
// ignores the variables of a container, and is empty if there is no such place. path is the path of
// the template.
func (r *Renderer) FirstName(path string, template any) string {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return ""
	}
	u := &unknownSearch{known: r.source.parameters(Member{}), template: &corev1.PodTemplateSpec{}, path: path, find: expanded, most: 1}
	if pod, ok := template.(*corev1.PodTemplateSpec); ok {
		u.template = pod
	}
	u.visit = func(name string) {
		if _, known := u.known[name]; known && !u.isVariable(name) && !isName(u.at) {
			u.report("Invalid value: %q: names $(%s)", short(u.text), name)
		}
	}
	if u.value(tree); len(u.texts) == 0 {
		return ""
	}
	return u.texts[0]
}

// isVariable reports whether the kubelet expands a name at the current place, and the container has
// a variable of that name.
func (u *unknownSearch) isVariable(name string) bool {
	c := u.container()
	return c != nil && ofTheKubelet(u.at) && slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name })
}

// unknownSearch searches a template for names that are not parameters.
type unknownSearch struct {
	known    map[string]parameter
	template *corev1.PodTemplateSpec
	path     string // of the template
	at       []string
	text     string // the string at that place
	// find visits the names in a text.
	find  func(text string, visit func(name string))
	visit func(name string)
	texts []string
	most  int // the maximum number of texts
}

func (u *unknownSearch) value(value any) {
	switch value := value.(type) {
	case string:
		u.text = value
		u.find(value, u.visit)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			u.below(key, value[key])
		}
	case []any:
		for i := range value {
			u.below(strconv.Itoa(i), value[i])
		}
	}
}

func (u *unknownSearch) below(key string, value any) {
	u.at = append(u.at, key)
	u.value(value)
	u.at = u.at[:len(u.at)-1]
}

func (u *unknownSearch) name(name string) {
	_, known := u.known[name]
	c := u.container()
	switch {
	case !IsName(name) || isName(u.at):
	case c != nil && ofTheKubelet(u.at):
		at := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name })
		if known && at >= 0 && u.at[3] == "env" && u.at[4] == strconv.Itoa(at) {
			u.report("$(%s) in %s is not the parameter of that name, and is not replaced; remove the variable: a container that names a parameter gets it", name, name)
		}
		if !known && at < 0 && len(c.EnvFrom) == 0 && !isOfService(name) {
			u.reportUnknown(name)
		}
	case !known:
		u.reportUnknown(name)
	}
}

func (u *unknownSearch) reportUnknown(name string) {
	u.report("$(%s) is not a parameter, and is not replaced; parameters are %s", name, strings.Join(slices.Sorted(maps.Keys(u.known)), ", "))
}

// report records a text about the current place, once, up to the limit.
func (u *unknownSearch) report(format string, args ...any) {
	if len(u.texts) == u.most {
		return
	}
	text := u.path + pathOf(u.at) + ": " + fmt.Sprintf(format, args...)
	if !slices.Contains(u.texts, text) {
		u.texts = append(u.texts, text)
	}
}

// isOfService reports whether containers may have a variable of that name because of a Service.
func isOfService(name string) bool {
	return strings.Contains(name, "_SERVICE_") || strings.Contains(name, "_PORT")
}

// container is the container at the current place. It is nil if the place is not in a container.
func (u *unknownSearch) container() *corev1.Container {
	if !isContainer(u.at) {
		return nil
	}
	all := u.template.Spec.Containers
	if u.at[1] == "initContainers" {
		all = u.template.Spec.InitContainers
	}
	if at, err := strconv.Atoi(u.at[2]); err == nil && at < len(all) {
		return &all[at]
	}
	return nil
}
