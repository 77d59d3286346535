// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package s3 keeps copies of the store in a bucket of S3, or of what speaks its protocol.
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

// defaultEndpoint is where AWS serves S3.
const defaultEndpoint = "https://s3.amazonaws.com"

// retries are those of a single request. Who makes a copy begins anew later.
const retries = 3

// largest is what S3 copies within a bucket in one request.
const largest = 5 << 30

// Bucket is a place for copies: what is below a prefix in a bucket.
type Bucket struct {
	client         *minio.Client
	bucket, prefix string
}

// Open reads a URL such as s3://bucket/prefix?endpoint=https://minio.example:9000&region=eu-1. Nothing
// is asked of the server yet. Credentials are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
// of AWS's file, or of the machine's role, whichever is there first. Another machine is reached with
// TLS, unless plaintext lets it be reached without.
func Open(at *url.URL, plaintext bool) (*Bucket, error) {
	given := at.Query()
	for name := range given {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("%q: there is no parameter %q, want endpoint or region", at.Redacted(), name)
		}
	}
	if at.Host == "" || at.User != nil {
		return nil, fmt.Errorf("%q: want s3://BUCKET/PREFIX, and credentials elsewhere", at.Redacted())
	}
	endpoint, secure, err := endpointOf(given.Get("endpoint"))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", at.Redacted(), err)
	}
	if !secure && !plaintext && leavesMachine(endpoint) {
		return nil, fmt.Errorf(
			"%q: endpoint is %q, which is another machine reached without TLS: use https://, or allow it with --backup-insecure-plaintext",
			at.Redacted(), given.Get("endpoint"))
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials(
			[]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}}),
		Secure: secure, Region: given.Get("region"), MaxRetries: retries,
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

// endpointOf is the host and port of a server, and whether it is reached with TLS.
func endpointOf(text string) (host string, secure bool, err error) {
	if text == "" {
		text = defaultEndpoint
	}
	server, err := url.Parse(text)
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" || strings.Trim(server.Path, "/") != "" {
		return "", false, fmt.Errorf("endpoint is %q, want one such as https://minio.example:9000", text)
	}
	return server.Host, server.Scheme == "https", nil
}

// leavesMachine tells whether requests to a host and port go to another machine.
func leavesMachine(endpoint string) bool {
	host := (&url.URL{Host: endpoint}).Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// List tells the names of what is directly below the prefix.
func (b *Bucket) List(ctx context.Context) ([]string, error) {
	// The lister goes on until it is told that nobody listens.
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
		return fmt.Errorf("it has %d bytes, and S3 cannot rename more than %d", size, largest)
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

// Rename copies an object within the bucket and removes the one that it was copied from.
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
