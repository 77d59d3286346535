//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"time"
)

func updateCase() benchCase {
	return benchCase{
		name: "update", title: "the template of a set of 50 members changes, and they are recreated one after the other",
		sides:   append(controllers(), bareClient()),
		results: withHostWrites(2, perMember(1.6)),
		take:    func(t *turn) samples { return t.update(t.size(50)) },
	}
}

// update measures from the request for the change until the last new pod is Ready.
func (t *turn) update(n int) samples {
	t.bringUp(n)
	begun := time.Now()
	if t.bare() {
		t.bareUpdate(set("db", n), n)
	} else {
		t.change("db", `{"spec":{"template":{"metadata":{"annotations":{"bench":"changed"}}}}}`)
	}
	took := t.await(&t.pods.ready, 2*n).Sub(begun)
	return t.addWrites(samples{"time": milliseconds(took) / float64(n)}, n)
}

func scaleDownCase() benchCase {
	return benchCase{
		name: "scale-down", title: "a set of 100 members is scaled to none, one after the other",
		sides:   append(controllers(), bareClient()),
		results: withHostWrites(1, perMember(2.5)),
		take:    func(t *turn) samples { return t.scaleDown(t.size(100)) },
	}
}

// scaleDown measures from the request for the change until the last pod is gone.
func (t *turn) scaleDown(n int) samples {
	t.bringUp(n)
	begun := time.Now()
	if t.bare() {
		t.bareScaleDown(n)
	} else {
		t.change("db", `{"spec":{"replicas":0}}`)
	}
	took := t.await(&t.pods.gone, n).Sub(begun)
	return t.addWrites(samples{"time": milliseconds(took) / float64(n)}, n)
}

// bringUp creates the set that is to be changed. What that costs is not counted.
func (t *turn) bringUp(n int) {
	t.Helper()
	if t.bare() {
		t.bareOrdered(set("db", n), n)
	} else {
		t.create(set("db", n))
	}
	t.await(&t.pods.ready, n)
	t.settle(t.T)
	t.audit.mark(t.T)
}
