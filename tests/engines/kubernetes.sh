#!/bin/sh
# The manifest of the page against the schemas of Kubernetes; `tests/it/engines.rs` plays what its pods do.
. "$(dirname "$0")/common.sh"

needs kubernetes-validate
page_file shards.yaml >"$work/shards.yaml"
for version in 1.33.0 1.35.0 1.37.0; do
    kubernetes-validate --strict --kubernetes-version "$version" "$work/shards.yaml" >"$work/said" 2>&1 || {
        cat "$work/said"
        fail "the manifest is none of Kubernetes $version"
    }
    said "the manifest is one of Kubernetes $version"
done
