// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const serverImage = "statefulset-apiserver"

func runPush(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("push", flag.ContinueOnError)
	from, common := sourceFlags(fs)
	to := fs.String("to", "", "`name` of the image to push, with a registry and a tag; credentials are those of docker login")
	if err := fs.Parse(args); err != nil {
		return err
	}
	reference, err := name.NewTag(*to, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("--to is %q, want a name such as registry.example/statefulset-apiserver:v1: %w", *to, err)
	}
	created, err := parseTime(*common.created)
	if err != nil {
		return err
	}
	for _, spec := range images(strings.Split(*common.arch, ",")) {
		if spec.name != serverImage {
			continue
		}
		work, err := os.MkdirTemp("", "push-")
		if err != nil {
			return fmt.Errorf("making a directory to work in: %w", err)
		}
		defer func() { _ = os.RemoveAll(work) }()
		built, err := from.build(ctx, spec, created, work)
		if err != nil {
			return err
		}
		return push(ctx, built.image, reference, out)
	}
	return nil
}

// push writes the image under its digest first, so that the tag never leads to a part of it.
func push(ctx context.Context, image v1.ImageIndex, to name.Tag, out io.Writer) error {
	digest, err := image.Digest()
	if err != nil {
		return fmt.Errorf("computing the digest of an image: %w", err)
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	whole := to.Context().Digest(digest.String())
	if err := remote.WriteIndex(whole, image, options...); err != nil {
		return fmt.Errorf("pushing %s: %w", whole, err)
	}
	if err := remote.Tag(to, image, options...); err != nil {
		return fmt.Errorf("tagging %s: %w", to, err)
	}
	fmt.Fprintf(out, "pushed %s@%s\n", to, digest)
	return nil
}
