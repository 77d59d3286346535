// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

func TestServersUseKeysBelowTheirPrefixOnly(t *testing.T) {
	ask := func(key, end string) *pb.RangeRequest {
		return &pb.RangeRequest{Key: []byte(key), RangeEnd: []byte(end)}
	}
	write := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("/x")}}}
	for sentence, tc := range map[string]struct {
		request any
		outside string // a key that is refused, empty if none is
	}{
		"one key":                         {ask("/r/a/x", ""), ""},
		"all keys":                        {ask("/r/a/", "/r/a0"), ""},
		"some keys":                       {ask("/r/a/b", "/r/a/c"), ""},
		"the prefix without its end":      {ask("/r/a", ""), "/r/a"},
		"a longer name":                   {ask("/r/ab/x", ""), "/r/ab/x"},
		"one key past the end":            {ask("/r/a/", "/r/a1"), "/r/a/"},
		"from a key to the end of all":    {ask("/r/a/", "\x00"), "/r/a/"},
		"the key of compactions":          {ask("compact_rev_key", ""), ""},
		"from the key of compactions on":  {ask("compact_rev_key", "\x00"), "compact_rev_key"},
		"no key":                          {ask("", ""), ""},
		"a write":                         {&pb.PutRequest{Key: []byte("/x")}, "/x"},
		"a deletion":                      {&pb.DeleteRangeRequest{Key: []byte("/x")}, "/x"},
		"a question for progress":         {&pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{}}, ""},
		"a transaction without any step":  {&pb.TxnRequest{}, ""},
		"a step that this does not know":  {&pb.TxnRequest{Success: []*pb.RequestOp{{}}}, ""},
		"a copy of the store":             {&pb.SnapshotRequest{}, ""},
		"a comparison with a range":       {&pb.TxnRequest{Compare: []*pb.Compare{{Key: []byte("/r/a/"), RangeEnd: []byte("\x00")}}}, "/r/a/"},
		"a write in case of a difference": {&pb.TxnRequest{Failure: []*pb.RequestOp{write}}, "/x"},
	} {
		for _, prefix := range []string{"/r/a", "/r/a/"} {
			key, found := (Rights{Prefix: prefix}).outside(tc.request)
			refused := tc.outside != "" || sentence == "no key"
			if found != refused || key != tc.outside {
				t.Errorf("%s, below %s: got refused %v for key %q, want %v for key %q", sentence, prefix, found, key, refused, tc.outside)
			}
		}
	}
}
