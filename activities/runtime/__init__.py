"""The Temporal activities: what a worker does for a turn.

Rule: they carry ids in and small decisions out. What they did is in the journal before they return.
"""

from turnwright.activities.runtime.activities import Activities as Activities
from turnwright.activities.runtime.settings import ActivitySettings as ActivitySettings
