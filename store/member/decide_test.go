// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// seen is a situation of a member with an empty disk and no others, changed.
func seen(ordinal int, changes ...func(*situation)) situation {
	m := testMembers()
	s := situation{name: m.name(ordinal), ordinal: ordinal, peerURL: m.peerURL(ordinal),
		advice: advice{namespace: "system", prefix: m.prefix, dataDir: "/data"}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func testMembers() members {
	return members{prefix: "etcd", count: 3, host: "{name}.etcd", client: 2379, peer: 2380}
}

// diskOf is one of store a.
func diskOf(name string, at stage, used bool) func(*situation) {
	return func(s *situation) {
		s.disk = disk{record: record{Name: name, Stage: at, Cluster: "a"}, used: used}
	}
}

func restored(s *situation) { s.disk = disk{used: true} }
func noted(s *situation)    { s.storeUsed = true }

func begun(cluster string) func(*situation) { return func(s *situation) { s.cluster = cluster } }

func answering(n int) func(*situation) { return func(s *situation) { s.peers.answered = n } }

// listing is a majority that knows members, each by a letter for how: v votes, l has come
// without a vote, - was added and has not come.
func listing(how string) func(*situation) {
	return func(s *situation) {
		m := testMembers()
		s.peers.answered = 2
		for i, letter := range how {
			if letter == ' ' {
				continue
			}
			one := &etcdserverpb.Member{ID: uint64(100 + i), PeerURLs: []string{m.peerURL(i)}, IsLearner: letter != 'v'}
			if letter != '-' {
				one.Name = m.name(i)
			}
			s.peers.listed = append(s.peers.listed, one)
		}
	}
}

func TestWhatIsDoneWithADisk(t *testing.T) {
	for sentence, tc := range map[string]struct {
		s    situation
		want step
		why  string
	}{
		"the first member of all begins":                             {s: seen(0), want: begin},
		"another one waits for it":                                   {s: seen(1), want: wait, why: "has not created"},
		"nobody begins while somebody answers":                       {s: seen(0, answering(1)), want: wait, why: "no majority"},
		"nobody begins on an empty disk when the store was begun":    {s: seen(0, begun("a")), want: wait, why: "restore a backup"},
		"nobody begins when servers have noted a store":              {s: seen(0, noted), want: wait, why: "restore a backup"},
		"one that was interrupted before the host knew begins again": {s: seen(0, diskOf("etcd-0", beginning, false)), want: begin},
		"one that was interrupted after the host knew begins again": {
			s: seen(0, diskOf("etcd-0", beginning, false), begun("a")), want: begin},
		"one that was slower than another does not begin": {
			s: seen(0, diskOf("etcd-0", beginning, false), begun("b")), want: wait, why: "no majority"},
		"one that was interrupted, while servers have noted a store": {
			s: seen(0, diskOf("etcd-0", beginning, false), noted), want: wait, why: "restore a backup"},
		"a member with its disk starts, whatever the others say": {
			s: seen(1, diskOf("etcd-1", owned, true), begun("a"), listing("v v")), want: start},
		"a member with its disk starts alone": {
			s: seen(1, diskOf("etcd-1", owned, true), begun("a")), want: start},
		"a member with its disk starts, although the host has forgotten": {s: seen(1, diskOf("etcd-1", owned, true), noted), want: start},
		"a member with the disk of another one waits": {
			s: seen(1, diskOf("etcd-2", owned, true), begun("a"), listing("v v")), want: wait, why: "the disk belongs to etcd-2"},
		"a member with the disk of another store waits": {
			s: seen(1, diskOf("etcd-1", owned, true), begun("b"), listing("v v")), want: wait, why: "store a"},
		"a disk that another process uses is left alone": {
			s: seen(0, func(s *situation) { s.disk.busy = true }), want: wait, why: "another process"},
		"an empty disk, and the majority does not know us":              {s: seen(1, begun("a"), listing("v v")), want: add},
		"an empty disk, and the majority has added us":                  {s: seen(1, begun("a"), listing("v-v")), want: join},
		"an empty disk, and the majority knows us with a vote":          {s: seen(1, begun("a"), listing("vvv")), want: replace},
		"an empty disk, and the majority knows us as one that has come": {s: seen(1, begun("a"), listing("vlv")), want: replace},
		"an empty disk of the first, and the majority knows it":         {s: seen(0, begun("a"), noted, listing("vvv")), want: replace},
		"a disk on which joining was interrupted before etcd ran": {
			s: seen(1, diskOf("etcd-1", joining, false), begun("a"), listing("v-v")), want: join},
		"a disk on which joining was interrupted after etcd ran": {
			s: seen(1, diskOf("etcd-1", joining, true), begun("a"), listing("vlv")), want: start},
		"an empty disk without a majority": {
			s: seen(1, begun("a"), answering(1)), want: wait, why: "no majority"},
		"a backup on the disk of the first, and nobody has a store":     {s: seen(0, restored, noted), want: adopt},
		"a backup on the disk of the first, and the others lost theirs": {s: seen(0, restored, noted, begun("a")), want: adopt},
		"a backup on the disk of the first, and the others have a majority": {
			s: seen(0, restored, noted, begun("a"), listing(" vv")), want: wait, why: "have a working store"},
		"a backup on the disk of another one":                                {s: seen(1, restored, noted), want: wait, why: "ordinal 0"},
		"an empty disk beside one that was restored, and knows of one alone": {s: seen(1, begun("b"), noted, listing("v")), want: add},
	} {
		got := decide(tc.s)
		if got.step != tc.want || !strings.Contains(got.why, tc.why) {
			t.Errorf("%s: got step %d because %q, want step %d because of %q", sentence, got.step, got.why, tc.want, tc.why)
		}
		if got.step == wait && got.why == "" {
			t.Errorf("%s: got no reason to wait, want one", sentence)
		}
		if want := uint64(100 + tc.s.ordinal); got.step == replace && got.member != want {
			t.Errorf("%s: takes the place of %d, want %d", sentence, got.member, want)
		}
	}
}

func TestNamesAndHosts(t *testing.T) {
	m := testMembers()
	if got, want := m.clientURL(2), "https://etcd-2.etcd:2379"; got != want {
		t.Errorf("client URL: got %s, want %s", got, want)
	}
	if got, want := m.nameOf("https://etcd-1.etcd:2380"), "etcd-1"; got != want {
		t.Errorf("name of a peer URL: got %q, want %q", got, want)
	}
	if got := m.nameOf("https://stranger:2380"); got != "" {
		t.Errorf("name of a stranger: got %q, want none", got)
	}
	byAddress := members{prefix: "etcd", count: 3, host: "127.0.1.{ordinal}"}
	if names, addresses := byAddress.hosts(2); len(names) != 0 || len(addresses) != 1 || addresses[0].String() != "127.0.1.2" {
		t.Errorf("hosts: got %v and %v, want 127.0.1.2", names, addresses)
	}
}

func TestOptionsNameTheFlag(t *testing.T) {
	for sentence, tc := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"the defaults":               {func(*Options) {}, ""},
		"a name without ordinal":     {func(o *Options) { o.Name = "etcd" }, `--name: "etcd" does not end with - and an ordinal`},
		"an ordinal with a zero":     {func(o *Options) { o.Name = "etcd-01" }, `--name: "etcd-01"`},
		"an ordinal beyond the last": {func(o *Options) { o.Name = "etcd-3" }, `--name is "etcd-3" and --members is 3: ordinals are 0 to 2`},
		"an even number of members":  {func(o *Options) { o.Members = 2 }, "--members is 2, must be 1, 3, 5 or 7"},
		"the same host for everybody": {
			func(o *Options) { o.Host = "localhost" }, `--member-host is "localhost", which is the same for all members`},
		"no data directory":        {func(o *Options) { o.DataDir = "" }, "--data-dir is empty"},
		"a port that is none":      {func(o *Options) { o.PeerPort = 70000 }, "--peer-port is 70000"},
		"a prefix of all keys":     {func(o *Options) { o.Prefix = "/" }, `--etcd-prefix is "/"`},
		"a namespace that is none": {func(o *Options) { o.Namespace = "A" }, `--store-note-namespace is "A"`},
	} {
		o := NewOptions()
		o.Name = "etcd-0"
		tc.change(o)
		err := o.Validate()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", sentence, err, tc.want)
		}
	}
}
