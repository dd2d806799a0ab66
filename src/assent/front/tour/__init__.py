"""The guided tour: a scripted model on a sample project. Scheduler, tools, approvals and log are the real ones."""
