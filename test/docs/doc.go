// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs runs the commands of the documentation.
//
// A fence of commands begins with ```console. In it, a line that begins with "$ " is a command, lines that begin with "> " are the
// rest of it, and what follows is what it prints. A command with nothing below it may print what it likes, and must succeed. One
// that is shown with an error must fail. Package page tells what may differ: ages, times, addresses, hashes.
//
//	```console                  run, in the namespace of the page
//	```console fresh            run, in another namespace that is empty
//	```console alone            run, like all of its page, when no other page is; what it takes apart it puts back
//	```console nodes            run on real nodes, on which the server runs as pods, after the commands before it there
//	```console nodes ha         the same, beginning with three servers and a store of three; so "single" for one, and "bare" for none
//	```console norun WHY        not run
//	```yaml db.yaml             a file that the commands after it find
//
// Each command has a shell of its own, in a directory that has artifacts, test and bin of this repository, and the cluster's directory as
// .cluster, beside the files of the page. What is assigned to a variable stays for the page. Commands that only ask are repeated until
// they print what they are to print. On real nodes, REGISTRY, VERSION and IMAGE stand for the images that are there.
//
// Without the build tag docs, only the pages themselves are checked: that each fence says what it is, and that links lead somewhere.
// The rest needs clusters, which make test-docs starts.
package docs
