// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	v1 "statefulset.dev/api/apps/v1"
)

// formatOfVersion is the latest format that one of our versions supports: storeFormat since 0.1.
func formatOfVersion(emulated *version.Version) int {
	if emulated.AtLeast(version.MajorMinor(0, 1)) {
		return storeFormat
	}
	return firstFormat
}

// isExtension reports whether a set that uses a field needs storeFormat. Each field that apps/v1
// does not have is an extension: its protobuf number is 1000 or more. Two of them are as old as
// firstFormat.
//
// One predicate is sufficient while all extensions belong to the same version. The first field that
// is added after a release needs a new format, and then this must return the format of a field.
func isExtension(of reflect.StructField, path string) bool {
	const firstNumber = 1000
	_, numbered, _ := strings.Cut(of.Tag.Get("protobuf"), ",")
	number, _, _ := strings.Cut(numbered, ",")
	n, err := strconv.Atoi(number)
	return err == nil && n >= firstNumber && path != "spec.progressDeadlineSeconds" && path != "status.lastProgressTime"
}

// extension is a field of a set for which isExtension is true.
type extension struct {
	path  string
	index []int
}

// extensions are the extensions in the spec and the status. They are read once from the types,
// which do not change.
//
//nolint:gochecknoglobals // a table
var extensions = sync.OnceValue(func() []extension {
	set := reflect.TypeFor[v1.StatefulSet]()
	spec, _ := set.FieldByName("Spec")
	status, _ := set.FieldByName("Status")
	return append(extensionsIn(spec.Type, "spec", spec.Index), extensionsIn(status.Type, "status", status.Index)...)
})

// extensionsIn visits the fields of one part of a set, and those of the structs below it.
func extensionsIn(part reflect.Type, path string, index []int) (all []extension) {
	for i := range part.NumField() {
		of := part.Field(i)
		name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		at, to := path+"."+name, append(slices.Clone(index), i)
		if isExtension(of, at) {
			all = append(all, extension{at, to})
			continue
		}
		below := of.Type
		if below.Kind() == reflect.Pointer {
			below = below.Elem()
		}
		if below.Kind() == reflect.Struct && below.PkgPath() == part.PkgPath() {
			all = append(all, extensionsIn(below, at, to)...)
		}
	}
	return all
}

// usedExtensions are the paths of the extensions that an object uses.
func usedExtensions(obj runtime.Object) (used []string) {
	set, ok := obj.(*v1.StatefulSet)
	if !ok {
		return nil
	}
	for _, field := range extensions() {
		value, err := reflect.ValueOf(set).Elem().FieldByIndexErr(field.index)
		if err == nil && !value.IsZero() && (value.Kind() != reflect.Slice || value.Len() > 0) {
			used = append(used, field.path)
		}
	}
	return used
}

// neededFormat is the format that a server must support to read an object. A server that drops
// reserved ordinals, for example, would create and delete other members.
func neededFormat(obj runtime.Object) int {
	if len(usedExtensions(obj)) > 0 {
		return storeFormat
	}
	return firstFormat
}

// Unknown returns errors for fields of an object that the emulated version does not have. So the
// store never needs a format that this version does not support. A server that emulates no other
// version returns none.
func (g *Guard) Unknown(obj runtime.Object) (errs field.ErrorList) {
	if g.store.format >= storeFormat {
		return nil
	}
	for _, path := range usedExtensions(obj) {
		errs = append(errs, field.Forbidden(field.NewPath(path), fmt.Sprintf(
			"not supported by version %s, which this server emulates (--emulated-version)", g.store.emulated)))
	}
	return errs
}

// mayStore refuses an object with fields that the emulated version does not have.
func (g *Guard) mayStore(obj runtime.Object) error {
	errs := g.Unknown(obj)
	if len(errs) == 0 {
		return nil
	}
	name := ""
	if set, ok := obj.(*v1.StatefulSet); ok {
		name = set.Name
	}
	return apierrors.NewInvalid(v1.GroupVersionKind().GroupKind(), name, errs)
}
