// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

func runUp(ctx context.Context, args []string, out io.Writer) error {
	fs := newFlags("up",
		"[--nodes fake|real[:N]|mixed[:N]] [--kubernetes VERSION] [--dir DIR] [--modules DIR] [--images DIR] [--audit-policy FILE] [--port-offset N]", out)
	dir, modules, version := dirFlag(fs), modulesFlag(fs),
		kubernetesFlag(fs, "the version of the existing cluster, else "+newestRelease().String())
	audit := fs.String("audit-policy", "",
		"`file` with the audit policy of a kube-apiserver that this command starts (default: changes, except of events and leases)")
	nodes, images := nodesFlag(fs), imagesFlag(fs)
	offset := fs.Int("port-offset", 0,
		"`N` to add to the default ports of a new cluster, to avoid conflicts with clusters that start and stop")
	if err := parse(fs, args); err != nil {
		return err
	}
	target, err := absolute("dir", *dir)
	if err != nil {
		return err
	}
	r, err := releaseFor(target, *version)
	if err != nil {
		return err
	}
	wanted, err := nodesFor(target, *nodes)
	if err != nil {
		return err
	}
	modulesDir, err := findModules(*modules)
	if err != nil {
		return err
	}
	bin, err := buildAll(ctx, r, wanted.real > 0, modulesDir, out)
	if err != nil {
		return err
	}
	s, release, err := openToStart(ctx, target, out)
	if err != nil {
		return err
	}
	defer release()
	s.kubernetes, s.auditPolicy = r, *audit
	if err := s.movePorts(*offset); err != nil {
		return err
	}
	if err := s.connect(ctx, wanted); err != nil {
		return err
	}
	if err := s.up(ctx, bin, modulesDir, *images); err != nil {
		return s.abandon(err)
	}
	return nil
}

func (s *supervisor) up(ctx context.Context, bin binaries, modulesDir, images string) error {
	begun := time.Now()
	if err := s.assignPorts(ctx); err != nil {
		return err
	}
	if err := s.writeConfiguration(ctx, bin, modulesDir); err != nil {
		return err
	}
	if err := s.upgrade(); err != nil {
		return err
	}
	if err := s.ensure(ctx, s.etcd(bin)); err != nil {
		return err
	}
	if err := s.ensure(ctx, s.apiserver(bin)); err != nil {
		return err
	}
	// In a cluster that was stopped, kubectl may wait for a server that runs on the cluster's
	// nodes.
	starting, startCtx := errgroup.WithContext(ctx)
	starting.Go(func() error { return s.applyPrepared(startCtx, bin["kubectl"]) })
	starting.Go(func() error {
		if err := s.ensure(startCtx, s.followers(bin)...); err != nil {
			return err
		}
		return s.startNodes(startCtx, bin, images, s.nodes()...)
	})
	if err := starting.Wait(); err != nil {
		return err
	}
	if err := s.waitUsable(ctx, bin["kubectl"]); err != nil {
		return err
	}
	s.report(begun)
	return nil
}

// assignPorts assigns a port to every listener that is not running. If a port has changed, running
// components would use the old one, so all of them are stopped.
func (s *supervisor) assignPorts(ctx context.Context) error {
	before := maps.Clone(s.state.Ports)
	owners := map[string]string{etcdPeer: etcdName}
	for _, name := range []string{etcdName, etcdPeer, apiserverName, kcmName, schedulerName, kwokName} {
		owner := name
		if o, ok := owners[name]; ok {
			owner = o
		}
		if s.alive(owner) {
			continue
		}
		if err := s.assignPort(ctx, name); err != nil {
			return err
		}
	}
	if len(before) > 0 && !maps.Equal(before, s.state.Ports) {
		return s.stopAll()
	}
	return nil
}

// writeConfiguration writes every file that the components read, and creates a link to kubectl next
// to the kubeconfig.
func (s *supervisor) writeConfiguration(ctx context.Context, bin binaries, modulesDir string) error {
	if err := ensurePKI(s.dir, s.host()); err != nil {
		return err
	}
	for _, client := range []string{kcmClient, schedulerClient} {
		if err := s.writeClientConfig(s.clientConfig(client), client); err != nil {
			return err
		}
	}
	if err := s.writeClientConfig(s.adminConfig(), adminClient); err != nil {
		return err
	}
	policy, err := s.readAuditPolicy()
	if err != nil {
		return err
	}
	if err := writeFile(s.path("config", auditPolicyFile), policy); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	if err := s.writeForNodes(ctx, bin, modulesDir); err != nil {
		return err
	}
	return link(bin["kubectl"], s.kubectl())
}

// writeForNodes writes the files that depend on the kind of nodes.
func (s *supervisor) writeForNodes(ctx context.Context, bin binaries, modulesDir string) error {
	if s.fakeNodes() {
		if err := s.writeClientConfig(s.clientConfig(kwokClient), kwokClient); err != nil {
			return err
		}
		if err := writeStages(ctx, modulesDir, s.path("config", stagesFile), s.fakeClasses()); err != nil {
			return err
		}
	}
	if s.net == nil {
		return nil
	}
	if err := s.writeAddons(); err != nil {
		return err
	}
	for _, n := range s.nodes() {
		if err := s.writeNode(bin, n); err != nil {
			return err
		}
	}
	return nil
}

func (s *supervisor) readAuditPolicy() ([]byte, error) {
	if s.auditPolicy == "" {
		return manifests.ReadFile(auditPolicy)
	}
	policy, err := os.ReadFile(s.auditPolicy)
	if err != nil {
		return nil, fmt.Errorf("reading --audit-policy: %w", err)
	}
	return policy, nil
}

func (s *supervisor) writeClientConfig(path, client string) error {
	return writeKubeconfig(path, s.url(apiserverName), s.crt(clusterCA), s.pki(client))
}

func link(target, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing a link: %w", err)
	}
	if err := os.Symlink(target, path); err != nil {
		return fmt.Errorf("linking kubectl: %w", err)
	}
	return nil
}

func (s *supervisor) report(begun time.Time) {
	if len(s.started) == 0 {
		fmt.Fprintf(s.out, "the cluster in %s is already running\n", s.dir)
	} else {
		fmt.Fprintf(s.out, "the cluster in %s is up with Kubernetes %s (%s)\n", s.dir, s.kubernetes, elapsed(begun))
	}
	fmt.Fprintf(s.out, "  export KUBECONFIG=%s\n  kubectl for this cluster: %s\n", s.adminConfig(), s.kubectl())
	if s.registered() && !s.alive(aggregatedName) {
		fmt.Fprintf(s.out, "%s is registered but not running: start it with cluster register\n", aggregatedName)
	}
}
