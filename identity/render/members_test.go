// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// membersFrom is a source of so many members, whose ordinals begin with some.
func membersFrom(first, replicas int) Source {
	of := source(v1.MemberIdentity{})
	of.Replicas = replicas
	of.Desired = func() []v1.OrdinalRange {
		if replicas == 0 {
			return nil
		}
		return []v1.OrdinalRange{{First: int32(first), Last: new(int32(first + replicas - 1))}}
	}
	return of
}

func listing(t *testing.T, of Source, scope v1.ObjectScope, expression string) *Object {
	t.Helper()
	return objectOf(t, of, v1.ObjectTemplate{Scope: scope, Transforms: one("/data/x", expression)}, "{kind: ConfigMap}")
}

func TestMembersAreListed(t *testing.T) {
	holes := membersFrom(0, 3)
	holes.Desired = func() []v1.OrdinalRange { return []v1.OrdinalRange{{First: 1, Last: new(int32(2))}, {First: 7}} }
	named := membersFrom(0, 2)
	named.Identity = &v1.MemberIdentity{Values: map[string]string{Members: "mine"}}
	without := membersFrom(0, 2)
	without.ServiceName = ""
	const set, member = v1.SetObjectScope, v1.MemberObjectScope
	for sentence, test := range map[string]struct {
		of         Source
		scope      v1.ObjectScope
		expression string
		want       string // of what is rendered, or the error
	}{
		"by name and number, those that are wanted": {
			holes, set, "MEMBERS.map(m, '%s=%d,'.format([m.identity, m.ordinal])).join()", "db-1=1,db-2=2,db-7=7,"},
		"by address": {
			holes, member, "MEMBERS.filter(m, m.ordinal != ORDINAL).map(m, m.dnsName).join(',')", "db-1.peers.shop.svc,db-7.peers.shop.svc"},
		"as they are": {membersFrom(4, 1), set, "MEMBERS", "[map[dnsName:db-4.peers.shop.svc identity:db-4 ordinal:4]]"},
		"without an address if there is no Service": {without, set, "MEMBERS", "[map[identity:db-0 ordinal:0] map[identity:db-1 ordinal:1]]"},
		"though there are none":                     {membersFrom(0, 0), set, "MEMBERS.map(m, m.identity).join() + string(size(MEMBERS))", "0"},
		"in another order": {
			membersFrom(0, 3), set, "MEMBERS.sortBy(m, -m.ordinal).map(m, m.identity).join()", "db-2db-1db-0"},
		"one by one": {
			membersFrom(0, 3), set, "MEMBERS[1].dnsName + MEMBERS[?5].identity.orValue('none')", "db-1.peers.shop.svcnone"},
		"unless the user has the name":               {named, set, "MEMBERS + '!'", "mine!"},
		"but for the address if there is no Service": {without, set, "MEMBERS[0].dnsName", "error: 1:11: undefined field 'dnsName'"},
		"without other fields": {
			membersFrom(0, 3), set, "MEMBERS.map(m, m.address).join()", "error: 1:17: undefined field 'address'"},
		"with numbers that are no text": {membersFrom(0, 3), set, "MEMBERS.map(m, m.ordinal + 'x')",
			"error: 1:26: found no matching overload for '_+_' applied to '(int, string)'"},
		"and not made": {
			membersFrom(0, 3), set, "MEMBERS + [member{ordinal: 1}]", "error: 1:18: messages cannot be created; use a map"},
		"in objects of members up to a number": {membersFrom(0, 128), member, "size(MEMBERS)", "128"},
		"and not in those of more": {membersFrom(0, 129), member, "size(MEMBERS)",
			"error: MEMBERS has 129 members; at most 128 are allowed in an object of each member; use scope Set"},
		"in an object of the set up to a larger one": {membersFrom(0, 10000), set, "size(MEMBERS)", "10000"},
		"and not of more than that": {
			membersFrom(0, 10001), set, "size(MEMBERS)", "error: MEMBERS has 10001 members; at most 10000 are allowed"},
		"if that may not cost too much": {membersFrom(0, 10000), set, "MEMBERS.map(m, m.identity).join()",
			"error: may cost 151014, and all transforms together 151014; at most 100000 is allowed"},
		"if that is not too long":   {membersFrom(0, 2000), set, "MEMBERS", "error: gives more than 65536 bytes"},
		"only to who reads of them": {membersFrom(0, 1<<31-1), member, "'of MEMBERS'", "of MEMBERS"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, wrong := listing(t, test.of, test.scope, test.expression).Render(Member{Ordinal: 2})
			if text := valueOf(got, wrong); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

// What is made of entries costs as much as is counted: nothing looks into them that is not.
func TestWhatMembersAreGivenTo(t *testing.T) {
	const mixed = "members are mixed with other values; use their fields"
	refused := func(at, function string) string {
		return "error: 1:" + at + ": members cannot be passed to " + function + "; use their fields"
	}
	for expression, want := range map[string]string{
		"[MEMBERS] == [MEMBERS]":                                         refused("11", "=="),
		"MEMBERS[0] in MEMBERS":                                          refused("12", "in"),
		"size([MEMBERS, MEMBERS].distinct())":                            refused("33", "distinct"),
		"'%s'.format([[MEMBERS]])":                                       refused("12", "format"),
		"size(dyn(MEMBERS))":                                             refused("9", "dyn"),
		"type(MEMBERS)":                                                  refused("5", "type"),
		"[MEMBERS, 1]":                                                   "error: 1:1: " + mixed,
		"{'a': MEMBERS, 'b': 1}":                                         "error: 1:1: " + mixed,
		"true ? dyn(1) : MEMBERS":                                        "error: 1:6: " + mixed,
		"(MEMBERS + MEMBERS.reverse()).map(m, m.ordinal)":                "[0 1 2 2 1 0]",
		"MEMBERS.slice(1, 3).map(m, {'a': m})[1]['a'].identity":          "db-2",
		"MEMBERS.last().identity.orValue('')":                            "db-2",
		"MEMBERS[?7].?identity.orValue('none')":                          "none",
		"(size(MEMBERS) > 2 ? MEMBERS[2] : MEMBERS[0]).identity":         "db-2",
		"MEMBERS.exists(m, m.ordinal == 1 && m.dnsName.startsWith('d'))": "true",
		"[MEMBERS].map(all, all.filter(m, m.ordinal > 1))[0][0].ordinal": "2",
	} {
		t.Run(expression, func(t *testing.T) {
			got, wrong := listing(t, membersFrom(0, 3), v1.SetObjectScope, expression).Render(Member{})
			if text := valueOf(got, wrong); text != want {
				t.Errorf("got %s, want %s", text, want)
			}
		})
	}
}

// valueOf is what an object that lists members was made to say, or the error.
func valueOf(object map[string]any, wrong *Error) string {
	if wrong != nil {
		return "error: " + wrong.Detail
	}
	data, _ := object["data"].(map[string]any)
	return fmt.Sprint(data["x"])
}

func TestMembersAreNotForPods(t *testing.T) {
	of := membersFrom(0, 3)
	of.Identity = &v1.MemberIdentity{Transforms: one("/spec/priority", "size(MEMBERS)")}
	const want = "identity.transforms[0]: MEMBERS changes while pods run; use it in transforms of objectTemplates"
	if _, wrong := New(of).Pod(&corev1.PodTemplateSpec{}, Member{}); wrong == nil || wrong.Error() != want {
		t.Errorf("got %v, want %s", wrong, want)
	}
	text := objectOf(t, membersFrom(0, 3), v1.ObjectTemplate{Scope: v1.SetObjectScope}, "{data: {a: $(MEMBERS)}}")
	if got, wrong := text.Render(Member{}); wrong != nil || fmt.Sprint(got) != "map[data:map[a:$(MEMBERS)]]" || len(text.Unknown(5)) != 1 {
		t.Errorf("got %v, %v, %q, want the text as it is, and a warning", got, wrong, text.Unknown(5))
	}
}

// What is made from the list is another object when the list is another one, and no other is.
func TestInputsWithMembers(t *testing.T) {
	const lists, names = "MEMBERS.map(m, m.identity).join()", "SET"
	moved := membersFrom(0, 3)
	moved.ServiceName = "other"
	for sentence, test := range map[string]struct {
		expression string
		after      Source // of members 0 to 2 before
		same       bool
	}{
		"more members":             {lists, membersFrom(0, 4), false},
		"other members":            {lists, membersFrom(1, 3), false},
		"no members":               {lists, membersFrom(0, 0), false},
		"members at another name":  {lists, moved, false},
		"the same members":         {lists, membersFrom(0, 3), true},
		"members it does not list": {names, membersFrom(1, 4), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			of := func(s Source) string { return listing(t, s, v1.SetObjectScope, test.expression).Inputs(Member{}) }
			if before, after := of(membersFrom(0, 3)), of(test.after); (before == after) != test.same {
				t.Errorf("got %s, and then %s; want the same: %t", before, after, test.same)
			}
		})
	}
}

// Who does not read the list is not charged for it: nobody asks which members there are.
func TestMembersAreNotListedForNothing(t *testing.T) {
	of := membersFrom(0, 3)
	of.Desired = func() []v1.OrdinalRange {
		t.Error("it was asked which members there are")
		return nil
	}
	o := listing(t, of, v1.SetObjectScope, "REPLICAS")
	_, wrong := o.Render(Member{})
	if o.Inputs(Member{}) == "" || wrong != nil || o.ListsMembers() {
		t.Errorf("got %v, lists: %t, want an object that lists nobody", wrong, o.ListsMembers())
	}
}

// TestManyMembers: what a list of the largest size allows is done in no time.
func TestManyMembers(t *testing.T) {
	o := listing(t, membersFrom(0, mostMembers), v1.SetObjectScope,
		"MEMBERS.slice(9000, 9999).map(m, m.identity)[998] + string(size(MEMBERS))")
	begin := time.Now()
	got, wrong := o.Render(Member{})
	if wrong != nil || fmt.Sprint(got["data"]) != "map[x:db-999810000]" {
		t.Fatalf("got %.100v, %v", got, wrong)
	}
	const most = 2 * time.Second // a hundredth of it where nothing else runs
	if took := time.Since(begin); took > most {
		t.Errorf("took %s, want at most %s", took, most)
	}
}

// FuzzMembers: whatever an expression makes of the list, it is an error or the same every time.
func FuzzMembers(f *testing.F) {
	for _, expression := range []string{
		"MEMBERS", "MEMBERS.map(m, m.identity).join(',')", "MEMBERS[0]", "MEMBERS.filter(m, m.ordinal > 1)", "MEMBERS == MEMBERS",
		"MEMBERS + MEMBERS", "MEMBERS[0] == MEMBERS[1]",
		"MEMBERS.sortBy(m, m.dnsName)", "{'a': MEMBERS}", "string(MEMBERS)", "type(MEMBERS[0])", "MEMBERS.map(m, '%s'.format([m]))",
		"has(MEMBERS[0].x)", "[1].map(MEMBERS, MEMBERS)",
		"dyn(MEMBERS)[0].foo", "MEMBERS.flatten()", "MEMBERS.distinct()",
	} {
		f.Add(expression, uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, expression string, replicas uint8, forSet bool) {
		scope := v1.MemberObjectScope
		if forSet {
			scope = v1.SetObjectScope
		}
		render := func() string {
			o := listing(t, membersFrom(1, int(replicas)), scope, expression)
			got, wrong := o.Render(Member{Ordinal: 1})
			return strings.Join([]string{fmt.Sprint(got), fmt.Sprint(wrong), o.Inputs(Member{})}, "\n")
		}
		got := render()
		if again := render(); again != got {
			t.Fatalf("got %s, and then %s", got, again)
		}
		if most := 8 * mostResult; len(got) > most {
			t.Fatalf("got %d bytes, want at most %d", len(got), most)
		}
	})
}
