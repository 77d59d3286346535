// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

func runRegister(ctx context.Context, args []string, out io.Writer) error {
	own, extra := splitExtra(args)
	fs := newFlags("register", "--server BINARY --manifests BASE [--dir DIR] [--data-dir DIR] [-- server flags]", out)
	dir := dirFlag(fs)
	server := fs.String("server", "", "`binary` of the API server to start")
	base := fs.String("manifests", "", "kustomize base `directory` that registers the API server")
	data := fs.String("data-dir", "", "`directory` for the API server's data (default: statefulset-data in the cluster's directory)")
	if err := parse(fs, own); err != nil {
		return err
	}
	target, err := absolute("dir", *dir)
	if err != nil {
		return err
	}
	r, err := newRegistration(target, *server, *base, *data, extra)
	if err != nil {
		return err
	}
	if _, err := os.Stat(target); err != nil {
		return fmt.Errorf("there is no cluster in %s: start one with cluster up", target)
	}
	s, release, err := openToStart(ctx, target, out)
	if err != nil {
		return err
	}
	defer release()
	if !s.alive(apiserverName) {
		return fmt.Errorf("the cluster in %s is not running: start it with cluster up", target)
	}
	if err := s.register(ctx, r); err != nil {
		return s.abandon(err)
	}
	return nil
}

// registration is what the user wants to register, with absolute paths.
type registration struct {
	server string
	base   string
	data   string
	extra  []string
}

func newRegistration(dir, server, base, data string, extra []string) (registration, error) {
	if data == "" {
		data = filepath.Join(dir, "statefulset-data")
	}
	r := registration{extra: extra}
	for _, p := range []struct {
		flag, given string
		into        *string
	}{{"server", server, &r.server}, {"manifests", base, &r.base}, {"data-dir", data, &r.data}} {
		abs, err := absolute(p.flag, p.given)
		if err != nil {
			return registration{}, err
		}
		*p.into = abs
	}
	if info, err := os.Stat(r.server); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return registration{}, fmt.Errorf("--server %s is not an executable file: build it first", r.server)
	}
	if _, err := os.Stat(filepath.Join(r.base, overlayFile)); err != nil {
		return registration{}, fmt.Errorf("--manifests %s has no %s: use a kustomize base", r.base, overlayFile)
	}
	return r, nil
}

func (s *supervisor) register(ctx context.Context, r registration) error {
	begun := time.Now()
	if err := s.aggregatedPort(ctx, r); err != nil {
		return err
	}
	if err := s.writeRegistration(r); err != nil {
		return err
	}
	if err := runKubectl(ctx, s.kubectl(), s.adminConfig(), nil, "apply", "--kustomize="+s.path(registrationDir)); err != nil {
		return fmt.Errorf("registering %s: %w", aggregatedName, err)
	}
	c := s.aggregated(r)
	if err := s.ensure(ctx, c); err != nil {
		return err
	}
	if err := s.nudge(ctx); err != nil {
		return err
	}
	if err := s.waitAvailable(ctx, c); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s is registered and available at %s (%s)\n", apiServiceName, localAddress(s.ports[aggregatedName]), elapsed(begun))
	return nil
}

// aggregatedPort keeps the port of a server that continues to run, and stops a server whose binary
// has changed so that its successor can use the port.
func (s *supervisor) aggregatedPort(ctx context.Context, r registration) error {
	if p, ok := s.state.Processes[aggregatedName]; ok {
		if p.alive() && p.runs(r.server) {
			return nil
		}
		if err := s.stop(aggregatedName); err != nil {
			return err
		}
	}
	return s.assignPort(ctx, aggregatedName)
}

// nudge changes the APIService, so that the cluster checks it now: while the server was starting,
// the checks became less and less frequent.
func (s *supervisor) nudge(ctx context.Context) error {
	if len(s.started) == 0 {
		return nil
	}
	note := "local-cluster/started=" + time.Now().UTC().Format(time.RFC3339Nano)
	if err := runKubectl(ctx, s.kubectl(), s.adminConfig(), nil, "annotate", "--overwrite", "apiservice", apiServiceName, note); err != nil {
		return fmt.Errorf("announcing the started server: %w", err)
	}
	return nil
}

// waitAvailable waits until the cluster reports that the API is available and serves it at its own
// address.
func (s *supervisor) waitAvailable(ctx context.Context, c component) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	said := ""
	for {
		unavailable := s.availability(ctx)
		if !s.alive(c.name) {
			return deadError{name: c.name, log: s.log(c.name)}
		}
		if unavailable == nil {
			return nil
		}
		if unavailable.Error() != said {
			said = unavailable.Error()
			fmt.Fprintf(s.out, "waiting for %s: %s\n", apiServiceName, said)
		}
		if err := pause(ctx, readyPoll); err != nil {
			return s.gaveUp(c.name, err, unavailable)
		}
	}
}

// availability returns nil when the API is available, and otherwise the reason that the cluster
// reports.
func (s *supervisor) availability(ctx context.Context) error {
	raw, err := s.apiserverProbe("/apis/apiregistration.k8s.io/v1/apiservices/" + apiServiceName).get(ctx)
	if err != nil {
		return err
	}
	var service struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := json.Unmarshal(raw, &service); err != nil {
		return fmt.Errorf("decoding the APIService: %w", err)
	}
	for _, c := range service.Status.Conditions {
		if c.Type != "Available" {
			continue
		}
		if c.Status != "True" {
			return fmt.Errorf("%s: %s", c.Reason, c.Message)
		}
		_, err := s.apiserverProbe("/apis/" + groupVersion).get(ctx)
		return err
	}
	return errors.New("the cluster has not checked it yet")
}
