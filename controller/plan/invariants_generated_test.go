// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"statefulset.dev/controller/plan/action"
)

func givenTo(object metav1.Object) []string {
	return strings.FieldsFunc(object.GetAnnotations()[generatedNote], func(r rune) bool { return r == ',' })
}

// wasGiven reports whether a claim or a pod names a Secret.
func (f evidence) wasGiven(secret string) bool {
	for _, claim := range f.Claims {
		if slices.Contains(givenTo(claim), secret) {
			return true
		}
	}
	for _, pod := range f.Pods {
		if slices.Contains(givenTo(pod), secret) {
			return true
		}
	}
	return false
}

// isKnown reports whether data may have been written with what was drawn for an object: a claim names it.
func (f evidence) isKnown(object *Object) bool {
	if len(givenTo(object)) == 0 {
		return false
	}
	for _, claim := range f.claims {
		if slices.Contains(givenTo(claim), object.Name) {
			return true
		}
	}
	return false
}

// hasPassword reports whether a Secret that exists has the key that is generated, as far as was read.
func (f evidence) hasPassword(due dueObject) bool {
	object := f.Objects[due.key]
	if !due.generates || object == nil || slices.Contains(givenTo(object), "password") {
		return true
	}
	output, read := object.Outputs["password"]
	return read && output.Missing == ""
}

// dueSecrets are those that a member is given, own ones and those of the set.
func (f evidence) dueSecrets(ordinal int) (names []string) {
	for _, due := range f.dueObjects(ordinal) {
		if due.generates {
			names = append(names, due.key.Name)
		}
	}
	return names
}

// generated: what is drawn is drawn for what nobody was given, is in no plan, and is told to claims and
// pods before these can know it.
func (j *judged) generated() {
	for _, act := range planned[action.CreateObject](j) {
		generates := act.Object.GetKind() == "Secret"
		switch {
		case generates && j.wasGiven(act.Object.GetName()):
			j.broke("drawn over data", "%s, and somebody was given it before", act)
		case generates != (len(act.Generate) == 1 && act.Generate[0].Key == "password" && act.Generate[0].Bytes == 24 &&
			slices.Equal(givenTo(act.Object), []string{"password"})):
			j.broke("draws", "%s draws %v", act, act.Generate)
		}
		j.holdsNothing(act, act.Object)
	}
	for _, act := range planned[action.ApplyObject](j) {
		j.holdsNothing(act, act.Object)
	}
	for _, act := range planned[action.CreateMember](j) {
		j.givenBefore(act)
	}
	for _, act := range planned[action.MarkClaim](j) {
		j.forgetsNothing(act)
	}
	j.secretsFirst()
	if lacks := j.untoldClaims(); len(lacks) > 0 && j.undisturbed() && len(planned[action.MarkClaim](j)) == 0 && !j.changesClaims() {
		j.broke("tells claims", "%v", lacks)
	}
}

func (j *judged) holdsNothing(act action.Action, object *unstructured.Unstructured) {
	for _, field := range []string{"data", "stringData"} {
		if _, has := object.Object[field]; has && object.GetKind() == "Secret" {
			j.broke("values in plans", "%s has %s", act, field)
		}
	}
}

// givenBefore: a pod is created when its claims name the Secrets that it is given, and does itself.
func (j *judged) givenBefore(act action.CreateMember) {
	holders := []metav1.Object{act.Pod}
	for _, claim := range act.Claims {
		holders = append(holders, claim)
	}
	for _, template := range j.Set.Spec.VolumeClaimTemplates {
		if claim := j.claims[template.Name+"-"+act.Pod.Name]; claim != nil {
			holders = append(holders, claim)
		}
	}
	for _, holder := range holders {
		for _, secret := range j.dueSecrets(act.Ordinal) {
			if !slices.Contains(givenTo(holder), secret) {
				j.broke("given", "%s, and %s says that it was given %v, without %s", act, holder.GetName(), givenTo(holder), secret)
			}
		}
	}
}

// forgetsNothing: a claim goes on naming what it was given before.
func (j *judged) forgetsNothing(act action.MarkClaim) {
	now, marks := act.Annotations[generatedNote]
	if !marks {
		return
	}
	for _, secret := range givenTo(j.claims[act.Claim.Name]) {
		if now == nil || !slices.Contains(strings.Split(*now, ","), secret) {
			j.broke("forgets", "%s, which was given %v", act, givenTo(j.claims[act.Claim.Name]))
		}
	}
}

// secretsFirst: what is drawn for a member is drawn before its other objects are made.
func (j *judged) secretsFirst() {
	for _, chain := range j.plan.Chains {
		others := false
		for _, act := range chain {
			create, makes := act.(action.CreateObject)
			if makes && create.Object.GetKind() == "Secret" && others {
				j.broke("secrets first", "%v", chain)
			}
			others = others || makes && create.Object.GetKind() != "Secret"
		}
	}
}

// untoldClaims are those of members with a pod that do not name the Secrets that are there.
func (f evidence) untoldClaims() (lacks []string) {
	for _, ordinal := range f.ordinals {
		for _, due := range f.dueObjects(ordinal) {
			for _, template := range f.Set.Spec.VolumeClaimTemplates {
				claim := f.claims[template.Name+"-"+f.podName(ordinal)]
				if f.member(ordinal) != nil && claim != nil && due.generates && f.isUsable(due) && !slices.Contains(givenTo(claim), due.key.Name) {
					lacks = append(lacks, claim.Name+" does not say that it was given "+due.key.Name)
				}
			}
		}
	}
	return lacks
}
