// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// LacksKey is what the output of a key is said to miss that a Secret does not have. Those of a Secret
// from a template that generates are its keys, without what they hold.
const LacksKey = "there is no such key"

// findGiven finds the Secrets that a claim or a pod of the set has been given: with them data may have
// been written. It also puts the templates into the order in which objects are made.
func (o *supportingObjects) findGiven() {
	o.making = o.templates
	if !slices.ContainsFunc(o.templates, identity.Object.Generates) {
		return
	}
	o.keepKnown()
	o.making = slices.Clone(o.templates)
	slices.SortStableFunc(o.making, func(a, b identity.Object) int { return cmp.Compare(one(b.Generates()), one(a.Generates())) })
	o.given = map[string]bool{}
	for name := range o.knownBy {
		o.given[name] = true
	}
	for _, pod := range o.world.Pods {
		for _, name := range identity.GeneratedOf(pod) {
			o.given[name] = true
		}
	}
}

// findKnowing finds, by the names of generated Secrets, the first claim of the set that has been given
// each, whether or not the set still has its claim template.
func (o *supportingObjects) findKnowing() {
	if !slices.ContainsFunc(o.world.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return len(t.Generate) > 0 }) &&
		len(identity.RemovedTemplates(&o.world.Set.Status)) == 0 {
		return
	}
	o.knownBy = map[string]string{}
	for _, claim := range slices.Concat(o.world.Claims, o.world.Knowing) {
		for _, secret := range identity.GeneratedOf(claim) {
			if first := o.knownBy[secret]; first == "" || claim.Name < first {
				o.knownBy[secret] = claim.Name
			}
		}
	}
}

// claimKnowing is a claim whose data may have been written with what was drawn for an object, empty if
// there is none.
func (o *supportingObjects) claimKnowing(object *Object) string {
	if object.Annotations[v1.GeneratedAnnotation] == "" {
		return ""
	}
	return o.knownBy[object.Name]
}

func asLongAs(claim string) string { return "as long as claim " + claim + " is there" }

// keepKnown has the Secrets of a template stay when the set is deleted, as long as a claim knows one of
// them: claims of templates that were removed stay, and come back with a set of the same name.
func (o *supportingObjects) keepKnown() {
	if !slices.ContainsFunc(o.templates, func(t identity.Object) bool { return t.Generates() && t.GoesWithSet() }) {
		return
	}
	known := map[string]bool{}
	for key, object := range o.world.Objects {
		if key.Group == "" && key.Kind == "Secret" && o.claimKnowing(object) != "" {
			known[object.Labels[v1.ObjectTemplateLabel]] = true
		}
	}
	for i, template := range o.templates {
		if template.Generates() && known[template.Template().Name] {
			o.templates[i] = template.Staying()
		}
	}
}

// isLost reports whether an object that does not exist is a Secret that must not be drawn again.
func (o *supportingObjects) isLost(s *supportingObject) bool {
	return s.of.Generates() && o.given[s.key.Name]
}

// lost says what is to be done about a Secret that is gone.
func (s supportingObject) lost() (word, message string) {
	todo := fmt.Sprintf("restore it, or create it by hand with %s", action.KeysText(s.of.Template().Generate))
	if s.of.Template().ExistingPolicy == v1.RefuseExistingObject {
		todo = "restore it with its labels and annotations"
	}
	return v1.ReasonGeneratedSecretMissing, s.key.String() + " is gone: " + todo
}

// withKeys is a new object, which says which texts it is created with.
func (s supportingObject) withKeys(made *unstructured.Unstructured) *unstructured.Unstructured {
	if s.of.Generates() {
		annotations := made.GetAnnotations()
		annotations[v1.GeneratedAnnotation] = strings.Join(action.KeyNames(s.of.Template().Generate), ",")
		made.SetAnnotations(annotations)
	}
	return made
}

// lostSecrets are those that are to be looked for in the host, in the order of the templates.
func (o *supportingObjects) lostSecrets() (all []identity.ObjectKey) {
	if len(o.given) == 0 {
		return nil
	}
	for _, template := range o.templates {
		for s := range o.objectsOf(template) {
			if s.is == objectLost {
				all = append(all, s.key)
			}
		}
	}
	return all
}

// hasKeys reports whether a Secret that exists has the keys that are generated, and says what is lacking
// if not. It was made with those that it says; others are looked for in it.
func (d *draft) hasKeys(f *facts, m member, s supportingObject) bool {
	made := identity.GeneratedOf(s.found)
	for _, key := range s.of.Template().Generate {
		if slices.Contains(made, key.Key) {
			continue
		}
		switch output, read := s.found.Outputs[key.Key]; {
		case s.found.Outputs == nil:
			d.reads.needs(s.read())
			d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s is read for its keys", f.podName(m), s.key)
			return false
		case read && output.Missing == "":
		case output.Missing == LacksKey:
			d.blocked(v1.ReasonGeneratedSecretMissing, "%s has no key %s: add it; nothing is written into a Secret that exists", s.key, key.Key)
			return false
		default:
			d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s: %s", f.podName(m), s.key, words.ForeignText(output.Missing))
			return false
		}
	}
	return true
}

// secretsOf are the names of the generated Secrets of a member, those of the set among them: all, or
// only those that exist.
func (o *supportingObjects) secretsOf(m member, all bool) (names []string) {
	if o.given == nil {
		return nil
	}
	for _, template := range o.making {
		if !template.Generates() {
			break
		}
		s := o.objectOf(template, m.ordinal)
		if all || s.is == objectPresent || s.is == objectOutdated || s.is == objectForeign {
			names = append(names, s.key.Name)
		}
	}
	return names
}

// giveSecrets plans that the claims of a member that exist say which Secrets it was given, before a pod
// can write data with them.
func giveSecrets(f *facts, m member, names []string) (marks []action.Action) {
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		claim := f.claimOf(m, i)
		if claim == nil {
			continue
		}
		known := identity.GeneratedOf(claim)
		if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) }) {
			text := identity.GeneratedText(claim, names)
			marks = append(marks, action.MarkClaim{
				Ordinal: m.ordinal, Claim: action.Exact(claim), As: action.ClaimGiven, Annotations: map[string]*string{v1.GeneratedAnnotation: &text}})
		}
	}
	return marks
}

func claimsGiven(claims []*corev1.PersistentVolumeClaim, secrets []string) []*corev1.PersistentVolumeClaim {
	for i := range claims {
		claims[i] = identity.ClaimGiven(claims[i], secrets)
	}
	return claims
}

// tellClaims notes at the claims of members that have a pod which Secrets these were given: a template
// may be younger than the pod. It holds up nothing.
func tellClaims(f *facts, d *draft) verdict {
	if f.supporting.given == nil || f.world.Set.DeletionTimestamp != nil {
		return proceed
	}
	told := 0
	for _, m := range f.members {
		if m.pod == nil {
			continue
		}
		for _, mark := range d.onTheirOwn(giveSecrets(f, m, f.supporting.secretsOf(m, false))) {
			if told == mostChanged {
				return proceed // the next look goes on
			}
			told++
			d.aside = append(d.aside, action.Chain{mark})
		}
	}
	return proceed
}

// onTheirOwn are the marks of claims that this plan does not change otherwise: after that they are other
// ones, and their turn comes.
func (d *draft) onTheirOwn(marks []action.Action) []action.Action {
	return slices.DeleteFunc(marks, func(mark action.Action) bool {
		return slices.ContainsFunc(d.chains, func(chain action.Chain) bool {
			return slices.ContainsFunc(chain, func(other action.Action) bool { return changesClaim(other) == changesClaim(mark) })
		})
	})
}

// changesClaim names the claim that an action changes, empty if it changes none.
func changesClaim(act action.Action) string {
	switch a := act.(type) {
	case action.SetClaimOwners:
		return a.Claim.Name
	case action.UpdateClaim:
		return a.Claim.Name
	case action.MarkClaim:
		return a.Claim.Name
	case action.CreateMember, action.CreateClaims, action.DeleteClaim, action.CreateObject, action.ApplyObject, action.MarkObject,
		action.DeleteObject, action.SetObjectOwners, action.CreateAnchor, action.OwnAnchor:
	case action.RepairPod, action.PatchPod, action.SetPodConditions, action.DeletePod, action.UpdateInPlace, action.ResizePod,
		action.EndInPlace, action.AdoptPod, action.ReleasePod:
	case action.CreateRevision, action.RaiseRevision, action.AdoptRevision, action.DeleteRevision:
	}
	return ""
}

// assumedKeys adds to what plans take the objects of a template to give the keys that are generated.
func assumedKeys(template *v1.ObjectTemplate, all map[string]render.Output) {
	for _, key := range template.Generate {
		all[key.Key] = render.Output{}
	}
}
