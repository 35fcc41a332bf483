"""The environment: a variable of ours that means nothing is an error, as a key in the file is.

Rule: whatever begins with `TURNWRIGHT_` is ours, but for what container platforms set by themselves: beside a
service that is called `turnwright` every container is given `TURNWRIGHT_SERVICE_HOST`, `TURNWRIGHT_PORT_7233_TCP`…
"""

import re
from collections.abc import Collection, Mapping

from turnwright.worker.settings_file import SettingsError, did_you_mean

ENV_PREFIX = "TURNWRIGHT_"
# Not settings: of the model's server, and of tests of this program.
BESIDE_SETTINGS = frozenset({"TURNWRIGHT_MODEL_API_KEY", "TURNWRIGHT_FAULT", "TURNWRIGHT_WORKFLOW_CACHE"})
_SERVICE = re.compile(r".*_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)")


def check_environment(environment: Mapping[str, str], fields: Collection[str]) -> None:
    """Refuse a variable that nobody reads.

    Raises:
        SettingsError: there is one; names it, and what was probably meant.
    """
    known = {f"{ENV_PREFIX}{name.upper()}" for name in fields} | BESIDE_SETTINGS
    for name, value in environment.items():
        written = name.upper()
        if value and written.startswith(ENV_PREFIX) and written not in known and not _SERVICE.fullmatch(written):
            raise SettingsError(
                f"the environment has the unknown setting {name}{did_you_mean(written, known, ENV_PREFIX)}"
            )
