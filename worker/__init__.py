"""The process that runs the workflows and activities, and the command line."""
