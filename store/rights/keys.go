// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"bytes"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// compactionKey is the key by which servers agree on which one compacts the store, and up to which
// revision. k8s.io/apiserver defines it, and it is not below the prefix.
const compactionKey = "compact_rev_key"

// keyed is what requests for keys have in common.
type keyed interface {
	GetKey() []byte
	GetRangeEnd() []byte
}

// put is a write as a keyed request. It has one key.
type put struct{ *pb.PutRequest }

func (put) GetRangeEnd() []byte { return nil }

// outside returns a key in a request that servers must not use.
func (r Rights) outside(request any) (key string, found bool) {
	switch q := request.(type) {
	case *pb.PutRequest:
		return r.outsideOf(put{q})
	case *pb.RangeRequest:
		return r.outsideOf(q)
	case *pb.DeleteRangeRequest:
		return r.outsideOf(q)
	case *pb.WatchRequest:
		if create := q.GetCreateRequest(); create != nil {
			return r.outsideOf(create)
		}
	case *pb.TxnRequest:
		return r.outsideOfTxn(q)
	}
	return "", false
}

func (r Rights) outsideOf(q keyed) (key string, found bool) {
	if key = string(q.GetKey()); key == compactionKey && len(q.GetRangeEnd()) == 0 {
		return "", false
	}
	prefix := strings.TrimSuffix(r.Prefix, "/") + "/"
	end := q.GetRangeEnd()
	// A range end of one zero byte means all keys from the first one on.
	if !strings.HasPrefix(key, prefix) || bytes.Equal(end, []byte{0}) || bytes.Compare(end, []byte(clientv3.GetPrefixRangeEnd(prefix))) > 0 {
		return key, true
	}
	return "", false
}

func (r Rights) outsideOfTxn(q *pb.TxnRequest) (key string, found bool) {
	for _, compare := range q.Compare {
		if key, found = r.outsideOf(compare); found {
			return key, true
		}
	}
	for _, op := range slices.Concat(q.Success, q.Failure) {
		if key, found = r.outside(requestOf(op)); found {
			return key, true
		}
	}
	return "", false
}

// requestOf is one step of a transaction.
func requestOf(op *pb.RequestOp) any {
	switch step := op.GetRequest().(type) {
	case *pb.RequestOp_RequestRange:
		return step.RequestRange
	case *pb.RequestOp_RequestPut:
		return step.RequestPut
	case *pb.RequestOp_RequestDeleteRange:
		return step.RequestDeleteRange
	case *pb.RequestOp_RequestTxn:
		return step.RequestTxn
	}
	return nil
}
