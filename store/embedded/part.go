// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/pkg/v3/featuregate"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/features"
	"google.golang.org/grpc"
)

// mostLearners is how many members may be without a vote at a time.
const mostLearners = 8

// hashCheckInterval is how often the leader compares members.
const hashCheckInterval = time.Minute

// Part says as which member of a cluster an etcd runs.
type Part struct {
	// Name is the member's, and Host the name or address under which others reach it.
	Name, Host string
	// Listen is the address that it listens on, for clients and for the other members.
	Listen               string
	ClientPort, PeerPort int
	// ClientTLS is what it serves clients with, and PeerTLS what it shows to the other members. It
	// asks each for a certificate of the same authority.
	ClientTLS, PeerTLS transport.TLSInfo
	// Serving are options of the server for clients: who may do what.
	Serving []grpc.ServerOption
	// Cluster has the URL of each member that a new directory begins with, by name, and Token
	// tells that cluster from others. Joining says that the cluster is there already.
	Cluster map[string]string
	Token   string
	Joining bool
}

// ClientURL is where clients reach the member.
func (p *Part) ClientURL() url.URL { return secureURL(p.Host, p.ClientPort) }

// PeerURL is what other members know it by.
func (p *Part) PeerURL() url.URL { return secureURL(p.Host, p.PeerPort) }

func (p *Part) apply(config *embed.Config) {
	config.Name = p.Name
	config.ListenClientUrls = append(config.ListenClientUrls, secureURL(p.Listen, p.ClientPort))
	config.AdvertiseClientUrls = []url.URL{p.ClientURL()}
	config.ListenPeerUrls = []url.URL{secureURL(p.Listen, p.PeerPort)}
	config.AdvertisePeerUrls = []url.URL{p.PeerURL()}
	config.ClientTLSInfo, config.PeerTLSInfo = p.ClientTLS, p.PeerTLS
	config.GRPCAdditionalServerOptions = append(config.GRPCAdditionalServerOptions, p.Serving...)
	// Whoever begins or comes back may do so beside another one. Etcd's default of one refuses the
	// second after it was written to the log, and when that is read again it looks for a peer that
	// never was one.
	config.MaxLearners = mostLearners
	// The leader compares what members have, and stops writes if it is not the same.
	config.CompactHashCheckTime = hashCheckInterval
	_ = config.ServerFeatureGate.(featuregate.MutableFeatureGate).Set(string(features.CompactHashCheck) + "=true") // a gate that there is
	config.InitialClusterToken = p.Token
	var cluster []string
	for name, peer := range p.Cluster {
		cluster = append(cluster, name+"="+peer)
	}
	config.InitialCluster = strings.Join(cluster, ",")
	if p.Joining {
		config.ClusterState = embed.ClusterStateFlagExisting
	}
}

// StartPart begins to run a member in a directory, which it closes if it fails. WaitReady says
// when the member answers.
func StartPart(dir *Dir, part *Part) (*Etcd, error) {
	if err := checkData(dir.path); err != nil {
		return nil, errors.Join(fmt.Errorf("the data directory %q cannot be used: %w", dir.path, err), dir.Close())
	}
	etcd, err := newEtcd(dir, defaultQuota)
	if err != nil {
		return nil, err
	}
	etcd.part = part
	if err := etcd.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting etcd: %w", err), etcd.Close())
	}
	return etcd, nil
}

// MemberID is what other members call it.
func (e *Etcd) MemberID() uint64 { return uint64(e.server.Server.MemberID()) }

// Hash is what the member has at its present revision, in a number that is the same for all who
// have the same.
func (e *Etcd) Hash() (revision int64, hash uint32, err error) {
	got, revision, err := e.server.Server.KV().HashStorage().HashByRev(0)
	if err != nil {
		return 0, 0, fmt.Errorf("reading through what the member has: %w", err)
	}
	return revision, got.Hash, nil
}

// HasLog says whether an etcd has ever run in a directory.
func HasLog(dataDir string) bool { return fileutil.Exist(logOf(dataDir)) }

// Discard takes away what a member that never was part of its cluster has left.
func (d *Dir) Discard() error {
	if err := os.RemoveAll(filepath.Join(d.path, "member")); err != nil {
		return fmt.Errorf("emptying the data directory %q: %w", d.path, err)
	}
	return nil
}

func secureURL(host string, port int) url.URL {
	return url.URL{Scheme: "https", Host: fmt.Sprintf("%s:%d", host, port)}
}
