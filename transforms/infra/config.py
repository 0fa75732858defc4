"""The keys of `PassContext(config={...})`, their types, and what they mean.

Every option of every pass is a key: `fuse-ops.max-depth`, or with TVM's name `relay.FuseOps.max_depth`. Setting it
gives the option to all passes of that kind that were made without it. Knobs that belong to no single pass are
registered with `register_config_option`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast, get_args, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.hints import type_repr

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import did_you_mean
from ...dialects.support.hints import is_list, isa
from .errors import ConfigError
from .registry import canonical_name, get_pass_type, own_passes

if TYPE_CHECKING:
    from types import UnionType


@dataclasses.dataclass(frozen=True)
class ConfigOption:
    """A registered key."""

    key: str
    type: type | UnionType
    doc: str = ""


_options: dict[str, ConfigOption] = {}


@checked
def register_config_option(key: str, type: type | UnionType, doc: str = "") -> ConfigOption:
    """Make `key` known. The type is `bool`, `int`, `float`, `str`, a `tuple[...]`, a union of these with `None`, or a
    dataclass, for which a dictionary of its fields may be given.

    Raises:
        ConfigError: the key is registered with another type.
    """
    option = ConfigOption(key, type, doc)
    if (known := _options.setdefault(key, option)).type != type:
        raise ConfigError(f"option '{key}' is already registered as {type_repr(known.type)}")
    return known


def list_config_options() -> dict[str, ConfigOption]:
    """Every key there is, pass options included; loads all passes."""
    options = dict(_options)
    for name, factory in own_passes().items():
        for field, type in _pass_options(factory()).items():
            key = f"{name}.{field.replace('_', '-')}"
            options[key] = ConfigOption(key, type, f"option of the pass {name}")
    return dict(sorted(options.items()))


def _pass_options(pass_type: type[ModulePass]) -> dict[str, type | UnionType]:
    if (own := getattr(pass_type, "option_types", None)) is not None:
        return own()
    if not dataclasses.is_dataclass(pass_type):
        return {}
    hints = get_type_hints(pass_type)
    return {f.name: hints[f.name] for f in dataclasses.fields(pass_type) if f.init and f.name != "name"}


def validate(config: Mapping[str, object]) -> dict[str, object]:
    """`config` with canonical keys and values of the registered types.

    Raises:
        ConfigError: an unknown key (the message lists near ones, or all), `None`, or a value of the wrong type.
    """
    result: dict[str, object] = {}
    for key, value in _each_option(config):
        option = _find(key)
        result[option.key] = _convert(option, key, value)
    return result


def _each_option(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The keys and values; where a dictionary gives options of a pass, as TVM's `{"tir.UnrollLoop": {...}}`, each of
    them by itself."""
    for key, value in config.items():
        if isinstance(value, Mapping) and key not in _options and canonical_name(key) is not None:
            for name, each in cast("Mapping[str, object]", value).items():
                yield f"{key}.{name}", each
        else:
            yield key, value


def _find(key: str) -> ConfigOption:
    key = _ALIASES.get(key, key)
    if key in _options:
        return _options[key]
    owner, _, field = key.rpartition(".")
    if (pass_name := canonical_name(owner)) is not None:
        pass_type = get_pass_type(pass_name)
        field = field.replace("-", "_")
        field = getattr(pass_type, "option_aliases", {}).get(field, field)
        if (type := _pass_options(pass_type).get(field)) is not None:
            return ConfigOption(f"{pass_name}.{field.replace('_', '-')}", type)
    for name, factory in own_passes().items():
        pass_type = factory()
        if (field := getattr(pass_type, "config_keys", {}).get(key)) is not None:
            return ConfigOption(f"{name}.{field.replace('_', '-')}", _pass_options(pass_type)[field])
    known = list_config_options()
    hint = did_you_mean(key, known) or f"the options are: {', '.join(known) or 'none'}"
    raise ConfigError(f"there is no configuration option '{key}'", hint=hint)


def _convert(option: ConfigOption, key: str, given: object) -> object:
    if given is None and not _fits(None, option):
        raise ConfigError(f"configuration option '{key}' is None", hint="leave it out to have its default")
    value, expected = _plain(given, option), type_repr(option.type)
    if isinstance(given, Mapping) and dataclasses.is_dataclass(struct := option.type):
        try:
            return cast(type, struct)(**cast("Mapping[str, object]", given))
        except TypeError as error:
            raise ConfigError(f"configuration option '{key}': {error}") from None
    if not _fits(value, option):
        kind = type_repr(type(value))
        message = f"configuration option '{key}' has type {expected}, but {value!r} is of type {kind}"
        raise ConfigError(message)
    return value


def _plain(given: object, option: ConfigOption) -> object:
    """A list does for a tuple, a whole number for a real one."""
    if is_list(given):
        return tuple(given)
    return float(given) if option.type is float and type(given) is int else given


def _fits(value: object, option: ConfigOption) -> bool:
    if isinstance(value, bool) and bool not in (option.type, *get_args(option.type)):
        return False  # to Python, true is an integer
    return isa(value, cast(type, option.type))


def _default(field: dataclasses.Field[object]) -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def configured(pass_: ModulePass, config: Mapping[str, object]) -> ModulePass:
    """`pass_`, with the options that the configuration sets and that it was made without.

    Raises:
        ConfigError: the pass refuses a value.
    """
    given = _options_for(pass_, config)
    explicit = _made_with(pass_, given) if given else frozenset[str]()
    changes = {name: value for name, value in given.items() if name not in explicit}
    if not changes:
        return pass_
    changed: Callable[[Mapping[str, object]], ModulePass] | None = getattr(pass_, "with_options", None)
    try:
        return dataclasses.replace(pass_, **changes) if changed is None else changed(changes)
    except ValueError as error:
        raise ConfigError(f"configuration of '{pass_.name}': {error}") from None


def overruled(pass_: ModulePass, config: Mapping[str, object]) -> dict[str, object]:
    """The options that the configuration sets otherwise than `pass_` was made with, and what they are."""
    given = _options_for(pass_, config)
    explicit = _made_with(pass_, given) if given else frozenset[str]()
    held: Callable[[str], object] = getattr(pass_, "given_option", partial(getattr, pass_))
    return {name: value for name in explicit & given.keys() if (value := held(name)) != given[name]}


def _options_for(pass_: ModulePass, config: Mapping[str, object]) -> dict[str, object]:
    """What a configuration sets of a pass, by the names of fields."""
    prefix = f"{pass_.name}."
    return {key.removeprefix(prefix).replace("-", "_"): v for key, v in config.items() if key.startswith(prefix)}


def _made_with(pass_: ModulePass, names: Collection[str]) -> frozenset[str]:
    """The options that a pass was made with; of one that does not tell, those of `names` that are not the defaults."""
    explicit: frozenset[str] | None = getattr(pass_, "given_options", None)
    if explicit is not None:
        return explicit
    fields = {f.name: f for f in dataclasses.fields(pass_)}
    return frozenset(n for n, f in fields.items() if n in names and getattr(pass_, n) != _default(f))


BOUNDS_CHECKS = "tir.bounds-checks"
register_config_option(BOUNDS_CHECKS, bool, "check when it runs every access that was not proved to be inside")

UNROLL_SCANS = "unroll-scans.all"
"""Whether the turns of scans are written out."""
PASS_EXTENTS = "lower-te.pass-extents"
"""Whether functions that differ in extents alone share a kernel; a compilation has them do so, unless it is told."""
NODE_BY_NODE: Mapping[str, object] = {UNROLL_SCANS: True, PASS_EXTENTS: False}
"""How a graph is compiled that is run node by node: each has a kernel of its name, and there are no loops of nodes."""

USMP_ENABLE, USMP_ALGORITHM = "tir.usmp.enable", "tir.usmp.algorithm"
"""What TVM calls the planning of a graph's memory by an algorithm of its Unified Static Memory Planner."""
register_config_option(USMP_ENABLE, bool, f"plan the memory of graphs by the algorithm that {USMP_ALGORITHM} names")
register_config_option(USMP_ALGORITHM, str, "greedy_by_size, which is the default, greedy_by_conflicts or hill_climb")
USMP_CUSTOM_ALGORITHM = "tir.usmp.custom_algorithm"
register_config_option(USMP_CUSTOM_ALGORITHM, str, "plan by the function that is registered as tir.usmp.algo. and this")

ADD_LOWER_PASS = "tir.add_lower_pass"
register_config_option(ADD_LOWER_PASS, tuple, "(phase, pass) each: passes that functions of TIR go through as well")
DISABLE_VECTORIZE = "tir.disable_vectorize"
register_config_option(DISABLE_VECTORIZE, bool, "make vectorized loops serial")
DISABLE_ASSERT = "tir.disable_assert"
register_config_option(DISABLE_ASSERT, bool, "leave assertions out")
DISABLE_STORAGE_REWRITE = "tir.disable_storage_rewrite"
register_config_option(DISABLE_STORAGE_REWRITE, bool, "false: let buffers that are never alive at one time be one")
DISABLE_CSE_TIR = "tir.disable_cse_tir"
register_config_option(DISABLE_CSE_TIR, bool, "false: compute equal expressions once, in what is shown as well")

_ALIASES = {"tir.instrument_bound_checkers": BOUNDS_CHECKS}
"""TVM's keys of options that have other names."""

TUNING_RECORDS = "attach-tuned-schedules.records"
"""The file of tuning records whose best schedules a compilation uses."""
RECORDS_THREADS = "attach-tuned-schedules.threads"
"""On how many threads the records were measured that a compilation uses."""

FILL_SPAN = "relay.frontend.fill_span"
register_config_option(FILL_SPAN, bool, "says nothing: imported operations always know where they come from")

DATABASE = "meta_schedule.database"
register_config_option(DATABASE, object, "the database that is asked for a schedule of each kernel: `with database:`")
USE_META_SCHEDULE = "relay.backend.use_meta_schedule"
register_config_option(USE_META_SCHEDULE, bool, f"whether compilations ask {DATABASE}, which they do unless told")

FILES = frozenset({"apply-schedule.record", "schedule-rules.record-to"})
"""Options that name files which a kernel's passes read or write."""
