// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// pods are those of members in a host, with false for those that serve nobody.
type pods map[int]bool

func (p pods) Members(_ context.Context, _ *v1.StatefulSet, tell func(int, types.UID, string, bool)) error {
	for ordinal, serves := range p {
		tell(ordinal, uidOf(ordinal), "", serves)
	}
	return nil
}

func uidOf(ordinal int) types.UID { return types.UID(fmt.Sprintf("pod-%d", ordinal)) }

// silent is a host that does not answer.
type silent struct{}

func (silent) Members(context.Context, *v1.StatefulSet, func(int, types.UID, string, bool)) error {
	return errors.New("no answer")
}

func first(ordinals ...int32) (ranges []v1.OrdinalRange) {
	for _, ordinal := range ordinals {
		ranges = append(ranges, v1.OrdinalRange{First: ordinal})
	}
	return ranges
}

func entries(ordinals ...int32) (all []v1.MemberReplacement) {
	for _, ordinal := range ordinals {
		all = append(all, v1.MemberReplacement{Ordinal: ordinal, PodUID: uidOf(int(ordinal))})
	}
	return all
}

func TestReplacing(t *testing.T) {
	allServe := pods{0: true, 1: true, 2: true}
	many := make([]v1.OrdinalRange, 33)
	for i := range many {
		many[i].First = int32(i)
	}
	const invalid, modified = `StatefulSetReplacement.apps.statefulset.dev "web" is invalid: `,
		`Operation cannot be fulfilled on statefulsets.apps.statefulset.dev "web": `
	for sentence, test := range map[string]struct {
		set    func(*v1.StatefulSet)
		before []v1.MemberReplacement
		host   Members
		name   string
		ask    v1.StatefulSetReplacement
		admit  error
		dryRun bool
		want   []v1.MemberReplacement
		err    string
	}{
		"a member": {ask: v1.StatefulSetReplacement{Ordinals: first(2)}, want: entries(2)},
		"several members": {
			ask: v1.StatefulSetReplacement{Ordinals: []v1.OrdinalRange{{First: 1, Last: new(int32(2))}, {First: 0}}}, want: entries(1, 2, 0)},
		"one besides another": {before: entries(1), ask: v1.StatefulSetReplacement{Ordinals: first(2)}, want: entries(1, 2)},
		"one twice":           {before: entries(2), ask: v1.StatefulSetReplacement{Ordinals: first(2)}, want: entries(2)},
		"one whose pod is another by now": {
			before: []v1.MemberReplacement{{Ordinal: 2, PodUID: "former"}}, ask: v1.StatefulSetReplacement{Ordinals: first(2)}, want: entries(2)},
		"a member, if it were stored": {ask: v1.StatefulSetReplacement{Ordinals: first(2)}, dryRun: true},
		"one that is unavailable": {
			host: pods{0: true, 1: true, 2: false}, ask: v1.StatefulSetReplacement{Ordinals: first(2)}, want: entries(2)},
		"all that are unavailable": {
			host: pods{0: true, 1: false, 2: false}, ask: v1.StatefulSetReplacement{Ordinals: first(2, 1)}, want: entries(2, 1)},
		"one while others are unavailable": {host: pods{0: false, 2: true}, ask: v1.StatefulSetReplacement{Ordinals: first(2)},
			err: modified + "other members are unavailable: web-0, web-1; wait until they are available, or use force"},
		"one while very many are unavailable": {
			set: func(set *v1.StatefulSet) { *set.Spec.Replicas = 2_000_000_000 }, ask: v1.StatefulSetReplacement{Ordinals: first(2)},
			err: modified +
				"other members are unavailable: web-3, web-4, web-5, ...; wait until they are available, or use force"},
		"one while others are unavailable, by force": {
			host: pods{0: false, 2: true}, ask: v1.StatefulSetReplacement{Ordinals: first(2), Force: true}, want: entries(2)},
		"none":     {err: invalid + "ordinals: Required value: the ordinals of the members to replace, such as [{first: 2}]"},
		"too many": {ask: v1.StatefulSetReplacement{Ordinals: many}, err: invalid + "ordinals: Too many: 33: must have at most 32 items"},
		"a long range": {ask: v1.StatefulSetReplacement{Ordinals: []v1.OrdinalRange{{First: 0, Last: new(int32(2147483647))}}},
			err: invalid + "ordinals: Invalid value: 2147483648: must be at most 32 ordinals"},
		"a broken one": {ask: v1.StatefulSetReplacement{Ordinals: []v1.OrdinalRange{{First: 2, Last: new(int32(1))}}},
			err: invalid + "ordinals[0].last: Invalid value: 1: must not be less than first (2)"},
		"one two times": {ask: v1.StatefulSetReplacement{Ordinals: first(1, 1)},
			err: invalid + "ordinals[1]: Invalid value: \"1\": overlaps ordinals[0], which is 1"},
		"no member": {ask: v1.StatefulSetReplacement{Ordinals: first(7)},
			err: invalid + "ordinals[0]: Invalid value: 7: set web has no member web-7; its members are 0 to 2"},
		"a reserved one": {set: func(set *v1.StatefulSet) {
			set.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: first(1, 3, 5, 7)}
		}, ask: v1.StatefulSetReplacement{Ordinals: first(1)},
			err: invalid + "ordinals[0]: Invalid value: 1: set web has no member web-1; its members are 0, 2, 4"},
		"one of none": {set: func(set *v1.StatefulSet) { *set.Spec.Replicas = 0 }, ask: v1.StatefulSetReplacement{Ordinals: first(1)},
			err: invalid + "ordinals[0]: Invalid value: 1: set web has no member web-1; it has no members"},
		"one without a pod": {host: pods{0: true, 1: true}, ask: v1.StatefulSetReplacement{Ordinals: first(2)},
			err: invalid + "ordinals[0]: Invalid value: 2: member web-2 has no pod to replace; the controller creates one without a request"},
		"one more than may be": {before: make([]v1.MemberReplacement, v1.MostReplacements), ask: v1.StatefulSetReplacement{Ordinals: first(2)},
			err: modified + "32 members are already being replaced, and at most 32 can be replaced at a time; wait until the first ones are back"},
		"one of a held set": {set: func(set *v1.StatefulSet) { set.Annotations = map[string]string{v1.HoldAnnotation: "repair"} },
			ask: v1.StatefulSetReplacement{Ordinals: first(2), Force: true},
			err: modified +
				`the set is suspended ("repair"), so none of its members would be replaced: remove annotation apps.statefulset.dev/hold first`},
		"one of another set of the name": {ask: v1.StatefulSetReplacement{ObjectMeta: metav1.ObjectMeta{UID: "other"}, Ordinals: first(2)},
			err: modified + "the request is for the set with UID other, but the set of this name has UID "},
		"one of a set of another name": {ask: v1.StatefulSetReplacement{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Ordinals: first(2)},
			err: `metadata.name is "db", must be "web" or empty: the request is for members of that set`},
		"one of a set that does not exist": {
			name: "nope", ask: v1.StatefulSetReplacement{Ordinals: first(2)}, err: `statefulsets.apps.statefulset.dev "nope" not found`},
		"one whose lost node has no name of a node": {ask: v1.StatefulSetReplacement{Ordinals: first(2), LostNode: "Node 1"},
			err: invalid + `lostNode: Invalid value: "Node 1": must be the name of a node: a lowercase RFC 1123 subdomain must consist of`},
		"one that admission refuses": {
			ask: v1.StatefulSetReplacement{Ordinals: first(2)}, admit: errors.New("not on Sundays"), err: "not on Sundays"},
		"one in a host that is silent": {host: silent{}, ask: v1.StatefulSetReplacement{Ordinals: first(2)}, err: "no answer"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := settest.Valid()
			if test.set != nil {
				test.set(set)
			}
			set = create(t, s, set)
			if test.before = slices.Clone(test.before); len(test.before) == v1.MostReplacements {
				for i := range test.before {
					test.before[i] = v1.MemberReplacement{Ordinal: int32(i + 100), PodUID: "other"}
				}
				test.want = test.before
			}
			if set.Status.Replacements = test.before; len(test.before) > 0 {
				if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
					t.Fatalf("preparing the status: %v", err)
				}
			}
			if test.host == nil {
				test.host = allServe
			}
			if test.name == "" {
				test.name = "web"
			}
			options := &metav1.CreateOptions{}
			if test.dryRun {
				options.DryRun = []string{metav1.DryRunAll}
			}
			admit := func(context.Context, runtime.Object) error { return test.admit }
			got, err := NewReplaceREST(s.Status, newScheme(t), test.host).Create(s.requestFor("replace"), test.name, &test.ask,
				rest.ValidateObjectFunc(admit), options)
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			after := storedSet(t, s)
			if !slices.Equal(after.Status.Replacements, test.want) || after.Generation != 1 || *after.Spec.Replicas != *set.Spec.Replicas {
				t.Errorf("the set names the pods %v in generation %d, want %v in generation 1", after.Status.Replacements, after.Generation, test.want)
			}
			if answer, ok := got.(*v1.StatefulSetReplacement); err == nil &&
				(!ok || answer.UID != set.UID || answer.Name != "web" || len(answer.Ordinals) != len(test.ask.Ordinals)) {
				t.Errorf("got the answer %+v, want the request, with the name and UID of the set", got)
			}
		})
	}
}

// slow is a host whose answer takes until it is told to go on.
type slow struct {
	pods
	begun, finish chan struct{}
}

func (s slow) Members(ctx context.Context, set *v1.StatefulSet, tell func(int, types.UID, string, bool)) error {
	s.begun <- struct{}{}
	<-s.finish
	return s.pods.Members(ctx, set, tell)
}

func TestFourRequestsToReplaceAreAnsweredAtATime(t *testing.T) {
	s := newTestStorage(t)
	create(t, s, settest.Valid())
	host := slow{pods{0: true, 1: true, 2: true}, make(chan struct{}), make(chan struct{})}
	asked := NewReplaceREST(s.Status, newScheme(t), host)
	ask := func() error {
		_, err := asked.Create(s.requestFor("replace"), "web", &v1.StatefulSetReplacement{Ordinals: first(2)}, nil, &metav1.CreateOptions{})
		return err
	}
	answers := make(chan error)
	for range ReplacementsAtOnce {
		go func() { answers <- ask() }()
		<-host.begun
	}
	const want = "4 other requests to replace members are in progress, which is the limit; try again later"
	if err := ask(); err == nil || err.Error() != want {
		t.Errorf("one more: got error %v, want %q", err, want)
	}
	close(host.finish)
	for range ReplacementsAtOnce {
		if err := <-answers; err != nil {
			t.Errorf("one of the first: got error %v, want none", err)
		}
	}
}

func TestOnlyRequestsAndTheControllerChangeWhatIsToBeReplaced(t *testing.T) {
	const refused = `StatefulSet.apps.statefulset.dev "web" is invalid: status.replacements: Forbidden: only statefulsets/replace and the controller change this field; send it unchanged, or omit it`
	for sentence, test := range map[string]struct {
		sender      string
		write, want []v1.MemberReplacement
		err         string
	}{
		"the controller removes it":               {sender: user.APIServerUser},
		"a client leaves it as it is":             {sender: "bob", write: entries(2), want: entries(2)},
		"a client that does not know it keeps it": {sender: "bob", want: entries(2)},
		"a client may not change it":              {sender: "bob", write: entries(1), want: entries(2), err: refused},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := create(t, s, settest.Valid())
			set.Status.Replacements = entries(2)
			if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
				t.Fatal(err)
			}
			set = storedSet(t, s)
			set.Status.Replacements = test.write
			if err := updateStatusAs(test.sender, s, set); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("writing %v: got error %v, want %q", test.write, err, test.err)
			}
			if got := storedSet(t, s).Status.Replacements; !slices.Equal(got, test.want) {
				t.Errorf("status.replacements are %v, want %v", got, test.want)
			}
		})
	}
}
