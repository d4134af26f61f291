"""What a page draws: the time line of a result, and the charts of a measured run.

Begin with `drawing`, which has the shapes and the axis that both use.
"""
