"""Signpost's name server and broker sidecar, which share RocketMQ's remoting protocol."""
