// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The life of one object: created at revision 2, patched at 3, updated at 5, deleted
// at 6, and created anew at 8. Another object is created at 4.
func life() *Truth {
	return NewTruth([]Change{
		{Version: version("web", "u1", "w1", 2)},
		{Version: version("web", "u1", "w2", 3)},
		{Version: version("db", "u2", "w3", 4)},
		{Version: version("web", "u1", "w4", 5)},
		{Version: Version{Key: "web", Revision: 6}, Deleted: true},
		{Version: version("web", "u3", "w5", 8)},
	})
}

func version(key, uid, write string, revision int64) Version {
	return Version{Key: key, UID: types.UID(uid), Write: write, Revision: revision, Digest: "digest of " + write}
}

// told is what the clients of that life were told, each request after the other.
func told() []Operation {
	ops := []Operation{
		{Kind: Create, Write: "w1", Answer: Done, Got: version("web", "u1", "w1", 2)},
		{Kind: Create, Write: "x1", Answer: Exists},
		{Kind: Patch, Write: "w2", Answer: Done, Got: version("web", "u1", "w2", 3)},
		{Kind: Read, Answer: Done, Got: version("web", "u1", "w2", 3)},
		{Kind: Update, Write: "w4", BaseUID: "u1", BaseRevision: 3, Answer: Done, Got: version("web", "u1", "w4", 5)},
		{Kind: Update, Write: "x2", BaseUID: "u1", BaseRevision: 3, Answer: Conflict},
		{Kind: Delete, BaseUID: "u1", Answer: Done},
		{Kind: Read, Answer: Absent},
		{Kind: Patch, Write: "x3", Answer: Absent},
		{Kind: Create, Write: "w5", Answer: Done, Got: version("web", "u3", "w5", 8)},
		{Kind: Delete, BaseUID: "u1", Answer: Conflict},
		{Kind: Read, Answer: Done, Got: version("web", "u3", "w5", 8)},
	}
	for i := range ops {
		ops[i].Key = "web"
		ops[i].Call, ops[i].Return = time.Duration(10*i), time.Duration(10*i+5)
	}
	other := Operation{Kind: Create, Key: "db", Write: "w3", Answer: Done, Got: version("db", "u2", "w3", 4), Return: 1}
	return append(ops, other)
}

func TestJudgements(t *testing.T) {
	tests := map[string]struct {
		change                  func([]Operation) []Operation
		wantLost, wantNotLinear int
	}{
		"a history as it was is in order": {func(o []Operation) []Operation { return o }, 0, 0},
		"an acknowledged write that the storage lacks is lost": {func(o []Operation) []Operation {
			o[2].Write, o[2].Got.Write = "gone", "gone"
			return append(o, Operation{Kind: Patch, Write: "w2", Key: "web", Answer: Unknown})
		}, 1, 1},
		"an acknowledged write of another content is lost": {func(o []Operation) []Operation {
			o[2].Got.Digest = "other"
			return o
		}, 1, 0},
		"an acknowledged deletion that the storage lacks is lost": {func(o []Operation) []Operation {
			return append(o, Operation{Kind: Delete, Key: "db", BaseUID: "u2", Answer: Done, Call: 5, Return: 6})
		}, 1, 0},
		"a write that nobody asked for is found": {func(o []Operation) []Operation {
			return slices.DeleteFunc(o, func(op Operation) bool { return op.Write == "w3" })
		}, 1, 0},
		"a deletion that nobody asked for is found": {func(o []Operation) []Operation {
			return slices.DeleteFunc(o, func(op Operation) bool { return op.Kind == Delete })
		}, 1, 1},
		"a read that misses an acknowledged object is not linearizable": {func(o []Operation) []Operation {
			o[3].Answer, o[3].Got = Absent, Version{}
			return o
		}, 0, 1},
		"a read that shows what was already replaced is not linearizable": {func(o []Operation) []Operation {
			o[3].Got = version("web", "u1", "w1", 2)
			return o
		}, 0, 1},
		"a read of what never was is found twice": {func(o []Operation) []Operation {
			o[3].Got = version("web", "u1", "never", 3)
			return o
		}, 1, 1},
		"an update of another version than its base is not linearizable": {func(o []Operation) []Operation {
			o[4].BaseRevision = 2
			return o
		}, 0, 1},
		"a conflict without a reason is not linearizable": {func(o []Operation) []Operation {
			o[5].BaseRevision = 5
			return o
		}, 0, 1},
		"a create of what exists is not linearizable": {func(o []Operation) []Operation {
			o[9].Call, o[9].Return = 1, 5
			o[0].Call, o[0].Return = 0, 0
			return o
		}, 0, 1},
		"a write of unknown outcome may have happened late": {func(o []Operation) []Operation {
			o[4].Answer, o[4].Got, o[4].Call, o[4].Return = Unknown, Version{}, 1, 2
			return o
		}, 0, 0},
		"a write of unknown outcome may never have happened": {func(o []Operation) []Operation {
			return append(o, Operation{Kind: Patch, Key: "web", Write: "x9", Answer: Unknown, Call: 20, Return: 30})
		}, 0, 0},
		"of two deletes of unknown outcome one happened": {func(o []Operation) []Operation {
			o[6].Answer, o[6].Call = Unknown, 50
			second := o[6]
			second.Call = 55
			return append(o, second)
		}, 0, 0},
		"a delete of unknown outcome beside an acknowledged one did not happen": {func(o []Operation) []Operation {
			second := o[6]
			second.Answer = Unknown
			return append(o, second)
		}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ops := test.change(told())
			if got := Lost(ops, life()); len(got) != test.wantLost {
				t.Errorf("lost: got %q, want %d", got, test.wantLost)
			}
			if got := NotLinearizable(ops, life(), time.Minute); len(got) != test.wantNotLinear {
				t.Errorf("not linearizable: got %q, want %d", got, test.wantNotLinear)
			}
		})
	}
}

func TestListsShowOneMoment(t *testing.T) {
	first, second, other := version("web", "u1", "w1", 2), version("web", "u1", "w2", 3), version("db", "u2", "w3", 4)
	tests := map[string]struct {
		list Snapshot
		want int
	}{
		"the state at its revision":                {Snapshot{4, []Version{other, second}}, 0},
		"the state at a revision of another kind":  {Snapshot{7, []Version{other}}, 0},
		"nothing, although there is an object":     {Snapshot{3, nil}, 1},
		"an object as it was before":               {Snapshot{4, []Version{other, first}}, 1},
		"an object that came after its revision":   {Snapshot{3, []Version{other, second}}, 1},
		"an object that was deleted, and one less": {Snapshot{7, []Version{second}}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Inconsistent([]Snapshot{test.list}, life()); len(got) != test.want {
				t.Errorf("got %q, want %d sentences", got, test.want)
			}
		})
	}
}
