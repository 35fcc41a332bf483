"""A thread as an AG-UI agent, for chat front ends that speak that protocol (docs.ag-ui.com/spec/1.0)."""
