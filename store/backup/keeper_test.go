// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/store/recovery"
	"statefulset.dev/test/harness/disk"
	"statefulset.dev/test/harness/etcd"
)

const prefix = "/registry/test"

// store is an etcd with more keys than are read at a time.
func store(t *testing.T) *clientv3.Client {
	t.Helper()
	client := etcd.StartClient(t)
	for page := range 6 {
		var puts []clientv3.Op
		for i := range 100 {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("%s/sets/%d/%d", prefix, page, i), "a set"))
		}
		if _, err := client.Txn(t.Context()).Then(puts...).Commit(); err != nil {
			t.Fatalf("writing: %v", err)
		}
	}
	return client
}

func keeperOf(t *testing.T, etcd *clientv3.Client) *Keeper {
	t.Helper()
	dir := t.TempDir()
	place, err := OpenDirectory(&url.URL{Scheme: "file", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	k := &Keeper{
		Options: Options{To: "file://" + dir, Every: time.Hour, Keep: 2, Scratch: t.TempDir()},
		Place:   place, Etcd: etcd, Prefix: prefix,
		Now: func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) },
	}
	k.Check = func(ctx context.Context, file string) (recovery.Contents, error) {
		keys, err := ReadKeys(k.KeyFile)
		if err != nil {
			return recovery.Contents{}, err
		}
		found, _, err := recovery.Check(ctx, file, prefix, k.Scratch, recovery.Trust{Keys: keys})
		return found, err
	}
	return k
}

// there are the names in the place, sorted.
func there(t *testing.T, k *Keeper) []string {
	t.Helper()
	names, err := k.Place.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func mustCopy(t *testing.T, k *Keeper) Backup {
	t.Helper()
	made, err := k.once(t.Context())
	if err != nil {
		t.Fatalf("copying the store: %v", err)
	}
	return made
}

func TestACopyHoldsWhatTheStoreHolds(t *testing.T) {
	etcd := store(t)
	k := keeperOf(t, etcd)
	made := mustCopy(t, k)
	want, err := recovery.Read(t.Context(), etcd, prefix, made.Contents.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if made.Contents != want || want.Keys != 600 {
		t.Errorf("got %+v, want %+v with 600 keys", made.Contents, want)
	}
	if got := there(t, k); !slices.Equal(got, []string{made.Name}) {
		t.Errorf("got %v, want only %s", got, made.Name)
	}
	if left, err := os.ReadDir(k.Scratch); err != nil || len(left) > 0 {
		t.Errorf("got %v and error %v in the scratch directory, want it empty", left, err)
	}
	if _, err := etcd.Put(t.Context(), prefix+"/sets/0/0", "changed"); err != nil {
		t.Fatal(err)
	}
	if later := mustCopy(t, k); later.Contents.Digest == made.Contents.Digest {
		t.Errorf("after a change: got the digest %s again, want another one", later.Contents.Digest)
	}
}

func TestAnOlderCopyGoesWhenALaterOneWasVerified(t *testing.T) {
	k := keeperOf(t, store(t))
	var made []string
	for range 3 {
		made = append(made, mustCopy(t, k).Name)
	}
	if got, want := there(t, k), made[1:]; !slices.Equal(got, want) {
		t.Errorf("got %v, want the two newest, %v", got, want)
	}
}

// broken is a place at which something goes wrong.
type broken struct {
	Place
	list, put, rename, remove error
	// spoil changes what is read.
	spoil func([]byte) []byte
}

func (b *broken) List(ctx context.Context) ([]string, error) {
	if b.list != nil {
		return nil, b.list
	}
	return b.Place.List(ctx)
}

// Put leaves half of the file when it fails.
func (b *broken) Put(ctx context.Context, name string, from io.Reader, size int64) error {
	if b.put == nil {
		return b.Place.Put(ctx, name, from, size)
	}
	return errors.Join(b.Place.Put(ctx, name, io.LimitReader(from, size/2), size/2), b.put)
}

func (b *broken) Get(ctx context.Context, name string, to io.Writer) error {
	if b.spoil == nil {
		return b.Place.Get(ctx, name, to)
	}
	var content bytes.Buffer
	if err := b.Place.Get(ctx, name, &content); err != nil {
		return err
	}
	_, err := to.Write(b.spoil(content.Bytes()))
	return err
}

func (b *broken) Rename(ctx context.Context, from, to string) error {
	if b.rename != nil {
		return b.rename
	}
	return b.Place.Rename(ctx, from, to)
}

func (b *broken) Remove(ctx context.Context, name string) error {
	if b.remove != nil {
		return b.remove
	}
	return b.Place.Remove(ctx, name)
}

func TestACopyThatFailsLeavesTheOlderOnes(t *testing.T) {
	no := errors.New("403 Forbidden")
	etcd := store(t)
	cases := map[string]struct {
		spoil func(*Keeper, *broken)
		want  string
	}{
		"what is there cannot be listed": {func(_ *Keeper, b *broken) { b.list = no }, "listing the copies in file:"},
		"it ends in the middle":          {func(_ *Keeper, b *broken) { b.put = no }, "403 Forbidden"},
		"a part is missing when it is read": {func(_ *Keeper, b *broken) {
			b.spoil = func(content []byte) []byte { return content[:len(content)-1] }
		}, "is not the same as what was written"},
		"a bit is another one when it is read": {func(_ *Keeper, b *broken) {
			b.spoil = func(content []byte) []byte { content[len(content)/2] ^= 1; return content }
		}, "is not the same as what was written"},
		"it cannot be restored": {func(k *Keeper, _ *broken) {
			k.Check = func(context.Context, string) (recovery.Contents, error) { return recovery.Contents{}, no }
		}, "verifying sets-00000003"},
		"it holds something else": {func(k *Keeper, _ *broken) {
			check := k.Check
			k.Check = func(ctx context.Context, file string) (recovery.Contents, error) {
				found, err := check(ctx, file)
				found.Digest = "0123456789abcdef0123"
				return found, err
			}
		}, "contains 600 keys at revision"},
		"it cannot get its name":  {func(_ *Keeper, b *broken) { b.rename = no }, "naming sets-00000003"},
		"there is no scratch":     {func(k *Keeper, _ *broken) { k.Scratch += "/missing" }, "--backup-scratch"},
		"it cannot be taken away": {func(_ *Keeper, b *broken) { b.put, b.remove = no, no }, "removing sets-00000003"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			k := keeperOf(t, etcd)
			want := []string{mustCopy(t, k).Name, mustCopy(t, k).Name}
			sound := k.Place
			b := &broken{Place: sound}
			k.Place = b
			c.spoil(k, b)
			made, err := k.once(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || made.Name != "" {
				t.Errorf("got copy %q and error %v, want none and one that says %q", made.Name, err, c.want)
			}
			k.Place = sound
			got := slices.DeleteFunc(there(t, k), func(name string) bool { return strings.HasSuffix(name, unverified) })
			if !slices.Equal(got, want) {
				t.Errorf("got verified copies %v, want %v", got, want)
			}
			if left := len(there(t, k)) - len(got); left > 0 != (b.remove != nil) {
				t.Errorf("got %d unverified copies, want some only if they cannot be removed", left)
			}
		})
	}
}

func TestADiskThatIsFullKeepsTheCopyThatItHas(t *testing.T) {
	k := keeperOf(t, store(t))
	size := mustCopy(t, k).Size
	dir := t.TempDir()
	disk.Small(t, dir, size*3/2)
	k.Place = &Directory{dir}
	want := []string{mustCopy(t, k).Name}
	if _, err := k.once(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got error %v, want %v", err, syscall.ENOSPC)
	}
	if got := there(t, k); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A replica that does not know yet that it no longer leads copies beside the one that does.
func TestTwoReplicasCopyAtOnce(t *testing.T) {
	etcd := store(t)
	one := keeperOf(t, etcd)
	two := *one
	var both sync.WaitGroup
	for _, k := range []*Keeper{one, &two} {
		both.Go(func() {
			for range 3 {
				if _, err := k.once(t.Context()); err != nil {
					t.Errorf("copying the store: %v", err)
				}
			}
		})
	}
	both.Wait()
	names := there(t, one)
	if len(names) < one.Keep {
		t.Errorf("got %v, want at least the %d that are kept", names, one.Keep)
	}
	for _, name := range names {
		if strings.HasSuffix(name, unverified) {
			t.Errorf("got %s, want only verified copies", name)
			continue
		}
		if _, _, err := recovery.Check(t.Context(), strings.TrimPrefix(one.To, "file://")+"/"+name, prefix, one.Scratch,
			recovery.Trust{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
