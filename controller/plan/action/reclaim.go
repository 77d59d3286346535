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

// ClaimMark says what a mark on a claim records.
type ClaimMark string

// The marks on claims.
const (
	ClaimOwned       ClaimMark = "owned"   // a pod of the set mounts it
	ClaimRetired     ClaimMark = "retired" // its member was removed: the delay starts
	ClaimKept        ClaimMark = "kept"    // its member is back, or claims are no longer deleted
	ClaimUsesSecrets ClaimMark = "given"   // its member uses generated Secrets
)

// MarkClaim records on a claim what its deletion, or the generation of Secrets, depends on.
type MarkClaim struct {
	Ordinal int
	Claim   Target
	As      ClaimMark
	// Annotations are the values to set by key, nil for a key to remove.
	Annotations map[string]*string
}

// DeleteClaim deletes the claim of a member that was removed long enough ago, and so its data.
type DeleteClaim struct {
	Ordinal int
	Claim   Target
	// Retired is when the controller found the member removed, and Due the time from which the
	// claim may be deleted.
	Retired, Due time.Time
}

func (a MarkClaim) String() string {
	text := fmt.Sprintf("mark claim %s as %s", a.Claim.Name, a.As)
	if secrets := a.Annotations[v1.GeneratedAnnotation]; secrets != nil {
		text += " " + words.SanitizeText(strings.ReplaceAll(*secrets, ",", ", "))
	}
	return text
}

func (a DeleteClaim) String() string {
	return fmt.Sprintf("delete claim %s (member removed by %s)", a.Claim.Name, words.Timestamp(a.Retired))
}

func (MarkClaim) action()   {}
func (DeleteClaim) action() {}

// Apply changes a claim as the action says.
func (a MarkClaim) Apply(claim *corev1.PersistentVolumeClaim) {
	claim.Annotations = patched(claim.Annotations, a.Annotations)
}
