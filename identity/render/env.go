// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// injectEnv adds environment variables to containers, before their own variables: the parameters
// that they name where the kubelet expands variables, and those in always. The kubelet does the
// rest. A parameter that changes while pods run is read from an annotation, which the pod gets only
// if it reads the annotation.
func injectEnv(template *corev1.PodTemplateSpec, always []string, known map[string]parameter) {
	for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Env = slices.Concat(envOf(c, always, known), c.Env)
		}
	}
	for _, p := range known {
		if p.annotation == "" {
			continue
		}
		if !reads(&template.Spec, fieldOf(p.annotation)) {
			delete(template.Annotations, p.annotation)
			continue
		}
		if template.Annotations == nil {
			template.Annotations = map[string]string{}
		}
		template.Annotations[p.annotation] = p.text
	}
}

// envOf are the variables that a container gets: first those in always, then those that it names,
// sorted.
func envOf(c *corev1.Container, always []string, known map[string]parameter) (env []corev1.EnvVar) {
	done := map[string]bool{}
	for i := range c.Env {
		done[c.Env[i].Name] = true
	}
	named := map[string]bool{}
	eachExpanded(c, func(text string) { expanded(text, func(name string) { named[name] = true }) })
	for _, name := range slices.Concat(always, slices.Sorted(maps.Keys(named))) {
		if p, is := known[name]; is && !done[name] {
			done[name] = true
			env = append(env, p.variable(name))
		}
	}
	return env
}

// eachExpanded visits the strings of a container in which the kubelet expands variables.
func eachExpanded(c *corev1.Container, visit func(text string)) {
	for _, texts := range [][]string{c.Command, c.Args} {
		for _, text := range texts {
			visit(text)
		}
	}
	for i := range c.Env {
		visit(c.Env[i].Value)
	}
	for i := range c.VolumeMounts {
		visit(c.VolumeMounts[i].SubPathExpr)
	}
}

// variable is the environment variable for a parameter.
func (p parameter) variable(name string) corev1.EnvVar {
	if p.annotation == "" {
		return corev1.EnvVar{Name: name, Value: strings.ReplaceAll(p.text, "$", "$$")} // so that the kubelet does not expand it
	}
	return corev1.EnvVar{
		Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: fieldOf(p.annotation)}}}
}

func fieldOf(annotation string) string { return "metadata.annotations['" + annotation + "']" }

// reads reports whether a pod reads a field of itself.
func reads(pod *corev1.PodSpec, path string) bool {
	isIt := func(f *corev1.ObjectFieldSelector) bool { return f != nil && f.FieldPath == path }
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			for j := range containers[i].Env {
				if from := containers[i].Env[j].ValueFrom; from != nil && isIt(from.FieldRef) {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return slices.ContainsFunc(filesOf(v), func(f corev1.DownwardAPIVolumeFile) bool { return isIt(f.FieldRef) })
	})
}

// filesOf are the files of a volume that show fields of the pod.
func filesOf(v corev1.Volume) (files []corev1.DownwardAPIVolumeFile) {
	if v.DownwardAPI != nil {
		files = append(files, v.DownwardAPI.Items...)
	}
	if v.Projected != nil {
		for _, source := range v.Projected.Sources {
			if source.DownwardAPI != nil {
				files = append(files, source.DownwardAPI.Items...)
			}
		}
	}
	return files
}
