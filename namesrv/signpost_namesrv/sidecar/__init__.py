"""The broker sidecar: what one broker says goes to every name server, whenever they come."""
