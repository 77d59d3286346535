// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package s3 keeps copies of the store in a bucket of S3, or of a service with the same protocol.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// defaultEndpoint is the S3 endpoint of AWS.
const defaultEndpoint = "https://s3.amazonaws.com"

// retries is the number of retries of a single request. If they fail, the caller makes another copy
// later.
const retries = 3

// largest is the size of the largest object that S3 copies within a bucket in one request.
const largest = 5 << 30

// Bucket is a location for copies: the objects below a prefix in a bucket.
type Bucket struct {
	client         *minio.Client
	bucket, prefix string
}

// Open parses a URL such as s3://bucket/prefix?endpoint=https://minio.example:9000&region=eu-1. It
// sends no request yet. It uses the first credentials that exist of AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, of the credentials file of AWS, and of the role of the machine. It refuses
// connections to other machines without TLS, unless plaintext allows them.
func Open(at *url.URL, plaintext bool) (*Bucket, error) {
	query := at.Query()
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("%q: unknown parameter %q, want endpoint or region", at.Redacted(), name)
		}
	}
	if at.Host == "" || at.User != nil {
		return nil, fmt.Errorf("%q: want s3://BUCKET/PREFIX without credentials", at.Redacted())
	}
	endpoint, secure, err := endpointOf(query.Get("endpoint"))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", at.Redacted(), err)
	}
	if !secure && !plaintext && leavesMachine(endpoint) {
		return nil, fmt.Errorf(
			"%q: endpoint is %q, which is another machine, without TLS: use https://, or allow it with --backup-insecure-plaintext",
			at.Redacted(), query.Get("endpoint"))
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials(
			[]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}}),
		Secure: secure, Region: query.Get("region"), MaxRetries: retries,
	})
	if err != nil {
		return nil, fmt.Errorf("%q: %w", at.Redacted(), err)
	}
	prefix := strings.Trim(at.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{client: client, bucket: at.Host, prefix: prefix}, nil
}

// endpointOf returns the host and port of an endpoint, and whether it uses TLS.
func endpointOf(text string) (host string, secure bool, err error) {
	if text == "" {
		text = defaultEndpoint
	}
	server, err := url.Parse(text)
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" || strings.Trim(server.Path, "/") != "" {
		return "", false, fmt.Errorf("endpoint is %q, want a URL such as https://minio.example:9000", text)
	}
	return server.Host, server.Scheme == "https", nil
}

// leavesMachine reports whether requests to a host and port go to another machine.
func leavesMachine(endpoint string) bool {
	host := (&url.URL{Host: endpoint}).Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// List returns the names of the objects directly below the prefix.
func (b *Bucket) List(ctx context.Context) ([]string, error) {
	// Without this, ListObjects would continue in the background after an early return.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var names []string
	for object := range b.client.ListObjects(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if object.Err != nil {
			return nil, object.Err
		}
		names = append(names, path.Base(object.Key))
	}
	return names, nil
}

// Put writes an object, in parts if it is large.
func (b *Bucket) Put(ctx context.Context, name string, from io.Reader, size int64) error {
	if size > largest {
		return fmt.Errorf("the object has %d bytes, but S3 cannot rename more than %d", size, largest)
	}
	_, err := b.client.PutObject(ctx, b.bucket, b.prefix+name, from, size, minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return err
}

// Get reads an object.
func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) error {
	object, err := b.client.GetObject(ctx, b.bucket, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, object)
	return errors.Join(err, object.Close())
}

// Rename copies an object within the bucket and removes the original.
func (b *Bucket) Rename(ctx context.Context, from, to string) error {
	_, err := b.client.CopyObject(ctx, minio.CopyDestOptions{Bucket: b.bucket, Object: b.prefix + to},
		minio.CopySrcOptions{Bucket: b.bucket, Object: b.prefix + from})
	if err != nil {
		return err
	}
	return b.Remove(ctx, from)
}

// Remove removes an object.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	return b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{})
}
