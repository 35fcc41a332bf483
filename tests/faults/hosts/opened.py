"""A process that makes a network with something on it, says where, and stays.

python -m tests.faults.hosts.opened
"""

import signal

from tests.faults.hosts.network import OURS, Network
from turnwright.worker.child import Child


def main() -> None:
    with Network.open("one") as network:
        with network["one"].entered():
            child = Child(["sleep", "infinity"])
        print(network[OURS].address, child.pid, flush=True)  # noqa: T201 - read by who began it
        signal.pause()


if __name__ == "__main__":
    main()
