// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sdk plays the same scenarios with the client of each language, on a running cluster, with
// an account that may only work with sets in one namespace.
//
//	go, typescript, python, java    the scenarios: a program for each language that prints a line
//	                                of JSON for each scenario
//	suite_test.go                   runs these programs, and the examples of the clients
//	account_test.go                 creates the account
//	between_test.go                 a proxy between the programs and the cluster, which interrupts
//	                                watches and reports too many requests
//	schemas_test.go                 compares stored sets with the JSON schemas
//
// make test-sdk builds the clients, starts a cluster, and runs the suite.
package sdk
