// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sdk plays the same scenarios with the client of each language, on a cluster that runs, as an account
// that may work with sets in one namespace and nothing else.
//
//	go, typescript, python, java    the scenarios, a program for each language, which prints a line of JSON for each
//	suite_test.go                   runs these programs, and the examples of the clients
//	account_test.go                 makes the account
//	between_test.go                 stands between the programs and the cluster, cuts watches off, and says that
//	                                there are too many requests
//	schemas_test.go                 checks what is stored against the JSON schemas
//
// make test-sdk makes the clients, starts a cluster, and runs it.
package sdk
