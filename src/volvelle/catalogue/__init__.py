"""Facts: chips, links, clusters and models, every number with its unit, evidence and source."""

from volvelle.catalogue.loader import Catalogue

__all__ = ["Catalogue"]
