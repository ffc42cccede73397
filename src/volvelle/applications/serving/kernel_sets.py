"""Whose kernel constants a step takes: an engine's own on the chip, or the nearest that were measured."""

from collections.abc import Mapping
from functools import lru_cache

from volvelle.applications.kernels.constants import KernelKey, constants_for, kernel_constants, layer_constants
from volvelle.catalogue import Catalogue
from volvelle.errors import OutsideDomainError
from volvelle.estimators.serving.engine_constants import Constants, KernelSet

_ELEMENTS = ("bfloat16", "fp8", "fp8_block", "nvfp4")
_LIKE_CHIPS = {"gh200": "h200-sxm", "h100-pcie": "h100-sxm", "a100-sxm4-40gb": "a100-sxm4-80gb", "rtx-4090": "l40s"}
"""Chips that few or no kernels were measured on, and those whose kernels they run beside their own."""

_STAND_IN = "a100-sxm4-80gb"
"""The chip whose shares of peak stand in for a chip of a family without measured kernels."""
_PROMPT_KERNELS = {"vllm": "vllm_flashinfer_trtllmprefill", "sglang": "trtllm_mha"}
"""Of several kernels for a prompt on one chip, the one that an engine takes by itself."""


@lru_cache(maxsize=256)
def kernel_set(
    catalogue: Catalogue, backend: str, chip: str, cache: str, *, own_keys: bool = False, version: str = ""
) -> KernelSet:
    """Constants of all kernels that an engine runs on a chip; where every head has keys of its own, another runs.

    Of experts that several versions of the engine were timed with, those of its own.
    """
    chips = {key.chip for key in kernel_constants()}
    families = {name: catalogue.chip_family(name) for name in chips}
    asked, known = _LIKE_CHIPS.get(chip, chip), set(families.values())
    families[asked] = catalogue.chip_family(asked)
    stand_in = "" if families[asked] in known else _STAND_IN
    asked = stand_in or asked
    timed = {key.chip for key in layer_constants()}
    kept = "fp8" if cache == "fp8" else "bfloat16"
    taken = [] if asked == chip else [f"{'other' if chip in timed else 'all'} kernels: {asked}"]

    def near(family: str, element: str, cache_element: str = "", kernel: str = "") -> Constants | None:
        own = [
            known.values
            for key, known in layer_constants().items()
            if (key.family, key.chip, key.element, key.backend) == (family, chip, element, backend)
        ]
        if own:
            return own[0]
        try:
            found = constants_for(KernelKey(family, asked, element, cache_element, backend, kernel), families)
        except OutsideDomainError:
            return None
        if found.taken_from:
            taken.append(f"{family} in {element}: {found.taken_from}")
        return found.values

    def by_element(family: str) -> Mapping[str, Constants]:
        found = {element: near(family, element) for element in _ELEMENTS}
        return {element: values for element, values in found.items() if values is not None}

    prompt = near("attention over a prompt", "bfloat16", kept, _PROMPT_KERNELS.get(backend, ""))
    token = near("attention of one token", "bfloat16", kept, _token_kernel(asked, kept, backend, own_keys=own_keys))
    products = by_element("products")
    if prompt is None or token is None or not products:
        measured = sorted({key.chip for key in kernel_constants()})
        raise OutsideDomainError(f"no kernels were measured on {chip} or its family; measured: {', '.join(measured)}")
    return KernelSet(
        products=products,
        experts={
            element: ways for element in _ELEMENTS if (ways := _experts(element, asked, families, backend, version))
        },
        prompt=prompt,
        token=token,
        latent_prompt=near("latent attention over a prompt", "bfloat16", kept) or {},
        latent_token=near("latent attention of one token", "bfloat16", kept) or {},
        all_reduce=_collectives("all_reduce", asked, families, backend),
        all_to_all=_collectives("alltoall", asked, families, backend),
        taken_from=tuple(taken),
        stand_in=stand_in,
        units_expected=_units_expected(catalogue, chip),
    )


def _units_expected(catalogue: Catalogue, chip: str) -> bool:
    """Return whether other chips of its family state units."""
    family = catalogue.chip_family(chip)
    return any(
        catalogue.stated("chips", name, "units") and catalogue.chip_family(name) == family
        for name in catalogue.names("chips")
        if name != chip
    )


def _token_kernel(chip: str, cache: str, backend: str, *, own_keys: bool) -> str:
    """The kernel that an engine runs for one token a sequence."""
    wanted = " own keys" if own_keys else " shared keys"
    names = [
        key.kernel
        for key in kernel_constants()
        if (key.family, key.chip, key.cache_element, key.backend) == ("attention of one token", chip, cache, backend)
        and key.kernel.endswith(wanted)
    ]
    return sorted(names, key=lambda name: ("trtllm" not in name, "triton" in name, name))[0] if names else wanted


def _experts(element: str, chip: str, families: Mapping[str, str], backend: str, version: str) -> tuple[Constants, ...]:
    """All kernels that the engine has for experts on the chip, else all that anybody has, else its family's."""
    known = {
        key: found.values
        for key, found in kernel_constants().items()
        if key.family == "experts" and key.element == element and "nongated" not in key.kernel
    }
    own = {key: values for key, values in known.items() if key.backend == backend and key.chip == chip}
    timed = [
        found.values
        for key, found in layer_constants().items()
        if (key.family, key.chip, key.element, key.backend) == ("experts", chip, element, backend)
        and key.kernel.partition(" ")[2].startswith(version)
    ]
    return (tuple(timed) if version else ()) or tuple(own.values()) or _nearest(known, chip, families)


def _collectives(kind: str, chip: str, families: Mapping[str, str], backend: str) -> tuple[Constants, ...]:
    """NCCL's, and the engine's own where it has one; of another chip of the family where nobody measured."""
    own = {
        key: found.values
        for key, found in kernel_constants().items()
        if key.family == f"collectives in a node/{kind}"
        and key.backend in (backend, "nccl")
        and "eager" not in key.kernel
    }
    return _nearest(own, chip, families)


def _nearest(known: Mapping[KernelKey, Constants], chip: str, families: Mapping[str, str]) -> tuple[Constants, ...]:
    """Those of the chip, or where there are none of its family."""
    on_chip = [values for key, values in known.items() if key.chip == chip]
    kin = (values for key, values in known.items() if families.get(key.chip) == families.get(chip))
    return tuple(on_chip or kin)
