"""What a report says about a job's runs, one file per kind: ``summary`` and ``details``.

The summary is shown on a terminal as well, without its figures. The table of jobs says which kind a
job has.
"""
