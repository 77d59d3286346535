// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// ClaimMark says what is noted on a claim.
type ClaimMark string

// What is noted on claims.
const (
	ClaimOwned   ClaimMark = "owned"   // a pod of the set mounts it
	ClaimRetired ClaimMark = "retired" // its member was removed: the delay begins
	ClaimKept    ClaimMark = "kept"    // its member is back, or claims are not deleted any more
	ClaimGiven   ClaimMark = "given"   // its member has been given Secrets with random texts
)

// MarkClaim notes on a claim what its deletion, or the drawing of Secrets, rests on.
type MarkClaim struct {
	Ordinal int
	Claim   Target
	As      ClaimMark
	// Annotations are set; one that is nil is removed.
	Annotations map[string]*string
}

// DeleteClaim deletes the claim of a member that was removed long enough ago, and its data.
type DeleteClaim struct {
	Ordinal int
	Claim   Target
	// Retired is when the member was found to be removed, and Due since when the claim may be
	// deleted for that.
	Retired, Due time.Time
}

func (a MarkClaim) String() string {
	text := fmt.Sprintf("mark claim %s as %s", a.Claim.Name, a.As)
	if secrets := a.Annotations[v1.GeneratedAnnotation]; secrets != nil {
		text += " " + words.ForeignText(strings.ReplaceAll(*secrets, ",", ", "))
	}
	return text
}

func (a DeleteClaim) String() string {
	return fmt.Sprintf("delete claim %s (member removed by %s)", a.Claim.Name, words.Clock(a.Retired))
}

func (MarkClaim) action()   {}
func (DeleteClaim) action() {}

// Apply makes a claim what the action tells it to be.
func (a MarkClaim) Apply(claim *corev1.PersistentVolumeClaim) {
	claim.Annotations = patched(claim.Annotations, a.Annotations)
}
