{{- define "signpost.name" -}}
{{- if contains "signpost" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-signpost" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "signpost.selector" -}}
app.kubernetes.io/name: signpost-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "signpost.labels" -}}
{{ include "signpost.selector" . }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: signpost
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "signpost.account" -}}
{{- .Values.serviceAccount.name | default (include "signpost.name" .) -}}
{{- end -}}

{{- define "signpost.tag" -}}
{{- .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}
