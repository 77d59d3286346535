//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// drawnAgain finds Secrets of the set whose texts have changed, those that were made although a claim or
// a pod was there that had been given one of the name, and those that the controller wanted deleted. What
// else it asks of Secrets is not looked at: the host does not log what is said of them.
func drawnAgain(j judged) []violation {
	var found []violation
	drawn, holders := map[string]map[string][]byte{}, map[string]metav1.Object{}
	for _, e := range j.requests {
		if e.resource == secrets && (e.verb == "delete" || e.verb == "deletecollection") {
			found = append(found, violation{
				drawnOnce, fmt.Sprintf("%s %s at %s: got a request that no set has asked for", e.verb, e.name, e.at.Format(time.RFC3339Nano))})
		}
	}
	// Each kind has a watch of its own, so records are not in the order of what they tell.
	byVersion := func(a, b record) int { return cmp.Compare(a.version, b.version) }
	for _, r := range slices.SortedStableFunc(slices.Values(j.records), byVersion) {
		switch name := r.kind + " " + r.object.GetName(); {
		case (r.kind == pods || r.kind == claims) && r.verb == gone:
			delete(holders, name)
		case r.kind == pods || r.kind == claims:
			holders[name] = r.object
		}
		secret, is := r.object.(*corev1.Secret)
		if !is || !scenarios.IsOf(setName, secret) {
			continue
		}
		switch {
		case r.verb == gone:
			continue
		case r.verb == created:
			for name, holder := range holders {
				if scenarios.GivenTo(holder, secret.Name) {
					found = append(found, violation{
						drawnOnce, fmt.Sprintf("%s was created at version %d: got %s, which had been given one already", secret.Name, r.version, name)})
				}
			}
		case !maps.EqualFunc(drawn[secret.Name], secret.Data, bytes.Equal):
			found = append(found,
				violation{drawnOnce, fmt.Sprintf("%s at version %d: got other texts than those that were drawn", secret.Name, r.version)})
		}
		drawn[secret.Name] = secret.Data
	}
	return found
}

// TestTheJudgeOfSecrets gives it histories that nobody need have caused.
func TestTheJudgeOfSecrets(t *testing.T) {
	secret := func(text string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-0-token", Annotations: map[string]string{v1.OwnerAnnotation: "web/set"}},
			Data: map[string][]byte{"token": []byte(text)}}
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-web-0", Annotations: map[string]string{v1.GeneratedAnnotation: "web-0-sst,web-0-token"}}}
	for sentence, tc := range map[string]struct {
		play func(*past)
		want int
	}{
		"a Secret is made, a claim is given it, and it is marked anew": {func(p *past) {
			p.happens(secrets, created, secret("a"))
			p.happens(claims, created, claim)
			p.happens(secrets, changed, secret("a"))
		}, 0},
		"a Secret gets other texts": {func(p *past) {
			p.happens(secrets, created, secret("a"))
			p.happens(secrets, changed, secret("b"))
		}, 1},
		"a Secret that a claim was given is lost, and drawn anew": {func(p *past) {
			p.happens(secrets, created, secret("a"))
			p.happens(claims, created, claim)
			p.happens(secrets, gone, secret("a"))
			p.happens(secrets, created, secret("b"))
		}, 1},
		"a Secret is drawn anew when the claim that was given it is gone": {func(p *past) {
			p.happens(secrets, created, secret("a"))
			p.happens(claims, created, claim)
			p.happens(secrets, gone, secret("a"))
			p.happens(claims, gone, claim)
			p.happens(secrets, created, secret("b"))
		}, 0},
		"a Secret is deleted by the controller": {func(p *past) {
			p.happens(secrets, created, secret("a"))
			p.requests = append(p.requests, entry{verb: "delete", resource: secrets, name: "web-0-token", code: 200})
		}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newPast()
			tc.play(p)
			if got := drawnAgain(p.judged); len(got) != tc.want {
				t.Errorf("got the violations %v, want %d", got, tc.want)
			}
		})
	}
}
