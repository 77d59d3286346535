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

// LacksKey is what an output is missing for a key that a Secret does not have. The outputs of a
// Secret from a template that generates are its keys, without their values.
const LacksKey = "there is no such key"

// findUsedSecrets finds the generated Secrets that a claim or a pod of the set uses: data may have
// been written with them. It also puts the templates into the order in which objects are created.
func (o *supportingObjects) findUsedSecrets() {
	o.inCreationOrder = o.templates
	if !slices.ContainsFunc(o.templates, identity.Object.Generates) {
		return
	}
	o.retainRecordedSecrets()
	o.inCreationOrder = slices.Clone(o.templates)
	slices.SortStableFunc(o.inCreationOrder, func(a, b identity.Object) int {
		return cmp.Compare(boolToInt(b.Generates()), boolToInt(a.Generates()))
	})
	o.usedSecrets = map[string]bool{}
	for name := range o.claimBySecret {
		o.usedSecrets[name] = true
	}
	for _, pod := range o.world.Pods {
		for _, name := range identity.GeneratedOf(pod) {
			o.usedSecrets[name] = true
		}
	}
}

// findClaimsWithSecrets finds, by the names of generated Secrets, the first claim of the set that
// records each, whether or not the set still has the template of that claim.
func (o *supportingObjects) findClaimsWithSecrets() {
	if !slices.ContainsFunc(o.world.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return len(t.Generate) > 0 }) &&
		len(identity.RemovedTemplates(&o.world.Set.Status)) == 0 {
		return
	}
	o.claimBySecret = map[string]string{}
	for _, claim := range slices.Concat(o.world.Claims, o.world.ClaimsWithSecrets) {
		for _, secret := range identity.GeneratedOf(claim) {
			if first := o.claimBySecret[secret]; first == "" || claim.Name < first {
				o.claimBySecret[secret] = claim.Name
			}
		}
	}
}

// claimRecording is a claim whose data may have been written with the generated values of an
// object, empty if there is none.
func (o *supportingObjects) claimRecording(object *Object) string {
	if object.Annotations[v1.GeneratedAnnotation] == "" {
		return ""
	}
	return o.claimBySecret[object.Name]
}

func asLongAs(claim string) string { return "as long as claim " + claim + " exists" }

// retainRecordedSecrets retains the Secrets of a template when the set is deleted, as long as a
// claim records one of them: claims of removed templates stay, and a later set of the same name
// uses them again.
func (o *supportingObjects) retainRecordedSecrets() {
	if !slices.ContainsFunc(o.templates, func(t identity.Object) bool { return t.Generates() && t.GoesWithSet() }) {
		return
	}
	known := map[string]bool{}
	for key, object := range o.world.Objects {
		if key.Group == "" && key.Kind == "Secret" && o.claimRecording(object) != "" {
			known[object.Labels[v1.ObjectTemplateLabel]] = true
		}
	}
	for i, template := range o.templates {
		if template.Generates() && known[template.Template().Name] {
			o.templates[i] = template.Staying()
		}
	}
}

// isLost reports whether an object that does not exist is a Secret that must not be generated
// again.
func (o *supportingObjects) isLost(s *supportingObject) bool {
	return s.template.Generates() && o.usedSecrets[s.key.Name]
}

// lost says what to do about a Secret that no longer exists.
func (s supportingObject) lost() (word, message string) {
	todo := fmt.Sprintf("restore it, or create it by hand with %s", action.KeysText(s.template.Template().Generate))
	if s.template.Template().ExistingPolicy == v1.RefuseExistingObject {
		todo = "restore it with its labels and annotations"
	}
	return v1.ReasonGeneratedSecretMissing, s.key.String() + " is gone: " + todo
}

// withKeys is a new object with an annotation that names its generated keys.
func (s supportingObject) withKeys(made *unstructured.Unstructured) *unstructured.Unstructured {
	if s.template.Generates() {
		annotations := made.GetAnnotations()
		annotations[v1.GeneratedAnnotation] = strings.Join(action.KeyNames(s.template.Template().Generate), ",")
		made.SetAnnotations(annotations)
	}
	return made
}

// lostSecrets are the Secrets to search for in the cluster, in the order of the templates.
func (o *supportingObjects) lostSecrets() (all []identity.ObjectKey) {
	if len(o.usedSecrets) == 0 {
		return nil
	}
	for _, template := range o.templates {
		for s := range o.objectsOf(template) {
			if s.state == objectLost {
				all = append(all, s.key)
			}
		}
	}
	return all
}

// hasKeys reports whether an existing Secret has the keys that are generated, and records what is
// missing if not. The annotation of the Secret names the keys with which it was created. To find
// others, the Secret is read.
func (d *draft) hasKeys(f *facts, m member, s supportingObject) bool {
	made := identity.GeneratedOf(s.found)
	for _, key := range s.template.Template().Generate {
		if slices.Contains(made, key.Key) {
			continue
		}
		switch output, read := s.found.Outputs[key.Key]; {
		case s.found.Outputs == nil:
			d.reads.needs(s.read())
			d.waitForObject(v1.ReasonWaitingForObjects, "%s: reading the keys of %s", f.podName(m), s.key)
			return false
		case read && output.Missing == "":
		case output.Missing == LacksKey:
			d.stall(v1.ReasonGeneratedSecretMissing, "%s has no key %s: add it; the controller adds no keys to an existing Secret", s.key, key.Key)
			return false
		default:
			d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s: %s", f.podName(m), s.key, words.SanitizeText(output.Missing))
			return false
		}
	}
	return true
}

// secretsOf are the names of the generated Secrets of a member, including those of the set: all of
// them, or only those that exist.
func (o *supportingObjects) secretsOf(m member, all bool) (names []string) {
	if o.usedSecrets == nil {
		return nil
	}
	for _, template := range o.inCreationOrder {
		if !template.Generates() {
			break
		}
		s := o.objectOf(template, m.ordinal)
		if all || s.state == objectPresent || s.state == objectOutdated || s.state == objectUnmanaged {
			names = append(names, s.key.Name)
		}
	}
	return names
}

// recordSecretsOf plans that the existing claims of a member record its generated Secrets, before a
// pod can write data with them.
func recordSecretsOf(f *facts, m member, names []string) (marks []action.Action) {
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		claim := f.claimOf(m, i)
		if claim == nil {
			continue
		}
		known := identity.GeneratedOf(claim)
		if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) }) {
			text := identity.GeneratedText(claim, names)
			marks = append(marks, action.MarkClaim{
				Ordinal: m.ordinal, Claim: action.Exact(claim), As: action.ClaimUsesSecrets,
				Annotations: map[string]*string{v1.GeneratedAnnotation: &text}})
		}
	}
	return marks
}

func withSecretsRecorded(claims []*corev1.PersistentVolumeClaim, secrets []string) []*corev1.PersistentVolumeClaim {
	for i := range claims {
		claims[i] = identity.ClaimUsingSecrets(claims[i], secrets)
	}
	return claims
}

// recordSecrets plans that the claims of members that have a pod record the generated Secrets of
// these members: a template may be newer than the pod. It blocks nothing.
func recordSecrets(f *facts, d *draft) verdict {
	if f.supporting.usedSecrets == nil || f.world.Set.DeletionTimestamp != nil {
		return proceed
	}
	told := 0
	for _, m := range f.members {
		if m.pod == nil {
			continue
		}
		for _, mark := range d.onTheirOwn(recordSecretsOf(f, m, f.supporting.secretsOf(m, false))) {
			if told == mostChanged {
				return proceed // the next sync continues
			}
			told++
			d.finally = append(d.finally, action.Chain{mark})
		}
	}
	return proceed
}

// onTheirOwn are the marks for claims that this plan changes in no other way. After such a change
// the claim has another version, and a later sync marks it.
func (d *draft) onTheirOwn(marks []action.Action) []action.Action {
	return slices.DeleteFunc(marks, func(mark action.Action) bool {
		return slices.ContainsFunc(d.chains, func(chain action.Chain) bool {
			return slices.ContainsFunc(chain, func(other action.Action) bool { return changedClaim(other) == changedClaim(mark) })
		})
	})
}

// changedClaim names the claim that an action changes, empty if it changes none.
func changedClaim(act action.Action) string {
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

// assumedKeys adds the generated keys of a template to the outputs that plans assume for its
// objects.
func assumedKeys(template *v1.ObjectTemplate, all map[string]render.Output) {
	for _, key := range template.Generate {
		all[key.Key] = render.Output{}
	}
}
