{{- /* One installation is in a cluster, since the API that it serves is one: it has one namespace, too, which the guard
against deletion, the plugin and the rights refer to. */ -}}
{{- define "check" -}}
{{- if ne .Release.Namespace "statefulset-system" -}}
{{- fail (printf "the namespace is %q, and there is only one for this chart: --namespace=statefulset-system --create-namespace" .Release.Namespace) -}}
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

{{- /* What pods of servers and of the store have in common: PodSecurity "restricted". */ -}}
{{- define "pod" -}}
# While no server answers, the cluster cannot finish deleting any namespace.
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

{{- /* Not on one node and not in one zone if that can be avoided; on one node they start, too. */ -}}
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

{{- /* Whether a role of this release exists that its values switch off. It stays, without rules: the guard lets nothing of an
installation be deleted in passing, and Helm deletes what it does not render any more. The dict has kind, namespace, name. */ -}}
{{- define "isLeft" -}}
{{- $found := lookup "rbac.authorization.k8s.io/v1" .kind .namespace .name -}}
{{- if eq (dig "metadata" "labels" "app.kubernetes.io/managed-by" "" $found) "Helm" -}}yes{{- end -}}
{{- end -}}

{{- /* A ClusterRole of the server's account with its binding. The dict has on, name, about (its comment) and rules. */ -}}
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
