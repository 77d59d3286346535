// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
	"statefulset.dev/version"
)

const (
	// mostViolations is how many violations doctor lists, mostOfSet how many for one set.
	mostViolations = 20
	mostOfSet      = 3
	// mostOfDetail is the maximum length of the description of a violation, in bytes.
	mostOfDetail = 300
)

// violation is a rule that a stored set does not follow.
type violation struct {
	// field is the path of the field, detail what is wrong with it.
	field, detail string
	// remedy is what to do about it.
	remedy string
}

// checkRules checks stored sets against the rules of the plugin's version, which may be newer than
// the server. It compiles the expressions of sets, and evaluates transforms of pods for the first
// member. Both have limits.
func checkRules(ctx context.Context, about string, sets []v1.StatefulSet) (found []finding) {
	more, kinds := 0, map[schema.GroupKind]int{}
	for i := range sets {
		if ctx.Err() != nil {
			left := fmt.Errorf("checked only %d of %d sets against the rules of %s: %w", i, len(sets), ownVersion(), ctx.Err())
			return append(found, skipFinding(about, left))
		}
		set := &sets[i]
		if v1.IsDamaged(set) || set.DeletionTimestamp != nil {
			continue
		}
		for _, kind := range identity.ObjectKinds(set) {
			kinds[kind.GroupKind()]++
		}
		for at, v := range violationsOf(ctx, set) {
			if at == mostOfSet || len(found) == mostViolations {
				more++
				break
			}
			edit := fmt.Sprintf("kubectl -n %s edit statefulset.%s/%s  # %s", set.Namespace, v1.GroupName, set.Name, v.remedy)
			found = append(found, warnFinding(fmt.Sprintf("set %s/%s", set.Namespace, set.Name), v.field+": "+v.detail, edit))
		}
	}
	if more > 0 {
		found = append(found, warnFinding(about, fmt.Sprintf("%d of them violate further rules of %s that are not listed", more, ownVersion()),
			"kubectl sts doctor  # run it again after changing the sets above"))
	}
	return append(found, tooManyKinds(about, kinds)...)
}

// ownVersion describes the version of the plugin, whose rules apply.
func ownVersion() string {
	if own := version.Get().Version; own != "" {
		return "version " + own
	}
	return "the version of this plugin"
}

// violationsOf returns the rules that a stored set does not follow, the most severe first.
func violationsOf(ctx context.Context, set *v1.StatefulSet) []violation {
	overrides := identity.OverridesWithin(render.Within(ctx), set)
	wrong := overrides.CheckTransforms()
	objects, unreadable := overrides.Objects()
	if unreadable != nil {
		wrong = append(wrong, unreadable)
	}
	for _, object := range objects {
		wrong = append(wrong, object.Check()...)
	}
	if len(wrong) == 0 && set.Spec.Identity != nil {
		if _, failed := overrides.Rendered(identity.SourceOf(set), identity.OrdinalsOf(set).First()); failed != nil && !failed.Stopped {
			wrong = append(wrong, failed)
		}
	}
	all := make([]violation, 0, len(wrong))
	for _, w := range wrong {
		all = append(all, unevaluable(w))
	}
	return slices.Concat(all, ambiguousManifests(&set.Spec), reservedKeys(&set.Spec))
}

// unevaluable is a violation in a part of a set from which no object can be rendered.
func unevaluable(wrong *render.Error) violation {
	at := "spec." + wrong.In
	if wrong.Field != "" {
		at += "." + wrong.Field
	}
	says := fmt.Sprintf("%s; %s refuses this: under it, the set keeps its pods and is Stalled until the field is changed",
		cut(wrong.Detail), ownVersion())
	return violation{at, says, "change the field before the upgrade"}
}

// cut shortens a description.
func cut(detail string) string {
	if len(detail) <= mostOfDetail {
		return detail
	}
	return strings.ToValidUTF8(detail[:mostOfDetail], "") + "..."
}

// ambiguousManifests returns manifests that two programs could read differently.
func ambiguousManifests(spec *v1.StatefulSetSpec) (all []violation) {
	for i := range spec.ObjectTemplates {
		wrong := render.CheckKeys(spec.ObjectTemplates[i].Object.Raw, fmt.Sprintf("objectTemplates[%d].object", i))
		if wrong != nil {
			says := fmt.Sprintf("%s; %s refuses this in new or changed manifests", cut(wrong.Detail), ownVersion())
			all = append(all, violation{"spec." + wrong.In, says, "write each key once, spelled as in Kubernetes"})
		}
	}
	return all
}

// reservedKeys returns keys of our group in templates and overrides.
func reservedKeys(spec *v1.StatefulSetSpec) (all []violation) {
	says := fmt.Sprintf("keys of %s are reserved for the controller; %s refuses this key in new or changed templates and overrides",
		v1.GroupName, ownVersion())
	look := func(at string, of metav1.ObjectMeta) {
		for _, part := range []struct {
			name   string
			values map[string]string
		}{{"labels", of.Labels}, {"annotations", of.Annotations}} {
			for _, key := range slices.Sorted(maps.Keys(part.values)) {
				if identity.IsReserved(key) {
					all = append(all, violation{fmt.Sprintf("spec.%s%s[%s]", at, part.name, key), says,
						"remove the key, or use another domain; a change of the pod template updates the pods"})
				}
			}
		}
	}
	look("template.metadata.", spec.Template.ObjectMeta)
	for i := range spec.VolumeClaimTemplates {
		look(fmt.Sprintf("volumeClaimTemplates[%d].metadata.", i), spec.VolumeClaimTemplates[i].ObjectMeta)
	}
	for i := range spec.Overrides {
		override := &spec.Overrides[i]
		look(fmt.Sprintf("overrides[%d].", i), metav1.ObjectMeta{Labels: override.Labels, Annotations: override.Annotations})
	}
	return all
}

// tooManyKinds reports that sets have objects of more kinds than the server watches.
func tooManyKinds(about string, kinds map[schema.GroupKind]int) []finding {
	if len(kinds) <= identity.MostObjectKinds {
		return nil
	}
	rarest := slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupKind) int {
		return cmp.Or(cmp.Compare(kinds[a], kinds[b]), strings.Compare(a.String(), b.String()))
	})
	says := fmt.Sprintf("their objectTemplates have objects of %d kinds; %s watches at most %d, and refuses sets with another kind",
		len(kinds), ownVersion(), identity.MostObjectKinds)
	fix := fmt.Sprintf("# remove templates of kinds that few sets have, such as %s and %s", rarest[0], rarest[1])
	return []finding{warnFinding(about, says, fix)}
}
