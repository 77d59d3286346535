// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates makes the certificates by which the members of a store and its servers know each
// other. There are two authorities, each in a Secret of the host cluster that only members may read:
// one for what members show each other, and one for clients of the store and what they are served
// with. Members sign the certificate of the servers and hand it to them in a third Secret.
//
//	authority.go  the authorities, and how they follow the one of earlier versions
//	rotate.go     another one takes the place of an authority, while everything runs
//	files.go      a certificate in files, where etcd reads it, renewed in time
//	member.go     the files of a member
//	servers.go    the certificate of the servers, as members sign it and servers receive it
package certificates
