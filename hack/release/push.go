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
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// The images that clusters of users pull.
const (
	serverImage = "statefulset-apiserver"
	pluginImage = "kubectl-sts"
)

func runPush(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("push", flag.ContinueOnError)
	from, made := sourceFlags(fs)
	arch := archFlag(fs)
	registry := fs.String("registry", "", "`registry` to push to, with a path if it has one; uses the credentials of docker login")
	tag := fs.String("tag", "", "`tag` of the images")
	released := fs.String("digests", "", "`file` of digests that a release has written; images with another digest are not pushed")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if strings.HasSuffix(*tag, uncheckedSuffix) {
		return fmt.Errorf("--tag is %q: images that were not checked for vulnerabilities are not pushed", *tag)
	}
	digests, err := readDigests(*released)
	if err != nil {
		return err
	}
	created, err := parseTime(*made)
	if err != nil {
		return err
	}
	for _, spec := range userImages(strings.Split(*arch, ",")) {
		to, err := name.NewTag(*registry+"/"+spec.name+":"+*tag, name.StrictValidation)
		if err != nil {
			return fmt.Errorf("--registry is %q and --tag is %q, want values such as registry.example and v1: %w", *registry, *tag, err)
		}
		if err := from.pushOne(ctx, spec, created, to, digests[spec.name], out); err != nil {
			return err
		}
	}
	return nil
}

func (s source) pushOne(ctx context.Context, spec imageSpec, created time.Time, to name.Tag, released string, out io.Writer) error {
	work, err := os.MkdirTemp("", "push-")
	if err != nil {
		return fmt.Errorf("creating a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	built, err := s.assemble(ctx, spec, created, work)
	if err != nil {
		return err
	}
	digest, err := built.image.Digest()
	if err != nil {
		return fmt.Errorf("computing the digest of an image: %w", err)
	}
	if released != "" && digest.String() != released {
		return fmt.Errorf("image %s has digest %s, but the release has %s: build both from the same commit", to, digest, released)
	}
	return push(ctx, built.image, to, out)
}

// push first writes the image under its digest, so that the tag never points to an incomplete
// image.
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
