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

// mostLearners is how many members may be without a vote at the same time.
const mostLearners = 8

// hashCheckInterval is how often the leader compares the members.
const hashCheckInterval = time.Minute

// MemberConfig configures an etcd that runs as a member of a cluster.
type MemberConfig struct {
	// Name is the member's name, and Host the name or address at which others reach it.
	Name, Host string
	// Listen is the address on which it listens for clients and for the other members.
	Listen               string
	ClientPort, PeerPort int
	// ClientTLS is for serving clients, and PeerTLS for connections to the other members. Each
	// requires a certificate of the same CA from the other side.
	ClientTLS, PeerTLS transport.TLSInfo
	// Serving are options of the server for clients: which client may do what.
	Serving []grpc.ServerOption
	// Cluster has the URL of each member with which a new directory begins, by name, and Token
	// distinguishes that cluster from others. Joining is true if the cluster exists already.
	Cluster map[string]string
	Token   string
	Joining bool
}

// ClientURL is the URL of the member for clients.
func (p *MemberConfig) ClientURL() url.URL { return secureURL(p.Host, p.ClientPort) }

// PeerURL is the URL of the member for other members.
func (p *MemberConfig) PeerURL() url.URL { return secureURL(p.Host, p.PeerPort) }

func (p *MemberConfig) apply(config *embed.Config) {
	config.Name = p.Name
	config.ListenClientUrls = append(config.ListenClientUrls, secureURL(p.Listen, p.ClientPort))
	config.AdvertiseClientUrls = []url.URL{p.ClientURL()}
	config.ListenPeerUrls = []url.URL{secureURL(p.Listen, p.PeerPort)}
	config.AdvertisePeerUrls = []url.URL{p.PeerURL()}
	config.ClientTLSInfo, config.PeerTLSInfo = p.ClientTLS, p.PeerTLS
	config.GRPCAdditionalServerOptions = append(config.GRPCAdditionalServerOptions, p.Serving...)
	// A member that starts or returns must not have to wait for another one. Etcd's default of one
	// learner refuses the second after it was written to the log. When the log is read again, etcd
	// looks for a peer that never existed.
	config.MaxLearners = mostLearners
	// The leader compares the data of members, and stops writes if they differ.
	config.CompactHashCheckTime = hashCheckInterval
	_ = config.ServerFeatureGate.(featuregate.MutableFeatureGate).Set(string(features.CompactHashCheck) + "=true") // the gate exists
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

// StartMember starts a member in a directory, and closes the directory on failure. WaitReady
// returns when the member answers.
func StartMember(dir *Dir, part *MemberConfig) (*Etcd, error) {
	if err := checkData(dir.path); err != nil {
		return nil, errors.Join(fmt.Errorf("the data directory %q cannot be used: %w", dir.path, err), dir.Close())
	}
	etcd, err := newEtcd(dir, defaultQuota)
	if err != nil {
		return nil, err
	}
	etcd.member = part
	if err := etcd.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting etcd: %w", err), etcd.Close())
	}
	return etcd, nil
}

// MemberID is the ID of the member in the cluster.
func (e *Etcd) MemberID() uint64 { return uint64(e.server.Server.MemberID()) }

// Hash is a hash of the member's data at its current revision. Members with the same data have the
// same hash.
func (e *Etcd) Hash() (revision int64, hash uint32, err error) {
	got, revision, err := e.server.Server.KV().HashStorage().HashByRev(0)
	if err != nil {
		return 0, 0, fmt.Errorf("computing the hash of the member's data: %w", err)
	}
	return revision, got.Hash, nil
}

// HasLog reports whether an etcd has ever run in a directory.
func HasLog(dataDir string) bool { return fileutil.Exist(logOf(dataDir)) }

// Discard deletes the remains of a member that was never part of its cluster.
func (d *Dir) Discard() error {
	if err := os.RemoveAll(filepath.Join(d.path, "member")); err != nil {
		return fmt.Errorf("emptying the data directory %q: %w", d.path, err)
	}
	return nil
}

func secureURL(host string, port int) url.URL {
	return url.URL{Scheme: "https", Host: fmt.Sprintf("%s:%d", host, port)}
}
