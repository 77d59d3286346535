// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	_ "golang.org/x/crypto/x509roots/fallback" // the image has no certificates of authorities
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"statefulset.dev/apiserver"
	"statefulset.dev/cmd/statefulset-apiserver/s3"
	"statefulset.dev/store/backup"
	"statefulset.dev/store/recovery"
)

// checkGrace is how long an interrupted check may take to remove the restored files.
const checkGrace = 10 * time.Second

// copies makes copies of the store while this replica leads.
type copies struct {
	options *backup.Options
	server  *apiserver.Options
}

func (c copies) validate() error {
	errs := c.options.Validate()
	if c.options.To != "" {
		_, err := place(c.options)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// place opens the location of the copies.
func place(o *backup.Options) (opened backup.Place, err error) {
	at, err := url.Parse(o.To)
	if err == nil {
		switch at.Scheme {
		case "file":
			opened, err = backup.OpenDirectory(at)
		case "s3":
			opened, err = s3.Open(at, o.Plaintext)
		default:
			err = fmt.Errorf("%q: want a URL that begins with file:/// or s3://", o.To)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--backup-to is %w", err)
	}
	return opened, nil
}

// run makes copies while this replica leads, until ctx ends. If that fails, the server continues
// without copies, because serving sets is more important.
func (c copies) run(ctx context.Context, host *rest.Config, leads func() bool) {
	if c.options.To == "" {
		return
	}
	log := klog.FromContext(ctx)
	keeper, err := c.keeper(host)
	if err != nil {
		log.Error(err, "Failed to start backups of the store; no copies are made")
		return
	}
	if c.options.KeyFile == "" {
		log.Info("Copies of the store are not signed, so anyone who can write to their location can replace them; use --backup-key-file to sign them", "to",
			c.options.To)
	}
	keeper.Run(ctx, leads)
	if err := keeper.Etcd.Close(); err != nil {
		log.Error(err, "Failed to close the connection of backups to the store")
	}
}

func (c copies) keeper(host *rest.Config) (*backup.Keeper, error) {
	to, err := place(c.options)
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfig(host)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	etcd, err := c.server.Storage.Client()
	if err != nil {
		return nil, err
	}
	prefix := c.server.Storage.Etcd.StorageConfig.Prefix
	return &backup.Keeper{
		Options: *c.options, Place: to, Etcd: etcd, Prefix: prefix, Now: time.Now,
		Publish: backup.PublishTo(core.ConfigMaps(c.server.NoteNamespace)),
		Check: func(ctx context.Context, file string) (recovery.Contents, error) {
			return checkElsewhere(ctx, file, prefix, c.options)
		},
	}, nil
}

// checkElsewhere checks a copy in a separate process: an etcd with a fatal error ends its process,
// and the server must not end because a disk for copies is full.
func checkElsewhere(ctx context.Context, file, prefix string, o *backup.Options) (found recovery.Contents, err error) {
	self, err := os.Executable()
	if err != nil {
		return found, fmt.Errorf("finding this program: %w", err)
	}
	//nolint:gosec // the program is this one
	cmd := exec.CommandContext(ctx, self, "store", "check", "--from="+file, "--etcd-prefix="+prefix, "--scratch="+o.Scratch,
		"--backup-key-file="+o.KeyFile, "--output=json")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = checkGrace
	var said bytes.Buffer
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil {
		return found, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	if err := json.Unmarshal(printed, &found); err != nil {
		return found, fmt.Errorf("reading the result of the check: %w", err)
	}
	return found, nil
}
