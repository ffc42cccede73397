"""Scripts and files of settings as text."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from volvelle.interchange.engine_launch.deployment import HEAD, Deployment, LaunchFile, Value, cannot, one_line
from volvelle.interchange.engine_launch.recorded import RecordedOptions

PORT = 8000
"""Of the first instance of a node."""


def head_lines(deployment: Deployment, options: RecordedOptions) -> Iterator[str]:
    """Whose options they are, and what was asked."""
    yield f"# {options.named}: options of {options.repository} at {options.commit[:12]}"
    yield f"# {one_line(deployment.asked)}"


def launch_script(words: Sequence[str], deployment: Deployment, options: RecordedOptions) -> LaunchFile:
    """A script that starts every instance of a node; `words` end where the port is to follow."""
    chips, many = deployment.layout.chips, min(deployment.instances_per_node, deployment.replicas)
    if deployment.nodes > 1:
        raise cannot(
            options.named,
            f"an instance on {deployment.nodes} nodes without their addresses",
            "use --emit dynamo, which finds them, or keep an instance within a node",
        )
    lines = ["#!/bin/sh", *head_lines(deployment, options)]
    if deployment.nodes_of_all > 1:
        lines.append(f"# Run it on each of {deployment.nodes_of_all} nodes, and spread requests over all of them.")
    lines.append("set -e")
    if many == 1:
        lines.append(f"exec {shlex.join([*words, f'{PORT}'])}")
    else:
        lines.append(f"# {many} instances of {chips} chips; spread requests over their ports evenly.")
        for place in range(many):
            devices = ",".join(f"{chip}" for chip in range(place * chips, (place + 1) * chips))
            lines.append(f"CUDA_VISIBLE_DEVICES={devices} {shlex.join([*words, f'{PORT + place}'])} &")
        lines.append("wait")
    return LaunchFile(name="launch.sh", text="\n".join(lines) + "\n", runs=True)


def settings_file(
    name: str, settings: Mapping[str, Value], deployment: Deployment, options: RecordedOptions
) -> LaunchFile:
    """Options as a file of their names without dashes in front."""
    fields = {option.removeprefix("--"): value for option, value in settings.items()}
    return yaml_file(name, fields, deployment, options)


def yaml_file(name: str, fields: Mapping[str, Any], deployment: Deployment, options: RecordedOptions) -> LaunchFile:
    """Fields as YAML."""
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = 4096
    text = StringIO()
    writer.dump(dict(fields), text)
    told = f"# Write the checkpoint of a head that drafts for {deployment.model} in place of {HEAD}."
    head = [*head_lines(deployment, options), *([told] if deployment.needs_head else [])]
    return LaunchFile(name=name, text="\n".join([*head, text.getvalue()]))
