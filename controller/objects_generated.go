// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// mostSought is how many Secrets that are gone are looked for at a time.
const mostSought = 64

// gives is what an object gives to pods: outputs, or, of a Secret for which texts are drawn, which of
// the keys it has. What these hold is not kept.
func gives(template identity.Object, live *unstructured.Unstructured) map[string]render.Output {
	if !template.Generates() {
		return template.Gives(live.Object)
	}
	data, _, _ := unstructured.NestedMap(live.Object, "data")
	keys := map[string]render.Output{}
	for _, key := range template.Template().Generate {
		output := render.Output{}
		if text, _ := data[key.Key].(string); text == "" {
			output.Missing = plan.LacksKey
		}
		keys[key.Key] = output
	}
	return keys
}

// unreadKeys adds to what an object gives that could not be read the keys that are generated.
func unreadKeys(of *v1.ObjectTemplate, why string, all map[string]render.Output) {
	for _, key := range of.Generate {
		all[key.Key] = render.Output{Missing: "it cannot be read: " + why}
	}
}

// assumeGiven takes Secrets to be there that claims and pods were given: an earlier set may have had them
// drawn. It looks at what pods and claims name, however many members the set wants, and ends with ctx.
func assumeGiven(ctx context.Context, world *plan.World) error {
	given := map[string]bool{}
	for _, claim := range slices.Concat(world.Claims, world.Knowing) {
		for _, name := range identity.GeneratedOf(claim) {
			given[name] = true
		}
	}
	for _, pod := range world.Pods {
		for _, name := range identity.GeneratedOf(pod) {
			given[name] = true
		}
	}
	templates, wrong := identity.OverridesOf(world.Set).Objects()
	if wrong != nil {
		return ctx.Err()
	}
	templates = slices.DeleteFunc(templates, func(template identity.Object) bool { return !template.Generates() })
	wanted := identity.OrdinalsOf(world.Set)
	for name := range given {
		ordinals := identity.MemberOrdinals(name, world.Set.Name)
		for _, template := range templates {
			if err := ctx.Err(); err != nil {
				return err
			}
			if template.ForSet() {
				assumeNamed(world, template, -1, name)
				continue
			}
			for _, ordinal := range ordinals {
				if wanted.Contains(ordinal) {
					assumeNamed(world, template, ordinal, name)
				}
			}
		}
	}
	return nil
}

// assumeNamed takes the object of a member to be there if it has a name.
func assumeNamed(world *plan.World, template identity.Object, ordinal int, name string) {
	if template.Key(ordinal).Name == name {
		assume(world, world.Set, template, ordinal)
	}
}

// assumeKeys takes an object to have been made with the keys that are generated.
func assumeKeys(object *plan.Object, template identity.Object) {
	if !template.Generates() {
		return
	}
	keys := make([]string, 0, len(template.Template().Generate))
	for _, key := range template.Template().Generate {
		keys = append(keys, key.Key)
	}
	object.Annotations[v1.GeneratedAnnotation] = strings.Join(keys, ",")
}

// seekLost has Secrets be looked for in the host, now and then, that are gone and not drawn again: one
// that somebody creates by hand need not have the label that we watch by.
func (m *memo) seekLost(lost []identity.ObjectKey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects.lost = len(lost) > 0
	if !m.objects.lost || now.Sub(m.objects.soughtAt) < unlabeledPodsInterval {
		return
	}
	m.objects.soughtAt = now
	if m.objects.taken == nil {
		m.objects.taken = map[takenName]takenObject{}
	}
	for _, key := range lost[:min(len(lost), mostSought)] {
		m.objects.taken[takenName{key.GroupKind(), key.Name}] = takenObject{}
	}
}
