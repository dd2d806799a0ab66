"""From a request to its result: states, approvals, the gate, execution. It knows no model, session or front end."""
