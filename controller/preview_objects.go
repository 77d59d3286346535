// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// assumeKinds adds to a world the kinds of objects that the controller watches, and reports whether
// the controller creates objects in the namespace of the set.
func assumeKinds(world *plan.World, kinds []schema.GroupVersionKind, namespaces identity.ObjectNamespaces) bool {
	kind, included := plan.Kind{Known: true}, namespaces.Has(world.Set.Namespace)
	if !included {
		kind = plan.Kind{Refused: objects.Excluded(namespaces, world.Set.Namespace)}
	}
	world.Kinds = map[schema.GroupKind]plan.Kind{}
	for _, k := range kinds {
		world.Kinds[k.GroupKind()] = kind
	}
	return included
}

// assumeObjects adds to a world the objects that the set probably has: those that its status lists,
// as the stored set describes them. Plans do not read objects from the cluster, because the user
// who requests a plan may not be allowed to see them. It visits what the world contains, and ends
// with ctx. In a namespace where the controller creates no objects, it adds none.
func assumeObjects(ctx context.Context, world *plan.World, neighbours []v1.StatefulSet, namespaces identity.ObjectNamespaces) error {
	kinds := identity.ObjectKinds(world.Set)
	if len(kinds) == 0 {
		return ctx.Err()
	}
	world.Objects = map[identity.ObjectKey]*plan.Object{}
	if !assumeKinds(world, kinds, namespaces) {
		return ctx.Err()
	}
	if err := assumeRecordedSecrets(ctx, world); err != nil {
		return err
	}
	at := slices.IndexFunc(neighbours, func(other v1.StatefulSet) bool { return other.Name == world.Set.Name })
	if at < 0 {
		return nil
	}
	stored := &neighbours[at]
	templates, wrong := identity.OverridesOf(stored).Objects()
	if wrong != nil {
		return ctx.Err() // the objects are not known
	}
	removed, wrong := identity.RemovedObjects(stored)
	if wrong != nil {
		return ctx.Err()
	}
	for _, template := range slices.Concat(templates, removed) {
		if !lists(stored, template) {
			continue
		}
		if template.ForSet() {
			assume(world, stored, template, -1)
			continue
		}
		for _, pod := range world.Pods {
			if err := ctx.Err(); err != nil {
				return err
			}
			if set, ordinal, ok := identity.ParsePodName(pod.Name); ok && set == stored.Name {
				assume(world, stored, template, ordinal)
			}
		}
	}
	return nil
}

// lists reports whether the status of a set counts objects of a template.
func lists(set *v1.StatefulSet, template identity.Object) bool {
	return slices.ContainsFunc(set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
		return s.Name == template.Template().Name && s.Kind == template.Kind().GroupKind().String() && s.ObjectName == template.Pattern() &&
			s.Present+s.Foreign > 0
	})
}

func assume(world *plan.World, stored *v1.StatefulSet, template identity.Object, ordinal int) {
	labels := map[string]string{v1.ObjectSetLabel: stored.Name, v1.ObjectTemplateLabel: template.Template().Name}
	if ordinal >= 0 {
		labels[v1.ObjectOrdinalLabel] = strconv.Itoa(ordinal)
	}
	key := template.Key(ordinal)
	world.Objects[key] = &plan.Object{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: stored.Namespace, Labels: labels,
		Annotations: map[string]string{v1.OwnerAnnotation: identity.OwnerMark(stored), v1.ObjectInputsAnnotation: template.Digest(ordinal)}}}
	assumeKeys(world.Objects[key], template)
	for i := range world.Set.Spec.ObjectTemplates {
		if proposed := &world.Set.Spec.ObjectTemplates[i]; proposed.Name == template.Template().Name {
			world.Objects[key].Outputs = plan.AssumedOutputs(proposed)
		}
	}
}

// assumeRecordedSecrets assumes that Secrets exist that claims and pods record: an earlier set may
// have generated them. It visits the names that pods and claims record, no matter how many members
// the set has, and ends with ctx.
func assumeRecordedSecrets(ctx context.Context, world *plan.World) error {
	recorded := map[string]bool{}
	for _, claim := range slices.Concat(world.Claims, world.ClaimsWithSecrets) {
		for _, name := range identity.GeneratedOf(claim) {
			recorded[name] = true
		}
	}
	for _, pod := range world.Pods {
		for _, name := range identity.GeneratedOf(pod) {
			recorded[name] = true
		}
	}
	templates, wrong := identity.OverridesOf(world.Set).Objects()
	if wrong != nil {
		return ctx.Err()
	}
	templates = slices.DeleteFunc(templates, func(template identity.Object) bool { return !template.Generates() })
	wanted := identity.OrdinalsOf(world.Set)
	for name := range recorded {
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

// assumeNamed assumes that the object of a member exists if it has a certain name.
func assumeNamed(world *plan.World, template identity.Object, ordinal int, name string) {
	if template.Key(ordinal).Name == name {
		assume(world, world.Set, template, ordinal)
	}
}

// assumeKeys assumes that an object was created with all generated keys.
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
