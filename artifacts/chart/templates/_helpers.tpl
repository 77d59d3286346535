{{- /* A cluster has at most one installation, because there is only one API. The installation also has one fixed namespace,
to which the guard against deletion, the plugin and the rights refer. */ -}}
{{- define "check" -}}
{{- if ne .Release.Namespace "statefulset-system" -}}
{{- fail (printf "the namespace is %q, but this chart must be installed in statefulset-system: --namespace=statefulset-system --create-namespace" .Release.Namespace) -}}
{{- end -}}
{{- end -}}

{{- define "image" -}}
{{- $from := .Values.image -}}
{{- if $from.digest -}}
{{ $from.repository }}@{{ $from.digest }}
{{- else -}}
{{ $from.repository }}:{{ $from.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* The common part of the pods of servers and of the store, for PodSecurity "restricted". */ -}}
{{- define "pod" -}}
# While no server answers, the cluster cannot complete the deletion of any namespace.
priorityClassName: system-cluster-critical
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: ["ALL"]
{{- end -}}

{{- /* Prefers different nodes and zones, but does not require them. */ -}}
{{- define "spread" -}}
topologySpreadConstraints:
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      app.kubernetes.io/name: {{ $.app }}
{{- end }}
{{- end -}}

{{- /* Whether the cluster has a role of this release that the values switch off. Such a role stays, but without rules: Helm
would delete a role that it does not render any more, and the guard refuses that. The dict has kind, namespace, name. */ -}}
{{- define "isLeft" -}}
{{- $found := lookup "rbac.authorization.k8s.io/v1" .kind .namespace .name -}}
{{- if eq (dig "metadata" "labels" "app.kubernetes.io/managed-by" "" $found) "Helm" -}}yes{{- end -}}
{{- end -}}

{{- /* A ClusterRole with its binding to the server's account. The dict has on, name, about (its comment) and rules. */ -}}
{{- define "clusterRole" -}}
{{- if or .on (include "isLeft" (dict "kind" "ClusterRole" "namespace" "" "name" .name)) -}}
{{ .about }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .name }}
rules:
{{- if .on }}
{{ .rules }}
{{- else }} []
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .name }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .name }}
subjects:
- kind: ServiceAccount
  name: statefulset-apiserver
  namespace: statefulset-system
{{- end -}}
{{- end -}}
