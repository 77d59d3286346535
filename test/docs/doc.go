// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs runs the commands of the documentation.
//
// A fence of commands begins with ```console. In it, a line that begins with "$ " is a command,
// lines that begin with "> " continue it, and the lines after that are its output. A command
// without output in the page may print anything, and must succeed. A command that is shown with an
// error must fail. Package page defines what may differ: ages, times, addresses, hashes.
//
//	```console                  run in the namespace of the page
//	```console fresh            run in another, empty namespace
//	```console alone            run while no other page runs; the page undoes its changes
//	```console nodes            run on real nodes with the server as pods, after earlier commands
//	```console nodes ha         the same, after installing "ha", "single" or "bare" (nothing)
//	```console norun WHY        not run
//	```yaml db.yaml             a file for the commands that follow
//
// Each command has its own shell, in a directory with artifacts, test and bin of this repository,
// and with the cluster's directory as .cluster, next to the files of the page. Variables that a
// command assigns persist for the page. Commands that only read are repeated until they print the
// expected output. On real nodes, REGISTRY, VERSION and IMAGE name the images that exist there.
//
// Without the build tag docs, only the pages are checked: each fence must state its use, and links
// must have targets. The other tests need clusters, which make test-docs starts.
package docs
