// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
)

// progressInterval is how often etcd is asked how far the watch of its history has come.
const progressInterval = 100 * time.Millisecond

// setKeys are the keys of all sets, below the prefix of the server.
const setKeys = "apps.statefulset.dev/statefulsets/"

// ReadTruth reads the history of the sets of one namespace below a prefix from etcd, from the first
// revision on. The history must not be compacted. Sets of other namespaces, which may be gigabytes,
// are not read.
func ReadTruth(ctx context.Context, etcd *clientv3.Client, prefix, namespace string) (*Truth, error) {
	now, err := etcd.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return nil, fmt.Errorf("reading the revision of etcd: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := etcd.Watch(ctx, prefix+setKeys+namespace+"/", clientv3.WithPrefix(), clientv3.WithRev(1))
	ask := time.NewTicker(progressInterval)
	defer ask.Stop()
	var changes []Change
	for {
		select {
		case <-ask.C:
			if err := etcd.RequestProgress(ctx); err != nil {
				return nil, fmt.Errorf("asking etcd for its progress: %w", err)
			}
		case response, ok := <-watch:
			if !ok {
				return nil, errors.Join(errors.New("etcd ended the watch of its history"), context.Cause(ctx))
			}
			if err := response.Err(); err != nil {
				return nil, fmt.Errorf("watching the history of etcd: %w", err)
			}
			for _, event := range response.Events {
				change, err := changeOf(event)
				if err != nil {
					return nil, err
				}
				changes = append(changes, change)
			}
			if response.IsProgressNotify() && response.Header.Revision >= now.Header.Revision {
				return NewTruth(changes), nil
			}
		}
	}
}

func changeOf(event *clientv3.Event) (Change, error) {
	key := string(event.Kv.Key)
	if event.Type == clientv3.EventTypeDelete {
		name := key[strings.LastIndexByte(key, '/')+1:]
		return Change{Version: Version{Key: name, Revision: event.Kv.ModRevision}, Deleted: true}, nil
	}
	set, err := decode(event.Kv.Value)
	if err != nil {
		return Change{}, fmt.Errorf("decoding %q at revision %d: %w", key, event.Kv.ModRevision, err)
	}
	set.ResourceVersion = strconv.FormatInt(event.Kv.ModRevision, 10)
	version, err := VersionOf(set)
	return Change{Version: version}, err
}

// protobufMagic begins every value that the server stores as protobuf.
const protobufMagic = "k8s\x00"

func decode(value []byte) (*v1.StatefulSet, error) {
	content, ok := bytes.CutPrefix(value, []byte(protobufMagic))
	if !ok {
		return nil, errors.New("the value is not protobuf")
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(content); err != nil {
		return nil, err
	}
	set := &v1.StatefulSet{}
	return set, set.Unmarshal(envelope.Raw)
}
