// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

const (
	// ourFirstNumber is the least protobuf number of a field that apps/v1 does not have.
	ourFirstNumber = 1000
	namesPage      = "0067-our-names-stay-ours.md"
)

// TestOurNamesAreListed compares the fields that apps/v1 does not have with the table of the
// decision about them, both ways.
func TestOurNamesAreListed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/adr/" + namesPage)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\| (\\d+) \\|$").FindAllStringSubmatch(string(page), -1) {
		listed[row[1]] = row[2]
	}
	ours := map[string]string{}
	compareFields(t, "", reflect.TypeFor[StatefulSet](), reflect.TypeFor[appsv1.StatefulSet](), ours)
	for path, number := range ours {
		if listed[path] != number {
			t.Errorf("field %s with the number %s is ours; docs/adr/%s lists it with %q", path, number, namesPage, listed[path])
		}
	}
	for path := range listed {
		if _, ok := ours[path]; !ok {
			t.Errorf("docs/adr/%s lists field %s; it is not one that we have and apps/v1 does not. If apps/v1 has it now, the page says what to do",
				namesPage, path)
		}
	}
}

// compareFields collects the fields of ours that theirs does not have, by path, with their
// protobuf numbers.
func compareFields(t *testing.T, path string, ours, theirs reflect.Type, beyond map[string]string) {
	t.Helper()
	for ours.Kind() == theirs.Kind() && (ours.Kind() == reflect.Pointer || ours.Kind() == reflect.Slice) {
		ours, theirs = ours.Elem(), theirs.Elem()
	}
	if ours == theirs || ours.Kind() != reflect.Struct || theirs.Kind() != reflect.Struct {
		return
	}
	known := map[string]reflect.Type{}
	for field := range fieldsOf(theirs) {
		known[field.name] = field.of
		if field.number >= ourFirstNumber {
			t.Errorf("field %s of apps/v1 has the protobuf number %d, which is among ours", join(path, field.name), field.number)
		}
	}
	for field := range fieldsOf(ours) {
		at := join(path, field.name)
		if their, ok := known[field.name]; ok {
			compareFields(t, at, field.of, their, beyond)
			continue
		}
		beyond[at] = strconv.Itoa(field.number)
		if field.number < ourFirstNumber {
			t.Errorf("field %s, which apps/v1 does not have, has the protobuf number %d, want at least %d", at, field.number, ourFirstNumber)
		}
	}
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// messageField is one of a message, by its name in JSON.
type messageField struct {
	name   string
	number int
	of     reflect.Type
}

// fieldsOf are the fields of a message that have a number of their own.
func fieldsOf(message reflect.Type) func(yield func(messageField) bool) {
	return func(yield func(messageField) bool) {
		for of := range message.Fields() {
			name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
			tag := strings.Split(of.Tag.Get("protobuf"), ",")
			if len(tag) < 2 || name == "" {
				continue // the kind, which is not part of the message
			}
			number, err := strconv.Atoi(tag[1])
			if err == nil && !yield(messageField{name, number, of.Type}) {
				return
			}
		}
	}
}
