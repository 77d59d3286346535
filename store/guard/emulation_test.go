// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/store/guard"
	"statefulset.dev/version"
)

// before is a version that has no field of ours but those of the first format. None was released;
// it stands for the minor version before one that adds fields.
func before() *utilversion.Version { return utilversion.MajorMinor(0, 0) }

func TestVersionsAndTheFormatsThatTheyKnow(t *testing.T) {
	if got := guard.FormatOf(utilversion.MustParse(version.Minor)); got != guard.StoreFormat {
		t.Errorf("this version, %s: got format %d, want %d: a new format needs the version that knows it first", version.Minor, got,
			guard.StoreFormat)
	}
	if got := guard.FormatOf(before()); got != 1 {
		t.Errorf("version %s: got format %d, want 1", before(), got)
	}
}

// Every field of ours is refused by name, and nothing else is.
func TestAnEmulatedVersionHasNoLaterField(t *testing.T) {
	found := 0
	ourFields(reflect.TypeFor[v1.StatefulSet](), nil, func(path []int, name string) {
		set := &v1.StatefulSet{}
		fill(reflect.ValueOf(set).Elem(), path)
		if errs := guard.UnknownTo(utilversion.MustParse(version.Minor), set); len(errs) > 0 {
			t.Errorf("%s is refused by the version that has it: %v", name, errs)
		}
		if guard.NeededFormat(set) == 1 {
			return
		}
		errs := guard.UnknownTo(before(), set)
		if len(errs) != 1 || !strings.EqualFold(errs[0].Field, name) {
			t.Errorf("a set with %s: got %v, want that it is refused by this name", name, errs)
		}
		found++
	})
	if found < 13 {
		t.Errorf("found %d later fields, want at least 13", found)
	}
	if errs := guard.UnknownTo(before(), servertest.Web("web")); len(errs) > 0 {
		t.Errorf("an ordinary set: got %v, want nothing refused", errs)
	}
}

// sharedStore is an etcd that several servers use, one after the other.
type sharedStore struct{ addresses []string }

// on makes a server use the store of another one. The first one's is its own.
func (s *sharedStore) on(choose func(*apiserver.Options)) func(*apiserver.Options) {
	return func(o *apiserver.Options) {
		to := &o.Storage.Etcd.StorageConfig.Transport.ServerList
		if s.addresses == nil {
			s.addresses = slices.Clone(*to)
		}
		*to = s.addresses
		choose(o)
	}
}

// start starts a server of which the host's guard is changed.
func (s *sharedStore) start(t *testing.T, host *guardedHost, tune func(*guard.Guard)) (*servertest.Server, *guard.Guard) {
	t.Helper()
	var g *guard.Guard
	host.tune = tune
	choose, configure := host.guarded(t, nil)
	server := servertest.StartUnready(t, s.on(choose), configure, func(c *apiserver.Config) { g = c.Guard })
	return server, g
}

func emulating(g *guard.Guard) { guard.Emulating(g, before()) }

// older makes a server one of the version that is emulated.
func older(g *guard.Guard) { guard.Knowing(g, 1, guard.NeededFormat) }

func awaitServed(t *testing.T, s *servertest.Server) {
	t.Helper()
	s.Eventually(t, "sets are served", func(ctx context.Context) error {
		_, err := s.Sets().List(ctx, metav1.ListOptions{})
		return err
	})
}

func TestWhatAnEmulatedVersionDoesNotHaveIsNotStored(t *testing.T) {
	host, shared := newGuardedHost(t), &sharedStore{}
	s, g := shared.start(t, host, emulating)
	awaitServed(t, s)
	web := s.Create(t, servertest.Web("web"))
	stored := storedKeys(t, guard.StoreOf(g).Client)

	overridden := servertest.Web("db")
	overridden.Spec.Overrides = []v1.MemberOverride{
		{Name: "large", Ordinals: []v1.OrdinalRange{{First: 0}}, Labels: map[string]string{"a": "b"}}}
	withStatus := web.DeepCopy()
	withStatus.Status.Ordinals = []v1.OrdinalRange{{First: 0}}
	tries := map[string]struct {
		field string
		try   func() error
	}{
		"a new set": {"spec.overrides", func() error {
			_, err := s.Sets().Create(t.Context(), overridden, metav1.CreateOptions{})
			return err
		}},
		"a dry run": {"spec.overrides", func() error {
			_, err := s.Sets().Create(t.Context(), overridden, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}},
		"a patch": {"spec.updateStrategy.rollingUpdate.paused", func() error {
			_, err := s.Sets().Patch(t.Context(), "web", types.MergePatchType,
				[]byte(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`), metav1.PatchOptions{})
			return err
		}},
		"an apply": {"spec.ordinals.reserved", func() error {
			patch := `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"web"},"spec":{"ordinals":{"reserved":[{"first":1}]}}}`
			_, err := s.Sets().Patch(t.Context(), "web", types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "test"})
			return err
		}},
		"a status": {"status.ordinals", func() error {
			_, err := s.Sets().UpdateStatus(t.Context(), withStatus, metav1.UpdateOptions{})
			return err
		}},
	}
	for name, c := range tries {
		err := c.try()
		if !apierrors.IsInvalid(err) ||
			!strings.Contains(err.Error(), c.field+": Forbidden: not supported by version 0.0, which this server emulates") {
			t.Errorf("%s: got %v, want that %s is refused", name, err, c.field)
		}
	}
	if got := storedKeys(t, guard.StoreOf(g).Client); got != stored {
		t.Errorf("sets in etcd: got %s, want %s as before", got, stored)
	}
	if seen, err := guard.StoreOf(g).Read(t.Context()); err != nil || seen.NeededFormat() != 1 {
		t.Errorf("format of the store: got %d, %v, want 1", seen.NeededFormat(), err)
	}
	patch := []byte(`{"metadata":{"annotations":{"a":"b"}}}`)
	if _, err := s.Sets().Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Errorf("a change that the older version knows: %v", err)
	}

	back, _ := shared.start(t, host, older)
	awaitServed(t, back)
	if got, err := back.Sets().Get(t.Context(), "web", metav1.GetOptions{}); err != nil || got.UID != web.UID || got.Annotations["a"] != "b" {
		t.Errorf("the older version, on the same store: got %+v, %v, want the set as it was written", got.ObjectMeta, err)
	}
}

func TestAStoreOfALaterVersionIsNotServedByOneThatEmulatesAnOlder(t *testing.T) {
	host, shared := newGuardedHost(t), &sharedStore{}
	s, _ := shared.start(t, host, nil)
	awaitServed(t, s)
	set := servertest.Web("web")
	set.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 7}}}
	set = s.Create(t, set)

	emulated, _ := shared.start(t, host, emulating)
	text := refusalOf(t, emulated)
	for _, part := range []string{"is in format 2", "version 0.0, which this server emulates, knows formats up to 1",
		"Start this server without --emulated-version=statefulset=0.0"} {
		if !strings.Contains(text, part) {
			t.Errorf("refusal: got %q, want it to contain %q", text, part)
		}
	}
	awaitServed(t, s)
	if got, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{}); err != nil ||
		!slices.Equal(got.Spec.Ordinals.Reserved, set.Spec.Ordinals.Reserved) {
		t.Errorf("at the version that has written it: got %+v, %v, want the set as it was", got, err)
	}
}
