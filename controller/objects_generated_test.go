// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"statefulset.dev/identity"
)

func TestSecretsThatAreGoneAreSoughtNowAndThen(t *testing.T) {
	term, _, set, _ := newVaultTerm(t)
	known, now := term.memory.of(cache.MetaObjectToName(set)), time.Unix(1000, 0)
	var lost []identity.ObjectKey
	for i := range mostSought + 10 {
		lost = append(lost, identity.ObjectKey{Kind: "Secret", Name: fmt.Sprintf("web-%d-auth", i)})
	}
	known.seekLost(lost, now)
	if got := len(known.objects.taken); got != mostSought || known.nextLookAtObjects() == 0 {
		t.Errorf("%d Secrets are sought, and the next look is in %s, want %d and some time", got, known.nextLookAtObjects(), mostSought)
	}
	known.objects.taken = nil // none was found
	known.seekLost(lost, now.Add(time.Second))
	if got := len(known.objects.taken); got != 0 || known.nextLookAtObjects() == 0 {
		t.Errorf("a second later, %d Secrets are sought, and the next look is in %s, want none and some time", got, known.nextLookAtObjects())
	}
	known.seekLost(lost, now.Add(unlabeledPodsInterval))
	if got := len(known.objects.taken); got != mostSought {
		t.Errorf("after a while %d Secrets are sought, want %d", got, mostSought)
	}
	known.objects.taken = nil
	known.seekLost(nil, now.Add(time.Hour))
	if next := known.nextLookAtObjects(); next != 0 {
		t.Errorf("when none is gone, the next look is in %s, want never", next)
	}
}
