"""A form made of settings: what each field is called, means, takes and holds."""

from collections.abc import Mapping
from typing import Any, TypeVar

from attnlab.config import Given, SettingField, describe, flatten, resolve, to_dict
from attnlab.runs.lookup import RunReference
from attnlab.runs.references import reference_of

Settings = TypeVar("Settings")
ORIGIN = "the form"
KINDS = ("string", "integer", "number", "boolean", "array", "object")
LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "minItems", "maxItems")


def form_of(settings: Any) -> list[dict[str, Any]]:
    """Describe every setting, in their order, as a field that holds what ``settings`` do."""
    fields = list(describe(type(settings)))
    whole = {field.key for field in fields if field.is_open}
    values = dict(flatten(to_dict(settings), whole=whole))
    return [_field(field, values[field.key]) for field in fields]


def read_form(base: Settings, values: Mapping[str, Any]) -> Settings:
    """Layer what a form sends, by key, over ``base`` and check it as the command line does.

    What is wrong with single fields is a ``SettingsError``, which says so by key.
    """
    return resolve(base, flags={key: Given(value, ORIGIN) for key, value in values.items()})


def _field(field: SettingField, value: Any) -> dict[str, Any]:
    """Describe a setting in the words of JSON Schema."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(field.annotation).json_schema()
    options = schema.get("anyOf", [schema])  # of a value or nothing, the value
    plain = next(one for one in options if one.get("type") in KINDS)
    items = plain.get("items", {})
    return {
        "key": field.key,
        "meaning": field.meaning,
        "kind": plain["type"],
        "items": items.get("type"),
        "choices": plain.get("enum") or [],
        "may_be_empty": len(options) > 1,
        "limits": {name: plain[name] for name in LIMITS if name in plain},
        "is_run": isinstance(reference_of(field.annotation), RunReference),
        "value": value,
    }
