// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates issues the certificates with which the members of a store and its servers
// identify themselves. There are two certificate authorities (CAs), each in a Secret of the host
// cluster that only members may read: one for certificates between members, and one for the serving
// certificates of members and for clients of the store. Members sign the certificate of the servers
// and pass it to them in a third Secret.
//
//	authority.go  the CAs, and how they succeed the CA of earlier versions
//	rotate.go     replaces a CA while everything runs
//	files.go      a certificate in files, where etcd reads it, renewed in time
//	member.go     the files of a member
//	servers.go    the certificate of the servers, which members sign and servers receive
package certificates
