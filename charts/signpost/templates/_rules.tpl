{{/* What the operator may do in a namespace that it works in: this and nothing else. */}}
{{- define "signpost.rules" -}}
# The resources that it keeps true, and their status. It never changes a spec.
- apiGroups: [signpost.dev]
  resources: [nameserverclusters, brokers, routehealthreports]
  verbs: [get, list, watch]
- apiGroups: [signpost.dev]
  resources: [nameserverclusters/status, brokers/status]
  verbs: [patch]
# For clusters that ask for it of whoever makes an object that belongs to another.
- apiGroups: [signpost.dev]
  resources: [nameserverclusters/finalizers, brokers/finalizers]
  verbs: [update]
# What it makes.
- apiGroups: [""]
  resources: [configmaps, services, serviceaccounts]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [monitoring.coreos.com]
  resources: [podmonitors]
  verbs: [get, list, watch, create, patch, delete]
# Brokers' volumes: it lets them grow and never deletes one.
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, patch]
# What it looks at, and what it tells.
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [events]
  verbs: [create]
# What it passes on to sidecars that find name servers by EndpointSlices.
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
{{- if .Values.rbac.reports }}
# The route health report, and what it passes on to its job.
- apiGroups: [sparkoperator.k8s.io]
  resources: [scheduledsparkapplications]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [spark.apache.org]
  resources: [sparkapplications]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [watch, create]
- apiGroups: [signpost.dev]
  resources: [routehealthreports]
  verbs: [create, patch]
{{- end }}
{{- if .Values.rbac.sparkExecutors }}
# What it passes on to reports with executors.
- apiGroups: [""]
  resources: [pods, services, configmaps, persistentvolumeclaims]
  verbs: [create, patch, delete, deletecollection]
{{- end }}
{{- end -}}
