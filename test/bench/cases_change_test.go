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

func updateWideCase() benchCase {
	perMember := perMember(1.6)
	// The bare client knows one at a time only.
	perMember.Goals = perMember.Goals[:2]
	return benchCase{
		name: "update-wide", title: "the template of a set of 200 members changes, of which a tenth may be unavailable",
		sides:   controllers(),
		results: withHostWrites(2, perMember),
		take: func(t *turn) samples {
			return t.update(t.size(200), parallel, func(spec map[string]any) {
				spec["updateStrategy"] = map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": "10%"}}
			})
		},
	}
}

// update measures from the request for the change until the last new pod is Ready.
func (t *turn) update(n int, options ...option) samples {
	t.bringUp(n, options...)
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
func (t *turn) bringUp(n int, options ...option) {
	t.Helper()
	if t.bare() {
		t.bareOrdered(set("db", n), n)
	} else {
		t.create(set("db", n, options...))
	}
	t.await(&t.pods.ready, n)
	t.settle(t.T)
	t.audit.mark(t.T)
}
