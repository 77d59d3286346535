// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/identity"
)

// generatedNote names the Secrets that a claim or a pod was given, and the keys of a Secret.
const generatedNote = "apps.statefulset.dev/generated"

// restoreSecret puts a Secret back as it was.
func (h *host) restoreSecret(name string) {
	h.writes++
	key := keyOf(name)
	h.objects[key] = &Object{ObjectMeta: metav1.ObjectMeta{Name: key.Name, UID: "restored", ResourceVersion: fmt.Sprint(h.writes),
		Annotations: map[string]string{ownerNote: "web/" + string(h.set.UID), generatedNote: "password"}}}
}

// lostSecrets are those that somebody has been given, and that are gone, or about to be.
func (h *host) lostSecrets() (lost []identity.ObjectKey) {
	view := gather(h.world())
	for _, due := range view.everyObject() {
		there := h.objects[due.key]
		if due.generates && (there == nil || there.DeletionTimestamp != nil) && view.wasGiven(due.key.Name) {
			lost = append(lost, due.key)
		}
	}
	return lost
}
