"""The flows: short functions over budget, workspace, judge and journal."""
