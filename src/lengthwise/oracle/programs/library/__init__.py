"""Programs for the tasks that have one, as functions of the task's settings; `programs.find.program_for` finds them."""
