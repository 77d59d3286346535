// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	// allowDelete is the annotation with which the guard allows the deletion of an object, if its
	// value is yes.
	allowDelete = v1.GroupName + "/allow-delete"
	// finalizer prevents the deletion of the guard itself.
	finalizer = v1.GroupName + "/protect"

	serviceName = "v1." + v1.GroupName
	serverName  = "statefulset-apiserver"
	// storeName is the name of the StatefulSet with the members of a store for several servers.
	storeName   = serverName + "-etcd"
	mostMembers = 3
	guardName   = "statefulset-apiserver-protect"
	// preflightName is the name of the account for dry runs, and of the policy that limits it to dry
	// runs.
	preflightName = "statefulset-preflight"
)

// object is an object of an installation.
type object struct {
	kind schema.GroupVersionResource
	// namespace is the namespace of a namespaced object, the server's namespace if it is empty.
	namespace, name string
	// everywhere is true for cluster-scoped kinds.
	everywhere bool
}

func (o object) String() string {
	name := o.kind.Resource + "/" + o.name
	if o.kind.Group != "" {
		name = o.kind.Resource + "." + o.kind.Group + "/" + o.name
	}
	return name
}

func registration() object {
	return object{kind: kindOf("apiregistration.k8s.io", "apiservices"), name: serviceName, everywhere: true}
}

// servers returns the objects that run and expose the server. They are removed after the
// registration.
func servers() []object {
	return []object{
		{kind: kindOf("policy", "poddisruptionbudgets"), name: serverName},
		{kind: kindOf("apps", "deployments"), name: serverName},
		{kind: kindOf("", "services"), name: serverName},
		{kind: kindOf("networking.k8s.io", "networkpolicies"), name: serverName},
		{kind: kindOf("policy", "poddisruptionbudgets"), name: storeName},
		{kind: kindOf("apps", "statefulsets"), name: storeName},
		{kind: kindOf("", "services"), name: storeName},
		{kind: kindOf("networking.k8s.io", "networkpolicies"), name: storeName},
		{kind: kindOf("", "resourcequotas"), name: serverName},
		{kind: kindOf("flowcontrol.apiserver.k8s.io", "flowschemas"), name: serverName + "-leases", everywhere: true},
		{kind: kindOf("flowcontrol.apiserver.k8s.io", "flowschemas"), name: serverName, everywhere: true},
	}
}

// rightsOf returns the objects with the rights of the server and of users.
func rightsOf() []object {
	const group = "rbac.authorization.k8s.io"
	var all []object
	optional := []string{
		serverName + "-reads", "statefulset-controller-eviction", "statefulset-controller-gates", "statefulset-controller-in-place"}
	for _, name := range append([]string{
		serverName, serverName + "-auth-delegator", serverName + "-registration", "statefulset-controller", "statefulset-controller-objects",
		"statefulset-controller-reclaim", preflightName}, optional...) {
		all = append(all, object{kind: kindOf(group, "clusterrolebindings"), name: name, everywhere: true})
	}
	for _, name := range append([]string{serverName, serverName + "-registration", "statefulset-controller", "statefulset-controller-objects",
		"statefulset-controller-objects-configmaps", "statefulset-controller-objects-jobs", "statefulset-controller-objects-secrets",
		"statefulset-controller-objects-services",
		"statefulset-controller-objects-delete-configmaps", "statefulset-controller-objects-delete-jobs",
		"statefulset-controller-objects-delete-secrets", "statefulset-controller-objects-delete-services",
		"statefulset-controller-reclaim", preflightName, "statefulset-edit", "statefulset-rollout", "statefulset-view"}, optional...) {
		all = append(all, object{kind: kindOf(group, "clusterroles"), name: name, everywhere: true})
	}
	all = append(all, object{kind: kindOf(group, "rolebindings"), namespace: "kube-system", name: serverName + "-authentication-reader"})
	for _, resource := range []string{"rolebindings", "roles"} {
		for _, name := range []string{serverName + "-certificates", serverName + "-preflight", serverName + "-store", storeName,
			storeName + "-client", "statefulset-controller"} {
			all = append(all, object{kind: kindOf(group, resource), name: name})
		}
	}
	for _, name := range []string{preflightName, storeName, serverName} {
		all = append(all, object{kind: kindOf("", "serviceaccounts"), name: name})
	}
	return append(all, policy(preflightName)...)
}

// guard returns the policy that protects the other objects from accidental deletion. It is removed
// last.
func guard() []object { return policy(guardName) }

// policy returns a policy with a finalizer, and its binding.
func policy(name string) []object {
	const group = "admissionregistration.k8s.io"
	return []object{
		{kind: kindOf(group, "validatingadmissionpolicybindings"), name: name, everywhere: true},
		{kind: kindOf(group, "validatingadmissionpolicies"), name: name, everywhere: true},
	}
}

// removed returns all objects that this command removes, in order.
func removed() []object {
	return slices.Concat([]object{registration()}, servers(), rightsOf(), guard())
}

// staying returns the objects that this command does not remove: data, and the namespace, which may
// contain other objects.
func staying() []object {
	all := []object{
		{kind: kindOf("", "namespaces"), name: "statefulset-system", everywhere: true},
		{kind: kindOf("", "persistentvolumeclaims"), name: serverName + "-data"},
		{kind: kindOf("", "configmaps"), name: serverName + "-store"},
		{kind: kindOf("", "secrets"), name: serverName + "-tls"},
		{kind: kindOf("", "secrets"), name: serverName + "-ca"},
		{kind: kindOf("", "configmaps"), name: serverName + "-ca"},
		{kind: kindOf("", "secrets"), name: serverName + "-serving"},
		{kind: kindOf("", "configmaps"), name: storeName},
		{kind: kindOf("", "secrets"), name: storeName + "-ca"}, // of earlier versions
		{kind: kindOf("", "secrets"), name: storeName + "-peer-ca"},
		{kind: kindOf("", "secrets"), name: storeName + "-client-ca"},
		{kind: kindOf("", "secrets"), name: storeName + "-server-tls"},
	}
	for ordinal := range mostMembers {
		all = append(all, object{kind: kindOf("", "persistentvolumeclaims"), name: fmt.Sprintf("data-%s-%d", storeName, ordinal)})
	}
	return all
}

func kindOf(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
}
