"""The guided tour: a scripted model works on a sample project. Scheduler, tools, approvals and log are real."""
