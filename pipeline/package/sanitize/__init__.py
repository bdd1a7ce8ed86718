"""What must not be shared -> placeholders, and a log without the secrets."""

from pipeline.package.sanitize.copies import copies
from pipeline.package.sanitize.folder import Survey, survey
from pipeline.package.sanitize.in_place import in_place
from pipeline.package.sanitize.log import RedactionLog
from pipeline.package.sanitize.share import Shared, findings, survey_findings
from pipeline.package.sanitize.values import Allow, Finding, Policy, Unchecked

__all__ = [
    "Allow",
    "Finding",
    "Policy",
    "RedactionLog",
    "Shared",
    "Survey",
    "Unchecked",
    "copies",
    "findings",
    "in_place",
    "survey",
    "survey_findings",
]
