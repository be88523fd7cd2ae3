"""The report's Spark applications."""

from datetime import datetime
from typing import Any

import pytest

from signpost_operator.desired import Context, missing_api, report, report_run
from signpost_operator.desired.amounts import amount, cores, mib
from tests.operator.made import CONTEXT, cluster, kinds, one

AT = datetime(2026, 5, 4, 3, 2)
TOKEN = {"httpTokenSecret": {"name": "tokens"}}


def test_no_report_is_made_unless_asked_for() -> None:
    assert report(cluster(), CONTEXT) == []
    assert report_run(cluster(report={}), CONTEXT, AT) is None


def test_what_kubeflows_operator_gets() -> None:
    objects = report(cluster(report={"schedule": "0 * * * *", "keepRuns": 2}), CONTEXT)
    assert kinds(objects) == [
        "ServiceAccount/routes-report",
        "Role/routes-report",
        "RoleBinding/routes-report",
        "PersistentVolumeClaim/routes-report",
        "ScheduledSparkApplication/routes-report",
    ]
    spec = objects[-1]["spec"]
    assert (spec["schedule"], spec["concurrencyPolicy"]) == ("0 * * * *", "Forbid")
    assert spec["template"]["sparkConf"]["spark.kubernetes.driver.master"] == "local[2]"
    assert spec["template"]["driver"]["memory"] == "1462m"
    assert spec["template"]["driver"]["memoryOverhead"] == "586m"


def test_what_apaches_operator_gets() -> None:
    asked = cluster(report={"operator": "Apache"})
    assert "ScheduledSparkApplication" not in {o["kind"] for o in report(asked, CONTEXT)}
    run = report_run(asked, CONTEXT, AT)
    assert run is not None
    assert run["metadata"]["name"] == "routes-report-2605040302"
    assert run["spec"]["mainClass"] == "org.apache.spark.deploy.PythonRunner"
    assert run["spec"]["pyFiles"].endswith(".py")
    assert run["spec"]["runtimeVersions"] == {"sparkVersion": "4.3.0"}
    assert all(isinstance(value, str) for value in run["spec"]["sparkConf"].values())


@pytest.mark.parametrize("operator", ["Kubeflow", "Apache"])
def test_a_cluster_without_that_spark_operator(operator: str) -> None:
    asked, bare = cluster(report={"operator": operator}), Context(version="1")
    assert f"needs {operator}'s Spark operator" in missing_api(asked, bare)
    assert missing_api(asked, CONTEXT) == missing_api(cluster(), bare) == ""
    assert report_run(asked, bare, AT) is None
    assert "ScheduledSparkApplication" not in {o["kind"] for o in report(asked, bare)}


def arguments(**spec: Any) -> list[str]:
    application = one(report(cluster(**spec), CONTEXT), "ScheduledSparkApplication")
    words: list[str] = application["spec"]["template"]["arguments"]
    return words


def test_the_jobs_arguments() -> None:
    words = arguments(
        report={"thresholds": {"b": "2", "a": "1"}, "history": {"path": "s3a://x/y"}}, access=TOKEN
    )
    assert words == [
        "run",
        "--namesrv-service",
        "routes-namesrv-all.mq.svc:8080",
        "--resource",
        "mq/routes",
        "--out",
        "s3a://x/y",
        "--retention-days",
        "30",
        "--threshold",
        "a=1",
        "--threshold",
        "b=2",
        "--token-file",
        "/etc/signpost/http/tokens",
    ]


def test_history_is_kept_unless_asked() -> None:
    def claim(**history: str) -> dict[str, Any]:
        made = report(cluster(report={"history": history}), CONTEXT)
        found: dict[str, Any] = one(made, "PersistentVolumeClaim")["metadata"]
        return found

    assert "ownerReferences" not in claim()
    assert claim(onDelete="Delete")["ownerReferences"][0]["controller"] is False
    somewhere = report(cluster(report={"history": {"path": "s3a://x/y"}}), CONTEXT)
    assert "PersistentVolumeClaim" not in {o["kind"] for o in somewhere}


def test_only_executors_need_rights_on_pods() -> None:
    def resources(**given: int) -> set[str]:
        role = one(report(cluster(report=given), CONTEXT), "Role")
        return {name for rule in role["rules"] for name in rule["resources"]}

    assert "pods" not in resources()
    assert "pods" in resources(executors=2)
    assert "local" not in str(
        one(report(cluster(report={"executors": 2}), CONTEXT), "ScheduledSparkApplication")["spec"][
            "template"
        ]["sparkConf"]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("500m", 0.5), ("2k", 2000), ("1Ki", 1024), ("1.5Gi", 1.5 * 1024**3), ("3E", 3e18)],
)
def test_amounts(text: str, expected: float) -> None:
    assert float(amount(text)) == expected


def test_amounts_for_spark() -> None:
    assert mib("2Gi") == 2048
    assert [cores(text) for text in ("100m", "1", "1500m", "4")] == [1, 1, 2, 4]
