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
