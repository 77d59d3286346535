//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/faults/sim/model"
)

// operation is one request, in words that both sides understand.
type operation struct {
	verb     string
	resource schema.GroupVersionResource
	name     string
	// uid and version say which of those that are known the request names: "current",
	// "former", "wrong", or nothing.
	uid, version string
	// app is the value of a label, and shown whether the watch selects the object.
	app   string
	shown bool
	// held adds a finalizer.
	held bool
	// node is the node of a new pod.
	node string
	// owned gives the object an owner, by the patch that how names.
	owned bool
	how   string
	// grace are the seconds of a delete, negative for the usual ones.
	grace int64
}

func (o operation) String() string {
	return fmt.Sprintf("%s %s %s %s: uid %q, version %q, app %q, shown %t, held %t, node %q, owned %t, grace %d",
		o.verb, o.how, o.resource.Resource, o.name, o.uid, o.version, o.app, o.shown, o.held, o.node, o.owned, o.grace)
}

// draw draws the operations of a sequence, on few objects, so that they meet. Their
// names begin with a prefix that nobody else uses.
func draw(seed uint64, prefix string) []operation {
	rng := rand.New(rand.NewPCG(seed, 7))
	all := make([]operation, 0, 25)
	for range cap(all) {
		all = append(all, drawOne(rng, prefix))
	}
	return all
}

func drawOne(rng *rand.Rand, prefix string) operation {
	of := func(words ...string) string { return words[rng.IntN(len(words))] }
	resources := []schema.GroupVersionResource{
		model.Pods, model.Pods, model.Pods, model.Revisions, model.Revisions, model.Claims, model.Leases}
	o := operation{
		resource: resources[rng.IntN(len(resources))], name: fmt.Sprintf("%s-%d", prefix, rng.IntN(2)),
		verb: of("create", "create", "get", "patch", "patch", "patch", "status", "delete", "delete", "list"),
		uid:  of("", "current", "current", "current", "former", "wrong"), version: of("", "current", "current", "current", "former"),
		app: of("a", "b"), shown: rng.IntN(5) > 0, held: rng.IntN(4) == 0, node: of("", "nowhere"), owned: rng.IntN(2) == 0,
		how: of("labels", "owners", "add owner", "drop owner", "finalizers", "revision"), grace: []int64{-1, -1, 0, 5}[rng.IntN(4)],
	}
	switch {
	case o.resource == model.Claims && o.verb != "create":
		o.verb = "get"
	case o.verb == "status" && o.resource != model.Pods:
		o.verb = "update"
	case o.verb == "patch" && o.how == "revision" && o.resource != model.Revisions:
		o.how = "labels"
	}
	if o.verb == "update" && o.resource != model.Leases {
		o.verb = "patch"
	}
	return o
}
