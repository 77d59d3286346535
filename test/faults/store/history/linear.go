// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"
	"k8s.io/apimachinery/pkg/types"
)

// NotLinearizable returns one sentence for each object whose requests have no order that explains
// all responses, or for which this could not be decided in the given time.
func NotLinearizable(operations []Operation, truth *Truth, perObject time.Duration) []string {
	byKey := map[string][]porcupine.Operation{}
	for _, op := range settled(operations, truth) {
		byKey[op.Key] = append(byKey[op.Key], porcupine.Operation{
			ClientId: op.Client, Input: op, Output: op, Call: int64(op.Call), Return: int64(op.Return),
		})
	}
	var found []string
	for key, ops := range byKey {
		switch porcupine.CheckOperationsTimeout(register(), ops, perObject) {
		case porcupine.Ok:
		case porcupine.Illegal:
			found = append(found, fmt.Sprintf("no order of the %d requests for %s explains their responses", len(ops), key))
		case porcupine.Unknown:
			found = append(found, fmt.Sprintf("no order of the %d requests for %s was found or excluded in %s", len(ops), key, perObject))
		}
	}
	return found
}

// settled replaces the unknown outcomes with those of the storage: a write that is stored happened
// at any time after its request, and any other write never happened.
func settled(operations []Operation, truth *Truth) []Operation {
	acknowledged := map[types.UID]bool{}
	for _, op := range operations {
		if op.Kind == Delete && op.Answer == Done {
			acknowledged[op.BaseUID] = true
		}
	}
	var out []Operation
	candidates := map[types.UID]Operation{}
	for _, op := range operations {
		switch {
		case op.Answer != Unknown:
			out = append(out, op)
		case op.Kind == Delete:
			if first, ok := candidates[op.BaseUID]; !ok || op.Call < first.Call {
				candidates[op.BaseUID] = op
			}
		case op.Kind != Read:
			if stored, ok := truth.byWrite[op.Write]; ok {
				op.Answer, op.Got, op.Return = Done, stored, math.MaxInt64
				out = append(out, op)
			}
		}
	}
	// Of several deletes of one object that might have happened, one did. The earliest request
	// could have been carried out whenever any of them could.
	for uid, op := range candidates {
		if _, ok := truth.deletions[uid]; ok && !acknowledged[uid] {
			op.Answer, op.Return = Done, math.MaxInt64
			out = append(out, op)
		}
	}
	return out
}

// object is the state of one object in the model. A deleted one still has the revision that its
// successor must exceed.
type object struct {
	exists   bool
	uid      types.UID
	write    string
	revision int64
}

// register returns the model of one object: the response that each request must have got if it was
// carried out in a given state, and the state after it.
func register() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return object{} },
		Step: func(state, input, _ any) (bool, any) {
			op, ok := input.(Operation)
			before, isObject := state.(object)
			if !ok || !isObject {
				return false, state
			}
			after, ok := step(before, op)
			return ok, after
		},
	}
}

func step(before object, op Operation) (object, bool) {
	switch op.Answer {
	case Absent:
		return before, !before.exists
	case Exists:
		return before, before.exists
	case Conflict:
		return before, conflicts(before, op)
	case Done:
		return carryOut(before, op)
	default:
		return before, false
	}
}

// conflicts reports whether a write may be refused. The server retries a write without
// preconditions, so that may be refused at any time.
func conflicts(before object, op Operation) bool {
	switch op.Kind {
	case Update:
		return !before.exists || before.uid != op.BaseUID || before.revision != op.BaseRevision
	case Delete:
		return before.exists && before.uid != op.BaseUID
	default:
		return true
	}
}

func carryOut(before object, op Operation) (object, bool) {
	after := object{exists: true, uid: op.Got.UID, write: op.Got.Write, revision: op.Got.Revision}
	switch op.Kind {
	case Read:
		return before, before == after
	case Create:
		return after, !before.exists && after.revision > before.revision
	case Update:
		bound := before.uid == op.BaseUID && before.revision == op.BaseRevision
		return after, before.exists && bound && after.uid == before.uid && after.revision > before.revision
	case Patch:
		return after, before.exists && after.uid == before.uid && after.revision > before.revision
	default:
		return object{revision: before.revision}, before.exists && before.uid == op.BaseUID
	}
}
