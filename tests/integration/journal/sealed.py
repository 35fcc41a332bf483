"""What is said in sealed journals, and whether it can be read in their tables."""

import hashlib

from tests.integration.journal.conftest import Stored
from tests.integration.journal.moving import IMAGE

# Not the beginnings of texts: requests are called like those.
SECRETS = ("platypus", "nobody may read", "large " * 5, IMAGE.decode())
IMAGE_SHA = hashlib.sha256(IMAGE).hexdigest()


async def in_clear(stored: Stored) -> list[str]:
    """What can be read in the tables of what was said."""
    return [secret for secret in SECRETS if await stored(secret)]
