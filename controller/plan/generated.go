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
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// LacksKey is what the output of a key is said to miss that a Secret does not have. Those of a Secret
// from a template that generates are its keys, without what they hold.
const LacksKey = "there is no such key"

// findGiven finds the Secrets that a claim or a pod of the set has been given: with them data may have
// been written. It also puts the templates into the order in which objects are made.
func (f *facts) findGiven() {
	f.making = f.objects
	if !slices.ContainsFunc(f.objects, identity.Object.Generates) {
		return
	}
	f.keepKnown()
	f.making = slices.Clone(f.objects)
	slices.SortStableFunc(f.making, func(a, b identity.Object) int { return cmp.Compare(one(b.Generates()), one(a.Generates())) })
	f.given = map[string]bool{}
	for name := range f.knowing {
		f.given[name] = true
	}
	for _, pod := range f.Pods {
		for _, name := range identity.GeneratedOf(pod) {
			f.given[name] = true
		}
	}
}

// findKnowing finds, by the names of generated Secrets, the first claim of the set that has been given
// each, whether or not the set still has its claim template.
func (f *facts) findKnowing() {
	if !slices.ContainsFunc(f.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return len(t.Generate) > 0 }) &&
		len(identity.RemovedTemplates(&f.Set.Status)) == 0 {
		return
	}
	f.knowing = map[string]string{}
	for _, claim := range slices.Concat(f.Claims, f.Knowing) {
		for _, secret := range identity.GeneratedOf(claim) {
			if first := f.knowing[secret]; first == "" || claim.Name < first {
				f.knowing[secret] = claim.Name
			}
		}
	}
}

// claimKnowing is a claim whose data may have been written with what was drawn for an object, empty if
// there is none.
func (f *facts) claimKnowing(object *Object) string {
	if object.Annotations[v1.GeneratedAnnotation] == "" {
		return ""
	}
	return f.knowing[object.Name]
}

func asLongAs(claim string) string { return "as long as claim " + claim + " is there" }

// keepKnown has the Secrets of a template stay when the set is deleted, as long as a claim knows one of
// them: claims of templates that were removed stay, and come back with a set of the same name.
func (f *facts) keepKnown() {
	if !slices.ContainsFunc(f.objects, func(o identity.Object) bool { return o.Generates() && o.GoesWithSet() }) {
		return
	}
	known := map[string]bool{}
	for key, object := range f.Objects {
		if key.Group == "" && key.Kind == "Secret" && f.claimKnowing(object) != "" {
			known[object.Labels[v1.ObjectTemplateLabel]] = true
		}
	}
	for i, template := range f.objects {
		if template.Generates() && known[template.Template().Name] {
			f.objects[i] = template.Staying()
		}
	}
}

// isLost reports whether an object that does not exist is a Secret that must not be drawn again.
func (f *facts) isLost(s *supporting) bool { return s.of.Generates() && f.given[s.key.Name] }

// lost says what is to be done about a Secret that is gone.
func (s supporting) lost() (word, message string) {
	todo := fmt.Sprintf("restore it, or create it by hand with %s", keysText(s.of.Template().Generate))
	if s.of.Template().ExistingPolicy == v1.RefuseExistingObject {
		todo = "restore it with its labels and annotations"
	}
	return v1.ReasonGeneratedSecretMissing, s.key.String() + " is gone: " + todo
}

func keysText(keys []v1.GeneratedKey) string {
	names := keyNames(keys)
	return plural("key", len(names)) + " " + strings.Join(names, ", ")
}

func keyNames(keys []v1.GeneratedKey) []string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, key.Key)
	}
	return names
}

// withKeys is a new object, which says which texts it is created with.
func (s supporting) withKeys(made *unstructured.Unstructured) *unstructured.Unstructured {
	if s.of.Generates() {
		annotations := made.GetAnnotations()
		annotations[v1.GeneratedAnnotation] = strings.Join(keyNames(s.of.Template().Generate), ",")
		made.SetAnnotations(annotations)
	}
	return made
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// lostSecrets are those that are to be looked for in the host, in the order of the templates.
func (f *facts) lostSecrets() (all []identity.ObjectKey) {
	if len(f.given) == 0 {
		return nil
	}
	for _, template := range f.objects {
		for s := range f.objectsOf(template) {
			if s.is == objectLost {
				all = append(all, s.key)
			}
		}
	}
	return all
}

// hasKeys reports whether a Secret that exists has the keys that are generated, and says what is lacking
// if not. It was made with those that it says; others are looked for in it.
func (d *draft) hasKeys(f *facts, m member, s supporting) bool {
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
			d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s: %s", f.podName(m), s.key, foreignText(output.Missing))
			return false
		}
	}
	return true
}

// secretsOf are the names of the generated Secrets of a member, those of the set among them: all, or
// only those that exist.
func (f *facts) secretsOf(m member, all bool) (names []string) {
	if f.given == nil {
		return nil
	}
	for _, template := range f.making {
		if !template.Generates() {
			break
		}
		s := f.objectOf(template, m.ordinal)
		if all || s.is == objectPresent || s.is == objectOutdated || s.is == objectForeign {
			names = append(names, s.key.Name)
		}
	}
	return names
}

// giveSecrets plans that the claims of a member that exist say which Secrets it was given, before a pod
// can write data with them.
func giveSecrets(f *facts, m member, names []string) (marks []Action) {
	for i := range f.Set.Spec.VolumeClaimTemplates {
		claim := f.claimOf(m, i)
		if claim == nil {
			continue
		}
		known := identity.GeneratedOf(claim)
		if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) }) {
			text := identity.GeneratedText(claim, names)
			marks = append(marks, MarkClaim{Ordinal: m.ordinal, Claim: exact(claim), As: ClaimGiven, Annotations: map[string]*string{v1.GeneratedAnnotation: &text}})
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
	if f.given == nil || f.Set.DeletionTimestamp != nil {
		return proceed
	}
	told := 0
	for _, m := range f.members {
		if m.pod == nil {
			continue
		}
		for _, mark := range d.onTheirOwn(giveSecrets(f, m, f.secretsOf(m, false))) {
			if told == mostChanged {
				return proceed // the next look goes on
			}
			told++
			d.aside = append(d.aside, Chain{mark})
		}
	}
	return proceed
}

// onTheirOwn are the marks of claims that this plan does not change otherwise: after that they are other
// ones, and their turn comes.
func (d *draft) onTheirOwn(marks []Action) []Action {
	return slices.DeleteFunc(marks, func(mark Action) bool {
		return slices.ContainsFunc(d.chains, func(chain Chain) bool {
			return slices.ContainsFunc(chain, func(other Action) bool { return changesClaim(other) == changesClaim(mark) })
		})
	})
}

// changesClaim names the claim that an action changes, empty if it changes none.
func changesClaim(action Action) string {
	switch a := action.(type) {
	case SetClaimOwners:
		return a.Claim.Name
	case UpdateClaim:
		return a.Claim.Name
	case MarkClaim:
		return a.Claim.Name
	case CreateMember, CreateClaims, DeleteClaim, CreateObject, ApplyObject, MarkObject, DeleteObject, SetObjectOwners, CreateAnchor, OwnAnchor:
	case RepairPod, PatchPod, SetPodConditions, DeletePod, UpdateInPlace, ResizePod, EndInPlace, AdoptPod, ReleasePod:
	case CreateRevision, RaiseRevision, AdoptRevision, DeleteRevision:
	}
	return ""
}

// assumedKeys adds to what plans take the objects of a template to give the keys that are generated.
func assumedKeys(template *v1.ObjectTemplate, all map[string]render.Output) {
	for _, key := range template.Generate {
		all[key.Key] = render.Output{}
	}
}
