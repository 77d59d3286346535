// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// Request is a request for one resource.
type Request struct {
	// Verb is get, list, watch, create, update, patch or delete.
	Verb                         string
	Resource                     schema.GroupVersionResource
	Namespace, Name, Subresource string
	// Manager is the field manager of a write, and Force lets it take fields from other managers.
	Manager string
	Force   bool
	// List contains the options of a list or a watch.
	List metav1.ListOptions
	// ContentType and Body are what is sent; Accept is what may be returned.
	ContentType, Accept string
	Body                []byte
}

// Mutates reports whether the verb of the request changes something.
func (r *Request) Mutates() bool { return r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" }

func (r *Request) String() string {
	parts := []string{r.Verb, r.Resource.Resource, r.Namespace, r.Name, r.Subresource}
	text := strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
	if r.Verb == "list" || r.Verb == "watch" {
		text += " from " + fmt.Sprintf("%q", r.List.ResourceVersion)
	}
	return text
}

// ReadRequest parses an HTTP request.
func ReadRequest(from *http.Request) (*Request, error) {
	r := &Request{ContentType: from.Header.Get("Content-Type"), Accept: from.Header.Get("Accept")}
	if err := r.readPath(strings.Split(strings.Trim(from.URL.Path, "/"), "/")); err != nil {
		return nil, fmt.Errorf("reading path %s: %w", from.URL.Path, err)
	}
	if err := scheme.ParameterCodec.DecodeParameters(from.URL.Query(), schema.GroupVersion{Version: "v1"}, &r.List); err != nil {
		return nil, fmt.Errorf("reading query %s: %w", from.URL.RawQuery, err)
	}
	r.Manager, r.Force = cmp.Or(from.URL.Query().Get("fieldManager"), "unknown"), from.URL.Query().Get("force") == "true"
	if from.Body != nil {
		body, err := io.ReadAll(from.Body)
		if err != nil {
			return nil, fmt.Errorf("reading body: %w", err)
		}
		r.Body = body
	}
	r.Verb = map[string]string{
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[from.Method]
	switch {
	case r.Verb != "":
	case r.Name != "":
		r.Verb = "get"
	case r.List.Watch:
		r.Verb = "watch"
	default:
		r.Verb = "list"
	}
	return r, nil
}

// readPath parses api/v1/... or apis/group/version/..., with or without a namespace.
func (r *Request) readPath(parts []string) error {
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		r.Resource.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.Resource.Group, r.Resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return fmt.Errorf("want api/<version>/<resource> or apis/<group>/<version>/<resource>")
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	for i, into := range []*string{&r.Resource.Resource, &r.Name, &r.Subresource} {
		if i < len(parts) {
			*into = parts[i]
		}
	}
	return nil
}

// Single returns the name by which a list asks for one object, and false if it asks for more.
func (r *Request) Single() (string, bool) {
	selector, err := fields.ParseSelector(r.List.FieldSelector)
	if r.Verb != "list" || err != nil {
		return "", false
	}
	return selector.RequiresExactMatch(metav1.ObjectNameField)
}

// Answer carries out any request except a watch. The error is the server's response. A list that
// allows an earlier state gets that of the given version, zero for now.
func (s *Server) Answer(r *Request, past int64) (runtime.Object, error) {
	kind, ok := s.kinds[r.Resource]
	if !ok {
		return nil, apierrors.NewNotFound(r.Resource.GroupResource(), r.Name)
	}
	switch r.Verb {
	case "get":
		return s.Get(r.Resource, r.Namespace, r.Name)
	case "list":
		return s.answerList(r, past)
	case "create":
		object, err := s.Decode(r)
		if err != nil {
			return nil, err
		}
		return s.create(r.Resource, r.Namespace, r.Manager, object)
	case "update":
		return s.replace(r)
	case "patch":
		if types.PatchType(r.ContentType) == types.ApplyPatchType {
			return s.apply(r)
		}
		return s.change(r.Resource, r.Namespace, r.Name, r.Subresource, r.Manager, func(old Object) (Object, error) {
			return kind.applyPatch(old, types.PatchType(r.ContentType), r.Body)
		})
	case "delete":
		options, err := s.DeleteOptions(r)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return s.Delete(r.Resource, r.Namespace, r.Name, options)
	default:
		return nil, apierrors.NewMethodNotSupported(r.Resource.GroupResource(), r.Verb)
	}
}

// replace carries out a PUT. Unlike a patch, it reports another UID as a conflict.
func (s *Server) replace(r *Request) (runtime.Object, error) {
	object, err := s.Decode(r)
	if err != nil {
		return nil, err
	}
	old, err := s.Get(r.Resource, r.Namespace, r.Name)
	switch {
	case apierrors.IsNotFound(err) && s.kinds[r.Resource].putCreates && object.GetUID() != "":
		return nil, apierrors.NewConflict(r.Resource.GroupResource(), r.Name, errors.New("no object has this UID"))
	case apierrors.IsNotFound(err) && s.kinds[r.Resource].putCreates:
		object.SetResourceVersion("")
		return s.Create(r.Resource, r.Namespace, object)
	case err != nil:
		return nil, err
	case object.GetUID() != "" && object.GetUID() != old.GetUID():
		return nil, apierrors.NewConflict(r.Resource.GroupResource(), r.Name, errors.New("the UID in the precondition does not match"))
	case object.GetResourceVersion() == "" && s.kinds[r.Resource].putCreates:
		return nil, invalid(s.kinds[r.Resource].gvk, r.Name,
			field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update"))
	}
	return s.Update(r.Resource, r.Namespace, r.Name, r.Subresource, func(Object) (Object, error) { return object, nil })
}

// answerList reads an earlier state only for a client that accepts any state.
func (s *Server) answerList(r *Request, past int64) (runtime.Object, error) {
	selector, err := selectorOf(r.List)
	if err != nil {
		return nil, err
	}
	if r.List.ResourceVersion != "0" {
		past = 0
	}
	list, err := s.listAt(r.Resource, r.Namespace, selector, past)
	if name, single := r.Single(); single && err == nil {
		return only(list, name)
	}
	return list, err
}

// Decode returns the object in the body of a request.
func (s *Server) Decode(r *Request) (Object, error) {
	kind := s.kinds[r.Resource]
	object := kind.empty()
	if err := s.codec.decode(r.Body, kind.gvk, object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return object, nil
}

// DeleteOptions returns the options in the body of a delete.
func (s *Server) DeleteOptions(r *Request) (metav1.DeleteOptions, error) {
	var options metav1.DeleteOptions
	if len(r.Body) == 0 {
		return options, nil
	}
	return options, s.codec.decode(r.Body, metav1.SchemeGroupVersion.WithKind("DeleteOptions"), &options)
}
