// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"

	v1 "statefulset.dev/api/apps/v1"
)

const key = "/registry/statefulset.dev/apps.statefulset.dev/statefulsets/default/web"

// reader is the way of a value from etcd to an object.
type reader struct {
	transformer
	codec
}

func newReader(tb testing.TB, host Host) reader {
	tb.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		tb.Fatalf("registering the API: %v", err)
	}
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	version := v1.SchemeGroupVersion
	stored := codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), version, version)
	return reader{transformer{identity.NewEncryptCheckTransformer()}, codec{stored, NewSets(host)}}
}

func (r reader) read(m mode, stored []byte) (*v1.StatefulSet, error) {
	data, _, err := r.TransformFromStorage(with(context.Background(), m), stored, value.DefaultContext(key))
	if err != nil {
		return nil, err
	}
	obj, _, err := r.Decode(data, nil, &v1.StatefulSet{})
	set, _ := obj.(*v1.StatefulSet)
	return set, err
}

func stored(tb testing.TB, r reader) []byte {
	tb.Helper()
	data, err := runtime.Encode(r.Codec, &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u", Labels: map[string]string{"a": "b"}},
		Spec:       v1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, ServiceName: "nginx"},
	})
	if err != nil {
		tb.Fatalf("encoding: %v", err)
	}
	return data
}

// answers is a host.
type answers struct {
	uid types.UID
	err error
}

func (a answers) OwnerUID(context.Context, string, string) (types.UID, error) { return a.uid, a.err }
func (a answers) Orphan(context.Context, string, string) error                { return a.err }

func TestAValueThatCanBeReadIsReadInEveryMode(t *testing.T) {
	r := newReader(t, nil)
	for _, m := range []mode{substitute, refuse, bare} {
		set, err := r.read(m, stored(t, r))
		if err != nil || set.UID != "u" || set.Spec.ServiceName != "nginx" || v1.IsDamaged(set) {
			t.Errorf("mode %d: got %+v, %v, want the set", m, set, err)
		}
	}
	if got := r.sets.List(); len(got) != 0 {
		t.Errorf("damaged sets: got %+v, want none", got)
	}
}

func TestAStandInHasTheUIDOfTheSet(t *testing.T) {
	cut := func(data []byte) []byte { return data[:len(data)-20] }
	tests := map[string]struct {
		stored func([]byte) []byte
		host   Host
		want   types.UID
	}{
		"from the value, if its beginning is there": {cut, answers{uid: "other"}, "u"},
		"from JSON of a version that is unknown": {func([]byte) []byte {
			return []byte(`{"kind":"X","metadata":{"namespace":"default","name":"web","uid":"j"}}`)
		}, answers{uid: "other"}, "j"},
		"from the host, if the value tells nothing": {func([]byte) []byte { return []byte{0xff} }, answers{uid: "h"}, "h"},
		"from the host, if the value is of another set": {
			func([]byte) []byte { return []byte(`{"metadata":{"namespace":"default","name":"x","uid":"j"}}`) }, answers{uid: "h"}, "h"},
		"made up, if nothing in the host belongs to it":    {func([]byte) []byte { return nil }, answers{}, "unknown/default/web"},
		"of any length, if it is only the metadata's head": {func(data []byte) []byte { return data[:12] }, answers{uid: "h"}, "h"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, test.host)
			set, err := r.read(substitute, test.stored(stored(t, r)))
			if err != nil || set.UID != test.want || set.Name != "web" || set.Namespace != "default" || !v1.IsDamaged(set) {
				t.Fatalf("stand-in: got %+v, %v, want default/web with UID %q", set, err, test.want)
			}
			if set, err := r.read(refuse, test.stored(stored(t, r))); !errors.As(err, new(*unreadable)) {
				t.Errorf("read by its name: got %+v, %v, want that it cannot be read", set, err)
			}
			if got := r.sets.Count(); got != 1 {
				t.Errorf("damaged sets: got %d, want 1", got)
			}
			if _, err := r.read(substitute, stored(t, r)); err != nil || r.sets.Count() != 0 {
				t.Errorf("after the value can be read again: got %v, %d damaged sets, want none", err, r.sets.Count())
			}
		})
	}
}

func TestNothingIsGuessedWhileTheHostDoesNotAnswer(t *testing.T) {
	r := newReader(t, answers{err: errors.New("no route to host")})
	if set, err := r.read(substitute, []byte{0xff}); err == nil || r.sets.Count() != 0 {
		t.Errorf("got %+v, %v, %d damaged sets, want an error and none", set, err, r.sets.Count())
	}
}

// failing is a transformer that cannot decrypt.
type failing struct {
	value.Transformer
	err error
}

func (f failing) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, f.err
}

func TestAnOutageOfTheKeyServiceIsNoDamage(t *testing.T) {
	tests := map[string]struct {
		err     error
		damaged bool
	}{
		"a wrong key":               {errors.New("cipher: message authentication failed"), true},
		"a key service that is out": {status.Error(codes.Unavailable, "connection refused"), false},
		"a key service that hangs":  {context.DeadlineExceeded, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, nil)
			r.transformer = transformer{failing{err: test.err}}
			set, err := r.read(substitute, stored(t, r))
			if got := err == nil && v1.IsDamaged(set); got != test.damaged || r.sets.Count() > 0 != test.damaged {
				t.Errorf("damaged: got %t (%v), want %t", got, err, test.damaged)
			}
		})
	}
}

// FuzzStored: whatever etcd holds under the key of a set, a list shows a set of this
// name, and whoever reads the set itself gets that set or an error.
func FuzzStored(f *testing.F) {
	r := newReader(f, nil)
	whole := stored(f, r)
	for _, seed := range [][]byte{whole, whole[:30], []byte(magic), envelope{mode: bare, key: "x/y", fault: "z"}.seal(), []byte("k8s\x00"),
		[]byte(`{"kind":"Scale","apiVersion":"autoscaling/v1"}`)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := r.read(substitute, data)
		if err != nil || set.Namespace != "default" || set.Name != "web" || set.UID == "" {
			t.Fatalf("list: got %+v, %v, want default/web with a UID", set, err)
		}
		read, err := r.read(refuse, data)
		if err == nil && (read.Name != "web" || v1.IsDamaged(set)) {
			t.Fatalf("read: got %+v, in the list %+v, want the set in both", read, set)
		}
		if err != nil && !v1.IsDamaged(set) {
			t.Fatalf("read: got %v, in the list %+v, want a stand-in there", err, set)
		}
	})
}
