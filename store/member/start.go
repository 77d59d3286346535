// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"statefulset.dev/store/embedded"
	"statefulset.dev/store/logthrottle"
)

const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 2 * time.Second
)

// errAgain says that a step was done, so that the next one must be decided.
var errAgain = errors.New("a step was done")

// start carries out decisions until etcd runs or ctx ends. Failures are retried less and less
// often: the host cluster and the other members may come and go.
func (m *member) start(ctx context.Context) (*embedded.Etcd, error) {
	var throttle logthrottle.Throttle
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		etcd, err := m.reconcile(ctx)
		if err == nil {
			return etcd, nil
		}
		if errors.Is(err, errAgain) {
			pause = shortestPause / 2
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m.health.waits(err)
		if throttle.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Info("The member is not running yet", "reason", err.Error())
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (m *member) reconcile(ctx context.Context) (*embedded.Etcd, error) {
	s, err := m.observe(ctx)
	if err != nil {
		return nil, err
	}
	d := decide(s)
	if d.step != wait {
		klog.FromContext(ctx).V(2).Info("Decided on a step", "step", d.step, "disk", s.disk, "cluster", s.cluster, "noted", s.storeUsed,
			"answered", s.peers.answered, "listed", len(s.peers.listed))
	}
	switch d.step {
	case wait:
		return nil, errors.New(d.why)
	case add:
		return nil, again(m.peers.add(ctx, s.peers.through))
	case replace:
		klog.FromContext(ctx).Info("The disk is empty: removing the member that had the disk before", "member", fmt.Sprintf("%x", d.member))
		return nil, again(m.peers.remove(ctx, s.peers.through, d.member))
	default:
		return m.run(ctx, d.step, s)
	}
}

// again returns errAgain unless something has failed.
func again(err error) error {
	if err != nil {
		return err
	}
	return errAgain
}

func (m *member) observe(ctx context.Context) (s situation, err error) {
	s = situation{name: m.name(), ordinal: m.self, peerURL: m.members.peerURL(m.self), advice: m.advice}
	if s.disk, err = readDisk(m.dataDir); err != nil {
		return s, err
	}
	if s.cluster, s.storeUsed, err = m.note.read(ctx); err != nil {
		return s, err
	}
	if !s.disk.used || s.disk.isRestored() {
		s.peers = m.peers.ask(ctx)
	}
	return s, nil
}

// run reserves the disk, prepares it for the step, and starts etcd on it.
func (m *member) run(ctx context.Context, next step, s situation) (*embedded.Etcd, error) {
	dir, err := embedded.OpenDir(m.dataDir)
	if err != nil {
		return nil, err
	}
	part := m.members.memberConfig(m.self)
	part.ClientTLS, part.PeerTLS, part.Serving = m.serving.clients, m.serving.peers, m.serving.rights.Options()
	if err := m.prepare(ctx, next, s, dir, part); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	etcd, err := embedded.StartMember(dir, part)
	if err != nil {
		return nil, err
	}
	if m.fatal != nil {
		etcd.OnFatal(m.fatal)
	}
	if s.disk.Stage != owned || next == adopt {
		m.record.Stage = owned
		if err := m.record.write(m.dataDir); err != nil {
			return nil, errors.Join(err, etcd.Close())
		}
	}
	return etcd, nil
}

func (m *member) prepare(ctx context.Context, next step, s situation, dir *embedded.Dir, part *embedded.MemberConfig) error {
	m.record = s.disk.record
	switch next {
	case begin:
		return m.prepareToBegin(ctx, s, dir, part)
	case join:
		m.record = record{Name: s.name, Stage: joining, Cluster: s.cluster}
		part.Joining, part.Cluster = true, m.clusterOf(s)
		return errors.Join(dir.Discard(), m.record.write(m.dataDir))
	case adopt:
		cluster, err := newName()
		if err != nil {
			return err
		}
		if err := m.note.replace(ctx, cluster); err != nil {
			return err
		}
		m.record = record{Name: s.name, Stage: joining, Cluster: cluster}
		klog.FromContext(ctx).Info("Using the restored store", "cluster", cluster)
		return m.record.write(m.dataDir)
	default:
		if s.cluster == "" {
			// While the record is missing, an empty disk could be mistaken for the first one.
			return m.note.create(ctx, s.disk.Cluster)
		}
		return nil
	}
}

// prepareToBegin writes the name of the store first to the disk, then to the host cluster, which
// keeps the first name that is written. The member that finds its own name there may create the
// store.
func (m *member) prepareToBegin(ctx context.Context, s situation, dir *embedded.Dir, part *embedded.MemberConfig) error {
	if m.record.Stage != beginning {
		cluster, err := newName()
		if err != nil {
			return err
		}
		m.record = record{Name: s.name, Stage: beginning, Cluster: cluster}
		if err := m.record.write(m.dataDir); err != nil {
			return err
		}
	}
	if s.cluster == "" {
		if err := m.note.create(ctx, m.record.Cluster); err != nil {
			return err
		}
		klog.FromContext(ctx).Info("Creating the store", "cluster", m.record.Cluster)
	}
	part.Cluster, part.Token = map[string]string{s.name: s.peerURL}, m.record.Cluster
	return dir.Discard()
}

// clusterOf has all listed members, including this one.
func (m *member) clusterOf(s situation) map[string]string {
	cluster := map[string]string{}
	for _, listed := range s.peers.listed {
		for _, url := range listed.PeerURLs {
			name := m.members.nameOf(url)
			if name == "" {
				name = fmt.Sprintf("%x", listed.ID)
			}
			cluster[name] = url
		}
	}
	return cluster
}

func newName() (string, error) {
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("choosing a name for the store: %w", err)
	}
	return hex.EncodeToString(random), nil
}
