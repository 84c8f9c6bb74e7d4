"""Does a report that someone wrote say what the runs that it cites have recorded?"""
