"""The exceptions a user can meet, each with the exit code the command line gives it."""


class LengthwiseError(Exception):
    """Something went wrong; the message is one sentence written for the user."""

    exit_code = 1


class UsageError(LengthwiseError, ValueError):
    """The input was wrong. The sentence says what was wrong and what would be right."""

    exit_code = 2


class UnknownName(UsageError, LookupError):
    """A name that nobody registered; the sentence suggests the nearest one."""


class UntrustedCode(UsageError):
    """Stored data names a Python file that the user neither named nor trusts; it was not run."""


class OutOfReach(UsageError):
    """Work would take, or took, more memory or time than a limit that the user can lift."""


class OutOfPositions(UsageError):
    """A sequence is longer than its position encoding reaches."""


class CertificateRefused(LengthwiseError):
    """A certificate was required and could not be given, or says nothing."""

    exit_code = 3


class RunsFailed(LengthwiseError):
    """Some runs of a study failed; the others are on disk."""

    exit_code = 4


class Interrupted(LengthwiseError):
    """The user stopped the work; what was finished is on disk and the same command resumes it."""

    exit_code = 130
