//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
)

// TestMembersAreReachedAtTheAddressesThatTheyAreTold reads from a member at what address it says that it
// is reached, inside the cluster and at a node, and has another pod ask there.
func TestMembersAreReachedAtTheAddressesThatTheyAreTold(t *testing.T) {
	forOurs(t, "members are reached at the addresses, and at the ports of nodes, that they were told", func(t *testing.T, k kind) {
		e := newExample(t, "db", "services")
		e.apply(t, "addresses.yaml")
		e.awaitReady(t, 3)
		services := e.kept(t, "services")
		if len(services) != 6 {
			t.Errorf("the set has made %v, want two Services for each of three members", services)
		}
		e.asker(t)
		for ordinal := range 3 {
			e.awaitReachedAsTold(t, ordinal)
		}

		before := e.pod(t, 1)
		e.patch(t, `{"spec":{"template":{"metadata":{"annotations":{"update":"1"}}}}}`)
		e.awaitReady(t, 3)
		after := e.pod(t, 1)
		for _, output := range []string{"ADDRESS", "NODE_PORT"} {
			was, is := before.Annotations[v1.OutputAnnotationPrefix+output], after.Annotations[v1.OutputAnnotationPrefix+output]
			if before.UID == after.UID || was == "" || is != was {
				t.Errorf("%s of member 1: got %q in pod %s, want %q in another pod than %s", output, is, after.UID, was, before.UID)
			}
		}
		e.scale(t, 1)
		e.scale(t, 3)
		if now := e.kept(t, "services"); !maps.Equal(now, services) {
			t.Errorf("after members left and came back the Services are %v, want %v", now, services)
		}
		e.awaitReachedAsTold(t, 2)
	})
}

// awaitReachedAsTold asks at the two addresses that a member was told, until it answers that it was told these.
func (e *exampleSet) awaitReachedAsTold(t *testing.T, ordinal int) {
	t.Helper()
	pod := e.pod(t, ordinal)
	inside := pod.Annotations[v1.OutputAnnotationPrefix+"ADDRESS"] + ":8000"
	outside := pod.Status.HostIP + ":" + pod.Annotations[v1.OutputAnnotationPrefix+"NODE_PORT"]
	for _, address := range []string{inside, outside} {
		e.expectAnswer(t, "http://"+address+"/", fmt.Sprintf("%s %s %s\n", pod.Name, inside, outside))
	}
}
