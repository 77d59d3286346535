// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
)

// laterField stands for a field that this version does not know.
const laterField = "test/later"

func formatOfTest(obj runtime.Object) int {
	if set, ok := obj.(*v1.StatefulSet); ok && set.Annotations[laterField] != "" {
		return guard.StoreFormat + 1
	}
	return 1
}

// later makes a server one that knows a later format.
func later(g *guard.Guard) {
	guard.Knowing(g, guard.StoreFormat+1, formatOfTest)
}

func TestAStoreOfALaterFormatIsRefused(t *testing.T) {
	host := newGuardedHost(t)
	choose, configure := host.guarded(t, func(s *guard.Store) {
		seen, err := s.Read(t.Context())
		if err != nil {
			t.Fatalf("reading the record: %v", err)
		}
		if _, ok, err := s.MarkAs(t.Context(), seen, "", guard.StoreFormat+1); err != nil || !ok {
			t.Fatalf("raising: got %t, %v", ok, err)
		}
	})
	var read atomic.Bool
	host.tune = func(g *guard.Guard) { guard.Watching(g, func() { read.Store(true) }) }
	s := servertest.StartUnready(t, choose, configure)
	text := refusalOf(t, s)
	for _, part := range []string{fmt.Sprintf("is in format %d", guard.StoreFormat+1), fmt.Sprintf("knows formats up to %d",
		guard.StoreFormat), "Start the version of the server", "the API group apps.statefulset.dev is not served"} {
		if !strings.Contains(text, part) {
			t.Errorf("refusal: got %q, want it to contain %q", text, part)
		}
	}
	if read.Load() {
		t.Error("sets were read from a store whose format is not known")
	}
}

// What this version stores and an earlier one would drop needs a format, wherever the field is; these two
// are as old as the first format.
func TestEveryFieldOfOursNeedsItsFormat(t *testing.T) {
	first := []string{"Spec.ProgressDeadlineSeconds", "Status.LastProgressTime"}
	found := 0
	ourFields(reflect.TypeFor[v1.StatefulSet](), nil, func(path []int, name string) {
		set := &v1.StatefulSet{}
		fill(reflect.ValueOf(set).Elem(), path)
		want := guard.StoreFormat
		if slices.Contains(first, name) {
			want = 1
		}
		if got := guard.NeededFormat(set); got != want {
			t.Errorf("a set with %s: got format %d, want %d", name, got, want)
		}
		found++
	})
	if found < len(first)+4 {
		t.Errorf("found %d fields of ours, want at least %d", found, len(first)+4)
	}
	if got := guard.NeededFormat(servertest.Web("web")); got != 1 {
		t.Errorf("an ordinary set: got format %d, want 1", got)
	}
}

// ourFields visits the fields that apps/v1 does not have: their numbers begin at 1000. It also looks into
// lists, but not below such a field.
func ourFields(of reflect.Type, path []int, visit func(path []int, name string), above ...string) {
	for i := range of.NumField() {
		field := of.Field(i)
		at, names := append(slices.Clone(path), i), append(slices.Clone(above), field.Name)
		if _, tag, ok := strings.Cut(field.Tag.Get("protobuf"), ","); ok {
			if number, err := strconv.Atoi(strings.Split(tag, ",")[0]); err == nil && number >= 1000 {
				visit(at, strings.Join(names, "."))
				continue
			}
		}
		below := field.Type
		for below.Kind() == reflect.Pointer || below.Kind() == reflect.Slice {
			below = below.Elem()
		}
		if below.Kind() == reflect.Struct && below.PkgPath() == of.PkgPath() {
			ourFields(below, at, visit, names...)
		}
	}
}

// fill gives the field at a path some value.
func fill(object reflect.Value, path []int) {
	for _, i := range path {
		switch object.Kind() {
		case reflect.Pointer:
			object.Set(reflect.New(object.Type().Elem()))
			object = object.Elem()
		case reflect.Slice:
			object.Set(reflect.MakeSlice(object.Type(), 1, 1))
			object = object.Index(0)
		default:
		}
		object = object.Field(i)
	}
	switch object.Kind() {
	case reflect.Pointer:
		object.Set(reflect.New(object.Type().Elem()))
	case reflect.Slice:
		object.Set(reflect.MakeSlice(object.Type(), 1, 1))
	default:
		panic("there is no value for a field of type " + object.Type().String())
	}
}

func TestTheFormatIsRaisedBeforeTheWriteThatNeedsIt(t *testing.T) {
	host := newGuardedHost(t)
	var g *guard.Guard
	host.tune = later
	choose, configure := host.guarded(t, nil)
	s := servertest.StartWith(t, choose, configure, func(c *apiserver.Config) { g = c.Guard })
	format := func() int {
		t.Helper()
		seen, err := guard.StoreOf(g).Read(t.Context())
		if err != nil {
			t.Fatalf("reading the record: %v", err)
		}
		return seen.NeededFormat()
	}
	set := s.Create(t, servertest.Web("web"))
	if got := format(); got != 1 {
		t.Errorf("format after an ordinary write: got %d, want 1", got)
	}
	set.Annotations = map[string]string{laterField: "x"}
	set, err := s.Sets().Update(t.Context(), set, metav1.UpdateOptions{})
	if err != nil {
		t.Fatalf("writing a field of the later format: %v", err)
	}
	seen, err := guard.StoreOf(g).Read(t.Context())
	if err != nil || seen.NeededFormat() != guard.StoreFormat+1 {
		t.Errorf("format: got %+v, %v, want %d", seen, err, guard.StoreFormat+1)
	}
	if err := g.Covered(t.Context(), set.ResourceVersion); err != nil {
		t.Errorf("the mark after that: %v", err)
	}
	if got := format(); got != guard.StoreFormat+1 {
		t.Errorf("format after more marks: got %d, want %d", got, guard.StoreFormat+1)
	}
}

// An older server that runs on while another raises the format writes nothing over what
// it does not know, and serves nothing any more.
func TestAServerThatHasBecomeTooOldStops(t *testing.T) {
	host := newGuardedHost(t)
	var older *guard.Guard
	choose, configure := host.guarded(t, nil)
	s := servertest.StartWith(t, choose, configure, func(c *apiserver.Config) { older = c.Guard })
	s.Create(t, servertest.Web("web"))
	seen, err := guard.StoreOf(older).Read(t.Context())
	if err != nil {
		t.Fatalf("reading the record: %v", err)
	}
	content, _ := json.Marshal(guard.Record{
		Store: seen.Store, Mark: seen.Mark, Before: seen.Before, NoteUID: seen.NoteUID, History: seen.History, Format: guard.StoreFormat + 1})
	if _, err := guard.StoreOf(older).Client.Put(t.Context(), guard.StoreOf(older).Key, string(content)); err != nil {
		t.Fatalf("raising: %v", err)
	}
	before := storedKeys(t, guard.StoreOf(older).Client)
	_, err = s.Sets().Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":9}}`), metav1.PatchOptions{})
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("patch: got %v, want 503", err)
	}
	if after := storedKeys(t, guard.StoreOf(older).Client); after != before {
		t.Errorf("versions of the sets: got %s, want %s: the older server has written", after, before)
	}
	if text := refusalOf(t, s); !strings.Contains(text, fmt.Sprintf("is in format %d", guard.StoreFormat+1)) {
		t.Errorf("refusal: got %q, want the format", text)
	}
}

// storedKeys are the sets in etcd with their versions.
func storedKeys(t *testing.T, client *clientv3.Client) string {
	t.Helper()
	found, err := client.Get(t.Context(), backend.Prefix+"/apps.statefulset.dev/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatalf("reading the sets: %v", err)
	}
	var keys []string
	for _, kv := range found.Kvs {
		keys = append(keys, fmt.Sprintf("%s@%d", kv.Key, kv.ModRevision))
	}
	return strings.Join(keys, " ")
}
