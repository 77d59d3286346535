// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/version"
)

const (
	// recordName is the key of the record, below the prefix of all our keys and next to the keys of
	// the sets.
	recordName = "store"

	// storeTimeout limits a request to etcd.
	storeTimeout = 5 * time.Second
	// confirmTimeout limits a request to etcd for which a client's request waits. An overloaded
	// server should answer late rather than say that its store cannot be trusted.
	confirmTimeout = 20 * time.Second
)

// record is what a store records about itself. It is written again and again, each time with
// another mark: a store that contains a mark also contains everything that was written before that
// mark.
type record struct {
	// Store is the name that the store got when it was first used.
	Store string `json:"store"`
	// Mark is a word that no other record has, and Before is the mark that it replaced.
	Mark   string `json:"mark"`
	Before string `json:"before,omitempty"`
	// Format is the format that a server must support to read the store; 0 means 1.
	Format int `json:"format,omitempty"`
	// NoteUID is the UID of the note in which the marks of the history were recorded, and History
	// the latest mark of each server that has set some (history.go).
	NoteUID types.UID `json:"note,omitempty"`
	History history   `json:"history,omitempty"`
}

// observation is a record as it was read.
type observation struct {
	record
	// Marked is the revision of etcd at which the record was written, and revision the revision of
	// etcd when it was read.
	Marked, revision int64
}

// containsMark reports whether the store contains a mark that was recorded in the note with a UID.
// No new mark is set before the last one is recorded in the cluster. So the note's mark is one of
// the last two of the right store, unless the cluster was restored to an earlier state.
func (r record) containsMark(mark string, noteUID types.UID) bool {
	return mark != "" && (mark == r.Mark || mark == r.Before || noteUID == r.NoteUID && r.History.has(mark))
}

// Name is the name by which an operator refers to exactly this store in exactly this state.
func (s observation) Name() string { return fmt.Sprintf("%s@%d", s.Store, s.Marked) }

// store reads and writes the record in etcd.
type store struct {
	Client *clientv3.Client
	Key    string
	// server is the name of this process in the marks that it sets.
	server string
	// format is the latest format that this server supports, or that the emulated version supports.
	// emulated is nil if the server emulates no other version.
	format   int
	emulated *version.Version
}

func newStore(client *clientv3.Client, prefix string) *store {
	return &store{Client: client, Key: path.Join("/", prefix, recordName), server: rand.Text(), format: storeFormat}
}

func (s *store) Close() error { return s.Client.Close() }

// emulate makes it the store of a server that emulates another version.
func (s *store) emulate(other *version.Version) {
	s.format, s.emulated = formatOfVersion(other), other
}

// Read reads the record. A store without a record gets one. The error is a formatError if this
// server cannot read the store.
func (s *store) Read(ctx context.Context) (observation, error) {
	seen, _, err := s.readWith(ctx, storeTimeout, nil)
	return seen, err
}

// readWith also reads other keys, at the same moment.
func (s *store) readWith(ctx context.Context, within time.Duration, reads []clientv3.Op) (observation, []*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, found, err := s.fetch(ctx, reads)
	if err == nil && len(answer.Kvs) == 0 {
		if err := s.begin(ctx); err != nil {
			return observation{}, nil, err
		}
		answer, found, err = s.fetch(ctx, reads)
	}
	if err != nil {
		return observation{}, nil, fmt.Errorf("reading the record of the store: %w", err)
	}
	if len(answer.Kvs) == 0 {
		return observation{}, nil, errors.New("the record of the store has just been deleted")
	}
	seen := observation{Marked: answer.Kvs[0].ModRevision, revision: answer.Header.Revision}
	if err := json.Unmarshal(answer.Kvs[0].Value, &seen.record); err != nil || seen.Store == "" || seen.Mark == "" {
		return observation{}, nil,
			fmt.Errorf("the record of the store, etcd's key %q, is damaged: it contains %q; restore etcd from a backup", s.Key, answer.Kvs[0].Value)
	}
	if seen.NeededFormat() > s.format {
		return observation{}, nil, formatError{store: seen.Store, needed: seen.NeededFormat(), known: s.format, emulated: s.emulated}
	}
	return seen, found, nil
}

func (s *store) fetch(ctx context.Context, reads []clientv3.Op) (*clientv3.GetResponse, []*clientv3.GetResponse, error) {
	all := append([]clientv3.Op{clientv3.OpGet(s.Key)}, reads...)
	// The client sends each attempt to the next member.
	answer, err := hedge(ctx, len(s.Client.Endpoints()), hedgeDelay, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.Client.Txn(ctx).Then(all...).Commit()
	})
	if err != nil {
		return nil, nil, err
	}
	var found []*clientv3.GetResponse
	for _, response := range answer.Responses {
		one := (*clientv3.GetResponse)(response.GetResponseRange())
		one.Header = answer.Header
		found = append(found, one)
	}
	return found[0], found[1:], nil
}

// begin names a store, unless another replica does so at the same time.
func (s *store) begin(ctx context.Context) error {
	first, err := json.Marshal(record{Store: string(uuid.NewUUID()), Mark: rand.Text(), Format: firstFormat})
	if err != nil {
		return fmt.Errorf("encoding the record of the store: %w", err)
	}
	_, err = s.Client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(s.Key), "=", 0)).
		Then(clientv3.OpPut(s.Key, string(first))).Commit()
	if err != nil {
		return fmt.Errorf("naming the store: %w", err)
	}
	return nil
}

// Mark writes the record again, with another mark, which is to be recorded in the note with a UID.
// It reports false if another process did so meanwhile.
func (s *store) Mark(ctx context.Context, seen observation, noteUID types.UID) (observation, bool, error) {
	return s.MarkAs(ctx, seen, noteUID, seen.NeededFormat())
}

// MarkAs also sets the format that is needed from now on.
func (s *store) MarkAs(ctx context.Context, seen observation, noteUID types.UID, format int) (observation, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	next := observation{record: record{Store: seen.Store, Before: seen.Mark, Format: format, NoteUID: noteUID}}
	if noteUID == seen.NoteUID {
		next.History = seen.History
	}
	next.Mark, next.History = next.History.next(s.server)
	content, err := json.Marshal(next.record)
	if err != nil {
		return observation{}, false, fmt.Errorf("encoding the record of the store: %w", err)
	}
	answer, err := s.Client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(s.Key), "=", seen.Marked)).
		Then(clientv3.OpPut(s.Key, string(content))).Commit()
	if err != nil {
		return observation{}, false, fmt.Errorf("marking the store: %w", err)
	}
	next.Marked, next.revision = answer.Header.Revision, answer.Header.Revision
	return next, answer.Succeeded, nil
}
