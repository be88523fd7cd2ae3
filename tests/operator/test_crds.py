"""The CRDs: fresh, structural, and with a word on every field."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from signpost_operator.crds import CRDS, Crd, files, main, manifest
from tools.settings_catalogue import TARGET, catalogue

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "crds", ROOT / "charts" / "signpost" / "files" / "crds"]
FREE = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"


def schema(crd: Crd) -> dict[str, Any]:
    found: dict[str, Any] = manifest(crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def nodes(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if word in node:
            yield from nodes(node[word], f"{path}[]")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_the_files_are_fresh(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--check"]) == 0, capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == set(files())


def test_the_name_servers_settings_are_fresh() -> None:
    assert (ROOT / TARGET).read_text() == catalogue(), "run `make crds`"


def test_a_stale_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    (tmp_path / "brokers.yaml").write_text("old")
    assert main([str(tmp_path), "--check"]) == 1
    assert "brokers.yaml is stale" in capsys.readouterr().err


def test_writing_twice_writes_the_same() -> None:
    assert files() == files()


@pytest.mark.parametrize("crd", CRDS, ids=lambda crd: crd.kind)
def test_the_schema_is_structural(crd: Crd) -> None:
    for path, node in nodes(schema(crd)):
        assert "$ref" not in node, path
        assert "type" in node or node.get(INT_OR_STRING), path
        assert not ("properties" in node and "additionalProperties" in node), path
        assert ("anyOf" in node) <= bool(node.get(INT_OR_STRING)), path


@pytest.mark.parametrize("crd", CRDS, ids=lambda crd: crd.kind)
def test_every_field_is_explained(crd: Crd) -> None:
    silent = [
        path
        for path, node in nodes(schema(crd))
        if not path.endswith("[]") and path != ".metadata" and not node.get("description")
    ]
    assert silent == []


def test_only_what_is_kubernetes_own_is_free_form() -> None:
    free = {path for crd in CRDS for path, node in nodes(schema(crd)) if node.get(FREE)}
    assert free == {".spec.placement.affinity", ".spec.podTemplate.spec", ".spec.config"}


@pytest.mark.parametrize("crd", CRDS, ids=lambda crd: crd.kind)
def test_every_rule_has_a_sentence_and_blames_a_field_that_exists(crd: Crd) -> None:
    for path, node in nodes(schema(crd)):
        known = {found for found, _ in nodes(node)}
        for rule in node.get("x-kubernetes-validations", ()):
            assert rule["message"], path
            assert rule.get("fieldPath", "") in known, (path, rule)


def test_names_scale_and_columns() -> None:
    cluster, broker, report = (manifest(crd)["spec"] for crd in CRDS)
    assert cluster["names"]["shortNames"] == ["nsc"]
    for spec in (cluster, broker, report):
        assert spec["names"]["categories"] == ["signpost"]
    scale = cluster["versions"][0]["subresources"]["scale"]
    assert scale == {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
    for spec in (cluster, broker, report):
        known = {path for path, _ in nodes(spec["versions"][0]["schema"]["openAPIV3Schema"])}
        for column in spec["versions"][0]["additionalPrinterColumns"]:
            path = column["jsonPath"].partition("[")[0]
            assert path in known or path.startswith(".metadata."), column


def test_files_parse_to_the_manifests() -> None:
    for crd in CRDS:
        assert yaml.safe_load(files()[f"{crd.plural}.yaml"]) == manifest(crd)
